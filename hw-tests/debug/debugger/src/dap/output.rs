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
    pub(super) output: &'a mut dyn Write,
    pub(super) seq: u64,
    /// How much of the board's output the client has been sent, in bytes.
    pub(super) printed: usize,
}

impl Output<'_> {
    pub(super) fn respond(&mut self, request: &Request, answer: ResponseBody) -> io::Result<()> {
        let message = answer.as_ref().err().cloned();
        let error = |message| json!({ "error": { "id": ERROR_ID, "format": message } });
        let Request { seq, command, .. } = request;
        self.send(json!({
            "type": "response", "request_seq": seq, "command": command,
            "success": message.is_none(), "message": message, "body": answer.unwrap_or_else(error)
        }))
    }

    pub(super) fn event(&mut self, event: &str, body: Value) -> io::Result<()> {
        self.send(json!({ "type": "event", "event": event, "body": body }))
    }

    fn send(&mut self, mut message: Value) -> io::Result<()> {
        self.seq += 1;
        message["seq"] = self.seq.into();
        remove_nulls(&mut message);
        message::write(self.output, &message)
    }

    /// Sends a text to be shown, in a category of the protocol's event `output`.
    pub(super) fn show(&mut self, category: &str, text: &str) -> io::Result<()> {
        self.event("output", json!({ "category": category, "output": text }))
    }

    /// Sends the client what breakpoints have logged.
    pub(super) fn log(&mut self, debugger: &mut Debugger) -> io::Result<()> {
        for line in debugger.take_log() {
            self.show("console", &format!("{line}\n"))?;
        }
        Ok(())
    }

    /// Sends the client the new output of the board.
    pub(super) fn print(&mut self, sent: &[u8]) -> io::Result<()> {
        // After a reverse command the output is shorter, and will be repeated.
        let new = sent.get(self.printed..).unwrap_or_default();
        self.printed = self.printed.max(sent.len());
        if new.is_empty() {
            return Ok(());
        }
        let text: String = new.iter().map(|byte| char::from(byte & 0x7F)).collect();
        let shown: String =
            text.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').collect();
        self.show("stdout", &shown)
    }
}
