//! An external command that replies to lines with values. Every wait has a timeout, and lines and
//! queues are bounded, so it can neither block this program nor fill memory.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use cli_support::text::{self, escape_controls};
use rcflash_transport::platform::process::{
    kill_process_tree, shell_command, use_new_process_group,
};
use serde_json::Value;

/// Longest line; the rest counts as another line.
const MAX_LINE_BYTES: u64 = 64 * 1024;
/// Capacity of the queues of lines, in both directions.
const MAX_QUEUED_LINES: usize = 64;
/// Lines without a value that are ignored before a value, such as a banner.
const MAX_IGNORED_LINES: usize = 1000;
/// Lines of the command's standard error that are forwarded.
const MAX_STDERR_LINES: usize = 100;
/// Longest part of a line that is shown in a message.
const MAX_EXCERPT_CHARACTERS: usize = 200;

/// Error of a command: what it did, and its last line without a value.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct ExternalEngineError(String);

/// Returns the value of a line of output; `None` for a line without one.
type ParseReply = fn(&str) -> Option<Option<i64>>;

pub(super) struct ExternalEngine {
    command: String,
    timeout: Duration,
    parse: ParseReply,
    child: Child,
    questions: Option<SyncSender<String>>,
    answers: Receiver<String>,
    answered: usize,
    ignored: usize,
    last_ignored: Option<String>,
}

impl ExternalEngine {
    /// Starts a command in its own process group, so that its children can be ended, too.
    pub(super) fn start(
        command: &str,
        timeout: Duration,
        parse: ParseReply,
    ) -> Result<Self, ExternalEngineError> {
        let mut shell = shell_command(command);
        use_new_process_group(&mut shell);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let command = escape_controls(command).into_owned();
        let mut child = shell.spawn().map_err(|error| {
            ExternalEngineError(format!("can't start a shell for '{command}': {error}"))
        })?;
        let (questions, to_write) = sync_channel(MAX_QUEUED_LINES);
        let (to_read, answers) = sync_channel(MAX_QUEUED_LINES);
        if let Some(input) = child.stdin.take() {
            thread::spawn(move || write_all(input, &to_write));
        }
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || read_all(output, &to_read));
        }
        if let Some(errors) = child.stderr.take() {
            thread::spawn(move || forward_stderr(errors));
        }
        Ok(Self {
            command,
            timeout,
            parse,
            child,
            questions: Some(questions),
            answers,
            answered: 0,
            ignored: 0,
            last_ignored: None,
        })
    }

    /// Sends a line and returns the value in reply. Returns `None` if the command declines with
    /// `none`, `null` or `-`. Lines without a value are ignored.
    pub(super) fn evaluate(&mut self, question: &str) -> Result<Option<i64>, ExternalEngineError> {
        let deadline = Instant::now() + self.timeout;
        // Sending never blocks: a command that does not read blocks only the writer thread. If it
        // replies nevertheless, the queue fills up.
        match self.questions.as_ref().map(|queue| queue.try_send(question.to_owned())) {
            Some(Ok(())) => {}
            Some(Err(TrySendError::Full(_))) => {
                let lines = MAX_QUEUED_LINES;
                let what = format!("does not read its input, in which {lines} lines wait");
                return Err(self.error(&what, ""));
            }
            _ => return Err(self.exit_error()),
        }
        for _ in 0..MAX_IGNORED_LINES {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.answers.recv_timeout(left) {
                Ok(line) => match (self.parse)(&line) {
                    Some(value) => {
                        self.answered += 1;
                        return Ok(value);
                    }
                    None => self.ignore(&line),
                },
                Err(RecvTimeoutError::Disconnected) => return Err(self.exit_error()),
                Err(RecvTimeoutError::Timeout) => {
                    let what = format!("returned no value within {} s", self.timeout.as_secs());
                    return Err(self.error(&what, "; to wait longer, use --timeout"));
                }
            }
        }
        let what = format!("wrote {MAX_IGNORED_LINES} lines without a value");
        Err(self.error(&what, "; expected a number"))
    }

    fn ignore(&mut self, line: &str) {
        self.ignored += 1;
        let excerpt: String = line.chars().take(MAX_EXCERPT_CHARACTERS).collect();
        self.last_ignored = Some(escape_controls(excerpt.trim_end()).into_owned());
    }

    fn last_ignored_note(&self) -> String {
        self.last_ignored
            .as_ref()
            .map_or_else(String::new, |line| format!("; its last line: {line}"))
    }

    /// Returns the error that the command did `what`, with its last line and advice.
    fn error(&self, what: &str, advice: &str) -> ExternalEngineError {
        let (command, last) = (&self.command, self.last_ignored_note());
        ExternalEngineError(format!("'{command}' {what}{last}{advice}"))
    }

    fn exit_error(&mut self) -> ExternalEngineError {
        // End the command with its children.
        kill_process_tree(&mut self.child);
        let how = match self.child.try_wait() {
            Ok(Some(status)) => status.to_string(),
            _ => "it closed its output".to_owned(),
        };
        self.error(&format!("exited after {} values ({how})", self.answered), "")
    }

    /// Returns notes on what the command wrote besides values.
    pub(super) fn notes(&self) -> Vec<String> {
        let note = format!(
            "{} lines of the command had no value{}",
            self.ignored,
            self.last_ignored_note()
        );
        (self.ignored > 0).then_some(note).into_iter().collect()
    }

    /// Closes the command's input and waits for its end.
    pub(super) fn finish(mut self) -> Result<(), ExternalEngineError> {
        self.questions = None;
        let deadline = Instant::now() + self.timeout;
        let left = || deadline.saturating_duration_since(Instant::now());
        let mut extra = 0;
        while extra < MAX_IGNORED_LINES
            && let Ok(line) = self.answers.recv_timeout(left())
        {
            extra += usize::from((self.parse)(&line).is_some());
        }
        match extra {
            0 => Ok(()),
            _ => Err(ExternalEngineError(format!(
                "'{}' wrote {extra} lines too many: its values may belong to other moves",
                self.command
            ))),
        }
    }
}

