//! Reference programs: each reads a line of JSON per call and replies with one.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TrySendError, sync_channel};
use std::time::Duration;

use cli_support::text::Escape;
use serde_json::Value;

use crate::document::FileError;
use crate::model::TestFile;

/// The time for a reply, the start of the program included.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a program that closes its output is asked whether it has ended: for a second.
const EXIT_POLLS: u32 = 100;
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The maximum length of a reply or a message.
const MAX_LINE: u64 = 1 << 20;
/// Replies, and messages, that are kept until the next request.
const MAX_LINES: usize = 1000;

/// A running reference program.
pub(super) struct Reference {
    child: Child,
    input: Option<ChildStdin>,
    replies: Receiver<String>,
    messages: Receiver<String>,
    /// The last message that is no empty line.
    last_message: String,
    /// An error at the line that names it, without its end.
    error: FileError,
}

impl Reference {
    /// Starts a program in the folder of the test file.
    ///
    /// # Errors
    /// Returns `FileError` if it can't be started.
    pub(super) fn start(file: &TestFile, words: &[String], line: usize) -> Result<Self, FileError> {
        let error = |message| FileError { path: file.path.clone(), line, column: 1, message };
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        if let Some(folder) = file.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            command.current_dir(folder);
        }
        let mut child = command.spawn().map_err(|why| {
            error(format!("can't start the reference '{}': {why}", words[0].escaped()))
        })?;
        let replies = read_lines(child.stdout.take());
        let messages = read_lines(child.stderr.take());
        let (input, last_message) = (child.stdin.take(), String::new());
        let error = error(format!("reference {}: ", words.join(" ").escaped()));
        Ok(Self { child, input, replies, messages, last_message, error })
    }

    /// Sends a request and returns the reply.
    ///
    /// # Errors
    /// Returns `FileError` if the program ends, is late, or replies with something else than JSON.
    pub(super) fn ask(&mut self, request: &Value) -> Result<Value, FileError> {
        let line = format!("{request}\n");
        let input = self.input.as_mut();
        let sent = input.is_some_and(|input| input.write_all(line.as_bytes()).is_ok());
        let reply = match sent {
            true => self.replies.recv_timeout(REPLY_TIMEOUT),
            false => Err(RecvTimeoutError::Disconnected),
        };
        self.receive_messages();
        match reply {
            Ok(reply) => serde_json::from_str(&reply).map_err(|_| {
                let reply = reply.trim_end().escaped();
                self.error(&format!(
                    "expected a line of JSON such as {{\"HL\": 21}}, got '{reply}'"
                ))
            }),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = REPLY_TIMEOUT.as_secs();
                Err(self.error(&format!("no reply within {seconds} s to {}", line.trim_end())))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// Returns an error about this program at its place in the test file.
    pub(super) fn error(&self, message: &str) -> FileError {
        FileError { message: format!("{}{message}", self.error.message), ..self.error.clone() }
    }

    fn ended(&mut self) -> FileError {
        let ended = (0..EXIT_POLLS).find_map(|_| {
            let status = self.child.try_wait().ok().flatten();
            // The thread that reads messages ends with the program.
            std::thread::sleep(EXIT_POLL_INTERVAL);
            status
        });
        let status = ended.map_or("its output was closed".to_owned(), |end| end.to_string());
        self.receive_messages();
        let last = self.last_message.trim().escaped();
        let last = if last.is_empty() { last } else { format!(": {last}") };
        self.error(&format!("it ended before its reply ({status}){last}"))
    }

    /// Keeps the last message.
    fn receive_messages(&mut self) {
        let last = self.messages.try_iter().filter(|line| !line.trim().is_empty()).last();
        self.last_message = last.unwrap_or(std::mem::take(&mut self.last_message));
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        drop(self.input.take());
        // It has nothing to lose: its last reply was read.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads lines in a thread, so that waiting for one can end. Those that nobody receives are
/// dropped, so that the program never waits.
fn read_lines(output: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = sync_channel(MAX_LINES);
    if let Some(output) = output {
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while let Ok(1..) = output.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
                let text = String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned();
                if let Err(TrySendError::Disconnected(_)) = sender.try_send(text) {
                    return;
                }
            }
        });
    }
    receiver
}
