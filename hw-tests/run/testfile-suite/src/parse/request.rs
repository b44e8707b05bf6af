//! Reads the requests of a [`CallServer`](crate::CallServer): a line of JSON with the keys of a test file.

use std::path::Path;

use serde_json::Value;
use tdlasm::image::ImageRun;
use tdlasm::source::DiskLoader;

use super::Reader;
use crate::document::{Document, Fields};
use crate::model::{Step, TestFile};
use crate::program::Program;

/// The keys that select a request; a call may read, too.
static KINDS: [&str; 6] = ["load", "call", "read", "write", "reset", "symbols"];
const EXAMPLE: &str = "an object such as {\"call\": \"MUL\", \"in\": {\"A\": 3}}";

/// A request.
pub(crate) enum Request {
    /// Load a program, which replaces the previous one.
    Load(Box<TestFile>),
    /// Call a routine.
    Call(Box<CallRequest>),
    /// Read memory: addresses and numbers of bytes.
    Read(Vec<(u16, usize)>),
    /// Write memory.
    Write(Vec<ImageRun>),
    /// Load the program again, and restore all other memory.
    Reset,
    /// List the labels.
    Symbols,
}

/// A call of a routine.
pub(crate) struct CallRequest {
    /// The call and its expectations.
    pub(crate) step: Step,
    /// The registers and flags that the reply contains; `None` for all.
    pub(crate) outputs: Option<Vec<&'static str>>,
    /// The memory that the reply contains.
    pub(crate) reads: Vec<(u16, usize)>,
}

impl Request {
    /// Reads a request about a program, if one is loaded.
    ///
    /// # Errors
    /// Returns a message if it is no JSON, or no request.
    pub(crate) fn parse(line: &str, program: Option<&Program>) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(line).map_err(|error| format!("invalid JSON: {error}"))?;
        if !value.is_object() {
            return Err(format!("expected {EXAMPLE}"));
        }
        // As TOML, it is read as test files are.
        let value = toml::Value::try_from(value).map_err(|error| {
            format!("expected numbers, strings, true, arrays and objects: {error}")
        })?;
        let text = format!("request = {value}");
        let request = Document::read(Path::new("request"), &text, |root| {
            let (folder, loader) = (Path::new(""), &DiskLoader);
            let reader = Reader { program, is_broken: false, folder, loader };
            let request = |fields: &Fields<'_>| reader.request(fields);
            root.fields().first()?.table(EXAMPLE, request).flatten()
        });
        request.map_err(|errors| {
            let messages: Vec<_> = errors.0.into_iter().map(|error| error.message).collect();
            messages.join("\n")
        })
    }
}

impl Reader<'_> {
    fn request(&self, fields: &Fields<'_>) -> Option<Request> {
        let table = fields.table.value.as_table();
        let has = |kind: &&str| table.is_some_and(|table| table.contains_key(*kind));
        let kinds: Vec<_> = KINDS.into_iter().filter(has).collect();
        let wrong = match kinds[..] {
            [] => Some(format!("no request: expected one of {}", KINDS.join(", "))),
            ["load"] => None,
            [_] | ["call", "read"] if self.program.is_none() => {
                Some("no program: send {\"load\": {\"sources\": [\"mul.asm\"]}} first".to_owned())
            }
            [_] | ["call", "read"] => None,
            _ => Some(format!("several requests in one: {}", kinds.join(", "))),
        };
        if let Some(message) = wrong {
            fields.table.report(message);
            return None;
        }
        let kind = kinds[0];
        Some(match kind {
            "call" => Request::Call(Box::new(CallRequest {
                step: self.step_without_sweep(fields),
                outputs: self.outputs(fields),
                reads: self.ranges(fields, "read"),
            })),
            "load" => {
                let load = |fields: &Fields<'_>| self.program_file(fields);
                Request::Load(Box::new(fields.table(kind, EXAMPLE, load).flatten()?))
            }
            "read" => Request::Read(self.ranges(fields, kind)),
            "write" => Request::Write(self.blocks(fields, kind)),
            _ => {
                let item = fields.get(kind)?;
                if item.value.as_bool() != Some(true) {
                    item.report(format!("{kind}: expected true"));
                }
                if kind == "reset" { Request::Reset } else { Request::Symbols }
            }
        })
    }
}
