//! A command of the user's own that answers lines with values. Nothing that it does holds us up or
//! fills memory: every wait has an end, lines have a longest length, and what is queued is bounded.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use cli_support::text::{self, visible};
use host_platform::process::{end_group, own_group, shell};
use serde_json::Value;

/// The longest line that is looked at.
const LONGEST_LINE: u64 = 64 * 1024;
/// Lines that may wait to be looked at; then the command has to wait.
const QUEUED: usize = 64;
/// Lines of one answer that are no value, such as a greeting.
const CHATTER: usize = 1000;
/// Lines of the command's standard error that are shown.
const SHOWN: usize = 100;
/// The longest piece of a line that goes into a message.
const EXCERPT: usize = 200;

/// Error returned if the command does not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum PeerError {
    #[error("can't start a shell for '{0}': {1}")]
    Start(String, std::io::Error),
    #[error("'{command}' gave no value within {seconds} s{last}; --timeout gives it longer")]
    Silent { command: String, seconds: u64, last: String },
    #[error("'{command}' ended after {answers} answers ({how}){last}")]
    Ended { command: String, answers: usize, how: String, last: String },
    #[error("'{command}' answers without reading its input, where {QUEUED} questions wait{last}")]
    Deaf { command: String, last: String },
    #[error("'{command}' wrote {CHATTER} lines without a value{last}; an answer is a number")]
    Chatter { command: String, last: String },
    #[error(
        "'{command}' wrote {0} lines more than it was asked for: its answers may be shifted",
        extra
    )]
    Extra { command: String, extra: usize },
}

/// An arrival from the command.
enum Event {
    Line(String),
    End,
}

/// A running command.
pub(super) struct Peer {
    command: String,
    timeout: Duration,
    child: Child,
    questions: Option<SyncSender<String>>,
    answers: Receiver<Event>,
    answered: usize,
    /// Lines that were no value.
    ignored: usize,
    last_ignored: Option<String>,
}

impl Peer {
    /// Starts a command in a process group of its own, so that it can be ended with all that it
    /// starts.
    pub(super) fn start(command: &str, timeout: Duration) -> Result<Self, PeerError> {
        let mut shell = shell(command);
        own_group(&mut shell);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |error| PeerError::Start(visible(command).into_owned(), error);
        let mut child = shell.spawn().map_err(failed)?;
        let (questions, to_write) = sync_channel(QUEUED);
        let (to_read, answers) = sync_channel(QUEUED);
        if let Some(input) = child.stdin.take() {
            thread::spawn(move || write_all(input, &to_write));
        }
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || read_all(output, &to_read));
        }
        if let Some(errors) = child.stderr.take() {
            thread::spawn(move || show_all(errors));
        }
        Ok(Self {
            command: visible(command).into_owned(),
            timeout,
            child,
            questions: Some(questions),
            answers,
            answered: 0,
            ignored: 0,
            last_ignored: None,
        })
    }

    /// Asks for a value. `None` if the command declines with `none`, `null` or `-`. Lines that are
    /// no value are passed over.
    pub(super) fn ask(&mut self, question: &str) -> Result<Option<i64>, PeerError> {
        let deadline = Instant::now() + self.timeout;
        // Sending never waits: a command that does not read holds up the writer's thread alone, and
        // one that answers all the same is noticed when too many questions lie before it.
        match self.questions.as_ref().map(|queue| queue.try_send(question.to_owned())) {
            Some(Ok(())) => {}
            Some(Err(TrySendError::Full(_))) => {
                return Err(PeerError::Deaf { command: self.command.clone(), last: self.last() });
            }
            _ => return Err(self.ended()),
        }
        for _ in 0..CHATTER {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.answers.recv_timeout(left) {
                Ok(Event::Line(line)) => match value(&line) {
                    Some(value) => {
                        self.answered += 1;
                        return Ok(value);
                    }
                    None => self.ignore(&line),
                },
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) => return Err(self.silent()),
            }
        }
        Err(PeerError::Chatter { command: self.command.clone(), last: self.last() })
    }

    fn ignore(&mut self, line: &str) {
        self.ignored += 1;
        let excerpt: String = line.chars().take(EXCERPT).collect();
        self.last_ignored = Some(visible(excerpt.trim_end()).into_owned());
    }

    fn last(&self) -> String {
        self.last_ignored
            .as_ref()
            .map_or_else(String::new, |line| format!("; its last line: {line}"))
    }

    fn silent(&self) -> PeerError {
        let seconds = self.timeout.as_secs();
        PeerError::Silent { command: self.command.clone(), seconds, last: self.last() }
    }

    fn ended(&mut self) -> PeerError {
        // The command goes with everything that it has started.
        end_group(&mut self.child);
        let how = match self.child.try_wait() {
            Ok(Some(status)) => status.to_string(),
            _ => "it closed its output".to_owned(),
        };
        let answers = self.answered;
        PeerError::Ended { command: self.command.clone(), answers, how, last: self.last() }
    }

    /// Returns remarks on what the command wrote besides values.
    pub(super) fn notes(&self) -> Vec<String> {
        let note = format!("{} lines of the command were no values{}", self.ignored, self.last());
        (self.ignored > 0).then_some(note).into_iter().collect()
    }

    /// Closes the command's input and waits for its end.
    ///
    /// # Errors
    /// Fails if the command has written more values than it was asked for.
    pub(super) fn finish(mut self) -> Result<(), PeerError> {
        self.questions = None;
        let deadline = Instant::now() + self.timeout;
        let mut extra = 0;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.answers.recv_timeout(left) {
                Ok(Event::Line(line)) if value(&line).is_some() => extra += 1,
                Ok(Event::Line(_)) => {}
                _ => break,
            }
            if extra >= CHATTER {
                break;
            }
        }
        match extra {
            0 => Ok(()),
            _ => Err(PeerError::Extra { command: self.command.clone(), extra }),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The command goes with everything that it has started.
        end_group(&mut self.child);
    }
}

