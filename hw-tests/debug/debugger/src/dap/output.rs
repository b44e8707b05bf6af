//! The stream to the client: responses and events.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::ERROR_ID;
use super::message;
use super::request_reader::RequestReader;
use super::response::{ResponseBody, remove_nulls};
use super::types::Request;
use crate::Debugger;

pub(super) struct Output<'a> {
    pub(super) request_reader: RequestReader,
    output: &'a mut dyn Write,
    seq: u64,
    /// How much of the board's output the client has been sent, in bytes.
    pub(super) printed: usize,
    /// The error of the stream, if it has failed.
    pub(super) error: Option<io::Error>,
}

impl<'a> Output<'a> {
    pub(super) fn new(request_reader: RequestReader, output: &'a mut dyn Write) -> Self {
        Self { request_reader, output, seq: 0, printed: 0, error: None }
    }

    pub(super) fn respond(&mut self, request: &Request, answer: ResponseBody) {
        let message = answer.as_ref().err().cloned();
        let error = |message| json!({ "error": { "id": ERROR_ID, "format": message } });
        let Request { seq, command, .. } = request;
        self.send(json!({
            "type": "response", "request_seq": seq, "command": command,
            "success": message.is_none(), "message": message, "body": answer.unwrap_or_else(error)
        }));
    }

    pub(super) fn event(&mut self, event: &str, body: Value) {
        self.send(json!({ "type": "event", "event": event, "body": body }));
    }

    fn send(&mut self, mut message: Value) {
        self.seq += 1;
        message["seq"] = self.seq.into();
        remove_nulls(&mut message);
        self.error = self.error.take().or(message::write(self.output, &message).err());
    }

    /// Shows a line, in a category of the protocol's event `output`.
    pub(super) fn show(&mut self, category: &str, line: &str) {
        self.event("output", json!({ "category": category, "output": format!("{line}\n") }));
    }

    /// Sends the client what breakpoints have logged.
    pub(super) fn log(&mut self, debugger: &mut Debugger) {
        debugger.take_log().iter().for_each(|line| self.show("console", line));
    }

    /// Sends the client the new output of the board.
    pub(super) fn print(&mut self, sent: &[u8]) {
        // After a reverse command the output is shorter, and will be repeated.
        let new = sent.get(self.printed..).unwrap_or_default();
        self.printed = self.printed.max(sent.len());
        if new.is_empty() {
            return;
        }
        let text = new.iter().map(|byte| char::from(byte & 0x7F));
        let shown: String = text.filter(|c| !c.is_control() || "\n\t".contains(*c)).collect();
        self.event("output", json!({ "category": "stdout", "output": shown }));
    }
}
