//! Reference programs: each reads a line of JSON per call and replies with one.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cli_support::text::Escape;
use serde_json::Value;

use crate::document::FileError;
use crate::model::TestFile;

/// The time for a reply, the start of the program included.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// The time within which a program that closes its output must end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// The maximum length of a reply, and what is kept of messages.
const MAX_REPLY: u64 = 1 << 20;
const MAX_MESSAGES: u64 = 4096;

/// A running reference program.
pub(super) struct Reference {
    child: Child,
    input: Option<ChildStdin>,
    replies: Receiver<String>,
    messages: Arc<Mutex<String>>,
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
        let messages = Arc::new(Mutex::new(String::new()));
        let replies = read_replies(child.stdout.take());
        read_messages(child.stderr.take(), Arc::clone(&messages));
        let input = child.stdin.take();
        let error = error(format!("reference {}: ", words.join(" ").escaped()));
        Ok(Self { child, input, replies, messages, error })
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
        let step = Duration::from_millis(10);
        let mut waited = Duration::ZERO;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status.to_string(),
                _ if waited >= EXIT_TIMEOUT => break "its output was closed".to_owned(),
                _ => std::thread::sleep(step),
            }
            waited += step;
        };
        // The thread that reads messages ends with the program.
        std::thread::sleep(step);
        let messages = self.messages.lock().map(|text| text.clone()).unwrap_or_default();
        let last = messages.lines().rev().find(|line| !line.trim().is_empty());
        let last = last.map(|line| format!(": {}", line.trim().escaped())).unwrap_or_default();
        self.error(&format!("it ended before its reply ({status}){last}"))
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

/// Reads lines in a thread, so that waiting for one can end.
fn read_replies(output: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(output) = output {
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = Vec::new();
                let read = output.by_ref().take(MAX_REPLY).read_until(b'\n', &mut line);
                let reply = String::from_utf8_lossy(&line).into_owned();
                if !matches!(read, Ok(1..)) || sender.send(reply).is_err() {
                    return;
                }
            }
        });
    }
    receiver
}

/// Keeps the start of the messages and drops the rest, so that the program never waits.
fn read_messages(output: Option<impl Read + Send + 'static>, messages: Arc<Mutex<String>>) {
    let Some(mut output) = output else { return };
    std::thread::spawn(move || {
        let mut bytes = [0; 1024];
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            if let Ok(mut messages) = messages.lock()
                && (messages.len() as u64) < MAX_MESSAGES
            {
                messages.push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        }
    });
}