impl Drop for ExternalEngine {
    fn drop(&mut self) {
        // End the command with its children.
        kill_process_tree(&mut self.child);
    }
}

/// Writes lines until there are no more, or the command closes its input.
fn write_all(mut input: ChildStdin, questions: &Receiver<String>) {
    for question in questions {
        if input.write_all(question.as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// Forwards lines of output. The rest of a line that is too long becomes another line.
fn read_all(output: ChildStdout, lines: &SyncSender<String>) {
    let mut output = BufReader::new(output);
    while let Some(line) = next_line(&mut output) {
        if lines.send(line).is_err() {
            return;
        }
    }
}

fn next_line(output: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    output
        .by_ref()
        .take(MAX_LINE_BYTES)
        .read_until(b'\n', &mut bytes)
        .ok()
        .filter(|count| *count > 0)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Prints the beginning of the command's standard error, and reads the rest.
fn forward_stderr(errors: ChildStderr) {
    let mut errors = BufReader::new(errors);
    let mut shown = 0;
    while let Some(line) = next_line(&mut errors) {
        if shown < MAX_STDERR_LINES {
            let excerpt: String = line.chars().take(MAX_EXCERPT_CHARACTERS).collect();
            text::eprint_message(format!("command: {}", escape_controls(excerpt.trim_end())));
        }
        shown += 1;
    }
}

/// Parses a reply about a threshold, as 1 if it is reached: `1`, `0`, `true` or `false`, or a
/// declined value as in [`parse_value`].
pub(super) fn parse_boolean(line: &str) -> Option<Option<i64>> {
    match line.trim() {
        "true" => Some(Some(1)),
        "false" => Some(Some(0)),
        _ => parse_value(line).filter(|value| matches!(value, None | Some(0 | 1))),
    }
}

/// Parses a reply: an integer, or JSON with one as `value`. The inner `None` is a declined value,
/// the outer one a line without a value.
pub(super) fn parse_value(line: &str) -> Option<Option<i64>> {
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
    use super::parse_value;

    #[test]
    fn an_answer_is_a_whole_number_or_json_with_one() {
        for text in ["-225", " +3\r\n", "{\"value\": 7, \"depth\": 2}", "100.0", "0"] {
            assert!(matches!(parse_value(text), Some(Some(_))), "{text}");
        }
        for text in ["none", "null", "-", "{\"value\":null}"] {
            assert_eq!(parse_value(text), Some(None), "{text}");
        }
        for text in ["", "Engine 3", "1.5", "[1]", "{\"score\":1}", "1e300", "\"5\"", "{\"value\""]
        {
            assert_eq!(parse_value(text), None, "{text}");
        }
    }
}
