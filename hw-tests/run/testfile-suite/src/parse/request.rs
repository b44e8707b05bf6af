//! Reads the requests of a session: a line of JSON with the keys of a test file.

use std::path::Path;

use serde_json::Value;
use tdlasm::source::DiskLoader;
use toml::de::DeTable;

use crate::block::Block;
use crate::model::{Step, TestFile};
use crate::program::Program;
use crate::reader::{Document, Entry, Fields, FileError};

use super::interrupts::limit_sweeps;
use super::memory::{blocks_of, reads};
use super::step::step;
use super::values::{Context, output};

/// The keys that select a request; a call may read, too.
const KINDS: [&str; 6] = ["load", "call", "read", "write", "reset", "symbols"];
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
        let document = Document { path: Path::new("request"), text: &text, loader: &DiskLoader };
        let table = DeTable::parse(&text).map_err(|error| error.message().to_owned())?;
        let request = Fields::root(&document, &table).require("request", EXAMPLE);
        let fields = request.and_then(|entry| entry.fields(EXAMPLE));
        fields.and_then(|fields| read(&fields, program)).map_err(|error| error.message)
    }
}

fn read(fields: &Fields<'_>, program: Option<&Program>) -> Result<Request, FileError> {
    let has = |kind: &&str| fields.all().any(|entry| entry.key == *kind);
    let kinds: Vec<_> = KINDS.into_iter().filter(has).collect();
    let wrong = |message: String| Err(fields.document.error(fields.at, message));
    let kind = match kinds[..] {
        [kind] | [kind @ "call", "read"] => kind,
        [] => return wrong(format!("no request: expected one of {}", KINDS.join(", "))),
        _ => return wrong(format!("several requests in one: {}", kinds.join(", "))),
    };
    if kind == "load" {
        let entry = fields.require(kind, "")?;
        fields.finish()?;
        let inner = entry.fields("an object such as {\"sources\": [\"mul.asm\"]}")?;
        let file = TestFile::of_program(&inner, fields.document.path)?;
        inner.finish()?;
        return Ok(Request::Load(Box::new(file)));
    }
    let Some(program) = program else {
        return wrong("no program: send {\"load\": {\"sources\": [\"mul.asm\"]}} first".to_owned());
    };
    let context = Context { program, folder: Path::new("") };
    let request = match kind {
        "call" => call(fields, &context)?,
        "read" => Request::Read(reads(&fields.require(kind, "")?, &context)?),
        "write" => Request::Write(blocks_of(&fields.require(kind, "")?, &context)?),
        "reset" => only_true(&fields.require("reset", "")?, Request::Reset)?,
        _ => only_true(&fields.require("symbols", "")?, Request::Symbols)?,
    };
    fields.finish()?;
    Ok(request)
}

fn call(fields: &Fields<'_>, context: &Context<'_>) -> Result<Request, FileError> {
    let step = step(fields, context)?;
    limit_sweeps(std::slice::from_ref(&step), 0, fields.get("interrupt"))?;
    let names = |entry: Entry<'_>| {
        let names = entry.items("an array such as [\"HL\", \"FC\"]")?;
        names.iter().map(output).collect::<Result<Vec<_>, _>>()
    };
    let outputs = fields.get("outputs").map(names).transpose()?;
    let reads = fields.get("read").map_or(Ok(Vec::new()), |entry| reads(&entry, context))?;
    Ok(Request::Call(Box::new(CallRequest { step, outputs, reads })))
}

fn only_true(entry: &Entry<'_>, request: Request) -> Result<Request, FileError> {
    match entry.boolean()? {
        true => Ok(request),
        false => Err(entry.error(format!("{}: expected true", entry.key))),
    }
}