/// Writes questions until there are no more or the command does not take them.
fn write_all(mut input: ChildStdin, questions: &Receiver<String>) {
    for question in questions {
        if input.write_all(question.as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// Passes lines on. The rest of a line beyond the longest is a line of its own.
fn read_all(output: ChildStdout, events: &SyncSender<Event>) {
    let mut output = BufReader::new(output);
    while let Some(line) = next_line(&mut output) {
        if events.send(Event::Line(line)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::End); // nobody may be waiting any more
}

fn next_line(output: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    output
        .by_ref()
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut bytes)
        .ok()
        .filter(|count| *count > 0)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Shows the beginning of what the command reports on standard error, and takes in the rest so
/// that it is not held up.
fn show_all(errors: ChildStderr) {
    let mut errors = BufReader::new(errors);
    let mut shown = 0;
    while let Some(line) = next_line(&mut errors) {
        if shown < SHOWN {
            let excerpt: String = line.chars().take(EXCERPT).collect();
            text::tell(format!("command: {}", visible(excerpt.trim_end())));
        }
        shown += 1;
    }
}

/// The value of an answer: a whole number, or JSON with one as `value`. The inner `None` is a
/// declined answer, the outer one a line that is none.
fn value(line: &str) -> Option<Option<i64>> {
    let line = line.trim();
    if ["none", "null", "-"].contains(&line) {
        return Some(None);
    }
    if let Ok(number) = line.parse() {
        return Some(Some(number));
    }
    let json: Value = serde_json::from_str(line).ok()?;
    let found = if json.is_object() { json.get("value")? } else { &json };
    if found.is_null() {
        return Some(None);
    }
    let whole = found.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e15)?;
    Some(Some(whole as i64))
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn an_answer_is_a_whole_number_or_json_with_one() {
        for text in ["-225", " +3\r\n", "{\"value\": 7, \"depth\": 2}", "100.0", "0"] {
            assert!(matches!(value(text), Some(Some(_))), "{text}");
        }
        for text in ["none", "null", "-", "{\"value\":null}"] {
            assert_eq!(value(text), Some(None), "{text}");
        }
        for text in ["", "Engine 3", "1.5", "[1]", "{\"score\":1}", "1e300", "\"5\"", "{\"value\""]
        {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
