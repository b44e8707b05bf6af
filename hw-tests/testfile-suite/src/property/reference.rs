//! Reference programs: each reads a line of JSON per call and replies with one.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cli_support::text::Escape;
use serde_json::Value;
use z80_core::register_value;

use crate::judge::Judged;
use crate::machine::Machine;
use crate::model::TestFile;
use crate::reader::FileError;
use crate::result::Difference;

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
    /// Where the test file names it, for errors.
    file: std::path::PathBuf,
    line: usize,
    name: String,
}

impl Reference {
    /// Starts a program in the folder of the test file.
    ///
    /// # Errors
    /// Returns `FileError` if it can't be started.
    pub(super) fn start(file: &TestFile, words: &[String], line: usize) -> Result<Self, FileError> {
        let failed =
            |message: String| FileError { path: file.path.clone(), line, column: 1, message };
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        if let Some(folder) = file.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            command.current_dir(folder);
        }
        let mut child = command.spawn().map_err(|error| {
            failed(format!("can't start the reference '{}': {error}", words[0].escaped()))
        })?;
        let messages = Arc::new(Mutex::new(String::new()));
        let replies = read_replies(child.stdout.take());
        read_messages(child.stderr.take(), Arc::clone(&messages));
        let input = child.stdin.take();
        let (file, name) = (file.path.clone(), words.join(" ").escaped());
        Ok(Self { child, input, replies, messages, file, line, name })
    }

    /// Sends a request and returns the reply.
    ///
    /// # Errors
    /// Returns `FileError` if the program ends, is late, or replies with something else than JSON.
    pub(super) fn ask(&mut self, request: &Value) -> Result<Value, FileError> {
        let line = format!("{request}\n");
        let sent = self
            .input
            .as_mut()
            .map(|input| input.write_all(line.as_bytes()).and_then(|()| input.flush()));
        let reply = match sent {
            Some(Ok(())) => self.replies.recv_timeout(REPLY_TIMEOUT),
            _ => Err(RecvTimeoutError::Disconnected),
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
        let message = format!("reference {}: {message}", self.name);
        FileError { path: self.file.clone(), line: self.line, column: 1, message }
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

/// Compares an outcome with a reply; adds what was expected. `null` accepts anything.
///
/// # Errors
/// Returns a message if the reply names something unknown or has a value of another type.
pub(super) fn compare(
    reply: &Value,
    judged: &Judged<'_>,
    machine: &mut dyn Machine,
    expected: &mut Vec<(String, u32)>,
) -> Result<Vec<Difference>, String> {
    let mut found = Vec::new();
    if reply.is_null() {
        return Ok(found);
    }
    let outputs = reply.as_object().ok_or("expected an object such as {\"HL\": 21}")?;
    for (name, value) in outputs {
        if name == "memory" {
            found.extend(compare_memory(value, judged, machine)?);
            continue;
        }
        let actual = register_value(&judged.outcome.registers, name);
        let actual = actual.ok_or_else(|| format!("unknown register '{}'", name.escaped()))?;
        let value = value.as_u64().and_then(|value| u16::try_from(value).ok());
        let value = value.ok_or_else(|| format!("{}: expected 0 to 65535", name.escaped()))?;
        expected.push((name.clone(), value.into()));
        found.extend(judged.compare_value(name, value, actual));
    }
    Ok(found)
}

fn compare_memory(
    reply: &Value,
    judged: &Judged<'_>,
    machine: &mut dyn Machine,
) -> Result<Vec<Difference>, String> {
    let mut found = Vec::new();
    for (name, bytes) in reply.as_object().ok_or("memory: expected an object")? {
        let byte = |byte: &Value| byte.as_u64().and_then(|byte| u8::try_from(byte).ok());
        let bytes = bytes.as_array().map(|bytes| bytes.iter().map(byte).collect::<Option<_>>());
        let bytes: Vec<u8> = bytes.flatten().ok_or("memory: expected arrays of 0 to 255")?;
        let address = judged.program.map.find_symbol(name).map_err(|error| error.to_string())?;
        let address = address.ok_or_else(|| format!("unknown label '{}'", name.escaped()))?;
        let actual = machine.read(address, bytes.len()).map_err(|error| error.to_string())?;
        if actual != bytes {
            let what = name.escaped();
            found.push(Difference::new(what, format!("{bytes:?}"), format!("{actual:?}")));
        }
    }
    Ok(found)
}
