//! The stream to the client: responses and events.

use std::io::{self, Write};

use serde_json::Value;

use super::ERROR_ID;
use super::message;
use super::request_reader::RequestReader;
use super::response::{ResponseBody, remove_nulls};
use super::types::{Message, Request};
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
        self.seq += 1;
        let success = answer.is_ok();
        let (mut body, message) = match answer {
            Ok(body) => (body, None),
            Err(message) => {
                let error = serde_json::json!({ "id": ERROR_ID, "format": message });
                (serde_json::json!({ "error": error }), Some(message))
            }
        };
        remove_nulls(&mut body);
        message::write(
            self.output,
            &Message::Response {
                seq: self.seq,
                request_seq: request.seq,
                command: &request.command,
                success,
                message,
                body,
            },
        )
    }

    pub(super) fn event(&mut self, event: &str, mut body: Value) -> io::Result<()> {
        self.seq += 1;
        remove_nulls(&mut body);
        message::write(self.output, &Message::Event { seq: self.seq, event, body })
    }

    /// Sends a text to be shown, in a category of the protocol's event `output`.
    pub(super) fn show(&mut self, category: &str, text: &str) -> io::Result<()> {
        self.event("output", serde_json::json!({ "category": category, "output": text }))
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
