//! Reads the requests of a [`CallServer`](crate::CallServer): a line of JSON with the keys of a test file.

use std::path::Path;

use serde_json::Value;
use tdlasm::source::DiskLoader;

use super::Reader;
use super::call::reads;
use super::tables::CallRequestTable;
use crate::block::Block;
use crate::document::{Document, Node};
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
    Write(Vec<Block>),
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
        let convert = |document: &Document<'_>, root| {
            let (folder, loader) = (Path::new(""), &DiskLoader);
            let reader = Reader { document, program, is_broken: false, folder, loader };
            let request = reader.request(document.field(root, "request")?);
            reader.report_unknown_keys();
            request
        };
        let request = Document::read(Path::new("request"), &text, |_| Vec::new(), convert);
        request.map_err(|errors| {
            let messages: Vec<_> = errors.0.into_iter().map(|error| error.message).collect();
            messages.join("\n")
        })
    }
}

impl Reader<'_, '_> {
    fn request(&self, node: Node) -> Option<Request> {
        let document = self.document;
        let has = |kind: &&str| document.field(node, kind).is_some();
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
            document.report(node, message);
            return None;
        }
        let kind = kinds.first()?;
        let value = document.field(node, kind)?;
        if *kind != "call" {
            let known = KINDS.chunks(1).find(|known| known.contains(kind))?;
            document.decoded.borrow_mut().push((node, known));
        }
        match *kind {
            "call" => self.call_request(node),
            "load" => self.program_file(value).map(|file| Request::Load(Box::new(file))),
            "read" => Some(Request::Read(reads(&self.decode::<Vec<_>>(value)?))),
            "write" => Some(Request::Write(self.blocks(self.decode(value)?))),
            _ if self.decode(value) != Some(true) => {
                document.report(value, format!("{kind}: expected true"));
                None
            }
            "reset" => Some(Request::Reset),
            _ => Some(Request::Symbols),
        }
    }

    fn call_request(&self, node: Node) -> Option<Request> {
        let step = self.step_without_sweep(node);
        let table: CallRequestTable = self.decode(node)?;
        let outputs = table.outputs.map(|all| all.into_iter().map(|one| one.0).collect());
        let reads = reads(&table.read);
        Some(Request::Call(Box::new(CallRequest { step: step?, outputs, reads })))
    }
}
