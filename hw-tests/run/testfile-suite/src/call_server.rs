//! Serves calls by lines of JSON, for other test frameworks.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use board_simulator::routines::{Call, CallEnd, Outcome};
use cli_support::text::{Escape, escape_json};
use program_formats::{ProgramError, ProgramFormat, read_debug_info};
use serde_json::{Value, json};
use tdlasm::image::{Image, ImageRun};
use z80_core::{FLAGS, REGISTER_NAMES, Registers};

use crate::case::single_call;
use crate::document::{Document, Fields};
use crate::judge::Judged;
use crate::machine::Machine;
use crate::model::{Step, TestFile};
use crate::parse::Reader;
use crate::program::MAX_OUTPUT;
use crate::registers::{is_output, value};

/// The maximum length of a request in bytes.
const MAX_REQUEST: u64 = 1 << 22;
/// The keys that select a request; a call may read, too.
static KINDS: [&str; 6] = ["load", "call", "read", "write", "reset", "symbols"];
const EXAMPLE: &str = "an object such as {\"call\": \"MUL\", \"in\": {\"A\": 3}}";

const NO_PROGRAM: &str = "no program is loaded";

/// The reply to a request.
type Reply = Result<Value, Box<dyn Error>>;
/// What a request asks of the server.
type Action = Box<dyn FnOnce(&mut CallServer) -> Reply>;

/// A program on a machine, which requests load, call, read, write and reset.
///
/// `docs/call.schema.json` describes requests and replies.
///
/// ```
/// use testfile_suite::{CallServer, Program};
///
/// let machine = Program::default().machine();
/// let mut server = CallServer::new(Box::new(machine));
/// let reply = server.reply("{\"call\": \"MUL\"}");
/// assert!(reply["error"].as_str().is_some_and(|error| error.starts_with("no program")));
/// ```
pub struct CallServer {
    machine: Box<dyn Machine>,
    file: Option<TestFile>,
    /// Memory that the next call writes first.
    pending: BTreeMap<u16, u8>,
}

impl CallServer {
    /// Creates a server without a program on a machine.
    pub fn new(machine: Box<dyn Machine>) -> Self {
        Self { machine, file: None, pending: BTreeMap::new() }
    }

    /// Loads a program, as a request does: that of TDL sources, or one that another tool built, with
    /// its symbols. `origin` is the address of the first section, or of a binary.
    ///
    /// # Errors
    /// Returns a message if they can't be read, assembled, linked or loaded.
    pub fn load(
        &mut self,
        files: &[PathBuf],
        symbols: &[PathBuf],
        origin: Option<u16>,
    ) -> Result<(), String> {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let mut load = match (files, files.iter().find(|path| !is_source(path))) {
            ([_], Some(program)) => json!({ "program": text(program) }),
            (_, None) => json!({ "sources": files.iter().map(text).collect::<Vec<_>>() }),
            (_, Some(program)) => {
                let program = program.escaped();
                return Err(format!(
                    "{program} is a program, not TDL source: give no other file but its --symbols; \
                     requests on standard input call routines, as in {{\"call\": \"MUL8\"}}"
                ));
            }
        };
        if let ([file], None) = (files, load.get("program"))
            && std::fs::read(file)
                .is_ok_and(|text| read_debug_info(&text, &file.to_string_lossy()).is_ok())
        {
            let file = file.escaped();
            return Err(format!(
                "{file} has symbols and no program: give the program, and --symbols {file}"
            ));
        }
        if !symbols.is_empty() {
            load["symbols"] = symbols.iter().map(text).collect();
        }
        if let Some(origin) = origin {
            load["origin"] = origin.into();
        }
        let loaded = self.handle(&json!({ "load": load }).to_string());
        loaded.map(|_| ()).map_err(|error| error.to_string())
    }

    /// Returns the machine.
    pub fn into_machine(self) -> Box<dyn Machine> {
        self.machine
    }

    /// Replies to each line of `input` by a line, until its end.
    ///
    /// # Errors
    /// Returns the error of `input` or `output`. A wrong request is none: the reply describes it.
    pub fn serve(&mut self, input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
        let mut line = Vec::new();
        while read_part(input, &mut line)? {
            let reply = match std::str::from_utf8(&line) {
                _ if is_partial(&line) => {
                    while is_partial(&line) && read_part(input, &mut line)? {}
                    error(&format!("the request is longer than {MAX_REQUEST} bytes"))
                }
                Ok(line) => self.reply(line),
                Err(_) => error("the request is not UTF-8"),
            };
            writeln!(output, "{}", escape_json(&reply.to_string()))?;
            output.flush()?;
        }
        Ok(())
    }

    /// Returns the reply to a request; an object with `error` if it is wrong or fails.
    pub fn reply(&mut self, request: &str) -> Value {
        self.handle(request).unwrap_or_else(|why| error(&why.to_string()))
    }

    fn handle(&mut self, request: &str) -> Reply {
        let program = self.file.as_ref().map(|file| &file.program);
        let origin = self.machine.free_memory().map(|(first, _)| first);
        action(request, &Reader::new(program, origin))?(self)
    }

    /// Loads the program again, and restores all other memory.
    fn reset(&mut self) -> Reply {
        self.machine.load(&self.file.as_ref().ok_or(NO_PROGRAM)?.program)?;
        self.pending.clear();
        Ok(json!({}))
    }

    /// Lists the exported labels with their addresses.
    fn symbols(&self) -> Reply {
        let map = &self.file.as_ref().ok_or(NO_PROGRAM)?.program.map;
        let exported = map.labels().filter(|(_, label)| label.exported);
        let symbols = exported.map(|(address, label)| (&label.name, address));
        Ok(json!({ "symbols": symbols.collect::<BTreeMap<_, _>>() }))
    }

    /// Loads a program, which replaces the previous one.
    fn load_file(&mut self, file: TestFile) -> Reply {
        if let Some(profile) = self.machine.profile().filter(|profile| !file.fits(profile)) {
            let boards = file.boards.join(", ");
            return Err(format!("the program is for {boards}, not {profile}").into());
        }
        self.machine.load(&file.program)?;
        self.pending.clear();
        self.file = Some(file);
        let mut reply = self.symbols()?;
        reply["machine"] = json!(self.machine.name());
        Ok(reply)
    }

    /// Calls a routine. The reply has these registers and flags, or all, and the memory `reads`.
    fn call(
        &mut self,
        step: &Step,
        outputs: Option<&[&'static str]>,
        reads: &[(u16, usize)],
    ) -> Reply {
        let file = self.file.as_ref().ok_or(NO_PROGRAM)?;
        let mut call = Call { reload: false, ..single_call(file, step) };
        call.read.extend(reads);
        let byte = |(&address, &byte): (&u16, &u8)| ImageRun { address, bytes: vec![byte] };
        let pending = Image::new(self.pending.iter().map(byte));
        call.memory.splice(0..0, pending.runs().iter().cloned());
        self.machine.refusal(&call).map_or(Ok(()), Err)?;
        let outcome = self.machine.run_one(&call)?;
        self.pending.clear();
        let mut not_checked = BTreeSet::new();
        let judged = Judged::new(file, step, &call, &outcome, &[]);
        let found = judged.differences(self.machine.as_mut(), &mut not_checked);
        let ports = outcome.outputs.iter().map(|(port, bytes)| (format!("{port:02X}H"), bytes));
        let calls = call.mocks.iter().map(|mock| &mock.name).zip(&outcome.mock_calls);
        // The memory that the request reads follows that of the expectations.
        let memory = outcome.memory.len().saturating_sub(reads.len());
        Ok(json!({
            "returned": outcome.end == CallEnd::Returned,
            "out": register_values(outputs, &outcome.registers),
            "memory": outcome.memory[memory..],
            "cycles": outcome.t_states,
            "stack": outcome.stack,
            "console": self.printed(&outcome)?,
            "ports": ports.collect::<BTreeMap<_, _>>(),
            "calls": calls.collect::<BTreeMap<_, _>>(),
            "findings": found.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "not_checked": not_checked,
        }))
    }

    /// Returns the output of the last call on the console; `None` if there is none, or if a board
    /// does not show it.
    fn printed(&mut self, outcome: &Outcome) -> Result<Option<String>, Box<dyn Error>> {
        let is_visible = !self.machine.is_board();
        let console = self.file.as_ref().and_then(|file| file.program.console.as_ref());
        let Some(console) = console.filter(|_| is_visible || outcome.end == CallEnd::Returned)
        else {
            return Ok(None);
        };
        let memory = match console.after(&[]) {
            Some((address, _)) => {
                let size = self.machine.read(address, 2)?;
                let (count, _) = console.output(&size, &outcome.outputs);
                self.machine.read(address, 2 + count.min(MAX_OUTPUT))?
            }
            None if is_visible => Vec::new(),
            None => return Ok(None),
        };
        let (_, bytes) = console.output(&memory, &outcome.outputs);
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Reads memory: addresses and numbers of bytes.
    fn read(&mut self, blocks: &[(u16, usize)]) -> Reply {
        let mut memory = Vec::new();
        for (address, length) in blocks {
            let mut bytes = self.machine.read(*address, *length)?;
            for (index, byte) in bytes.iter_mut().enumerate() {
                let address = address.wrapping_add(index as u16);
                *byte = self.pending.get(&address).copied().unwrap_or(*byte);
            }
            memory.push(bytes);
        }
        Ok(json!({ "memory": memory }))
    }

    /// Writes memory before the next call.
    fn write(&mut self, blocks: Vec<ImageRun>) -> Reply {
        let call = Call { memory: blocks, ..Call::default() };
        self.machine.refusal(&call).map_or(Ok(()), Err)?;
        for ImageRun { address, bytes } in call.memory {
            let bytes = bytes.into_iter().enumerate();
            self.pending.extend(bytes.map(|(at, byte)| (address.wrapping_add(at as u16), byte)));
        }
        Ok(json!({}))
    }
}

/// Returns `true` for text, and for a file that can't be read, which is reported as a source.
fn is_source(path: &Path) -> bool {
    let format = |content: Vec<u8>| ProgramFormat::detect(&content, &path.to_string_lossy());
    std::fs::read(path).map_or(true, |content| format(content) == Err(ProgramError::Text))
}

/// Reads a request about a program, if one is loaded.
///
/// # Errors
/// Returns a message if it is no JSON, or no request.
fn action(line: &str, reader: &Reader<'_>) -> Result<Action, String> {
    let value: Value =
        serde_json::from_str(line).map_err(|error| format!("invalid JSON: {error}"))?;
    if !value.is_object() {
        return Err(format!("expected {EXAMPLE}"));
    }
    // As TOML, it is read as test files are.
    let value = toml::Value::try_from(value)
        .map_err(|error| format!("expected numbers, strings, true, arrays and objects: {error}"))?;
    let text = format!("request = {value}");
    let request = Document::read(Path::new("request"), &text, |root| {
        let read = |fields: &Fields<'_>| read_action(reader, fields);
        root.fields().first()?.table(EXAMPLE, read).flatten()
    });
    request.map_err(|errors| {
        let messages: Vec<_> = errors.0.into_iter().map(|error| error.message).collect();
        messages.join("\n")
    })
}

/// Reads a request, whose keys are those of a test file.
fn read_action(reader: &Reader<'_>, fields: &Fields<'_>) -> Option<Action> {
    let table = fields.table.value.as_table();
    let has = |kind: &&str| table.is_some_and(|table| table.contains_key(*kind));
    let kinds: Vec<_> = KINDS.into_iter().filter(has).collect();
    let wrong = match kinds[..] {
        [] => Some(format!("no request: expected one of {}", KINDS.join(", "))),
        ["load"] => None,
        [_] | ["call", "read"] if reader.program.is_none() => {
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
        "call" => {
            let step = reader.step_without_sweep(fields);
            let (outputs, reads) = (reader.outputs(fields), reader.ranges(fields, "read"));
            Box::new(move |server| server.call(&step, outputs.as_deref(), &reads))
        }
        "load" => {
            let load = |fields: &Fields<'_>| reader.program_file(fields);
            let file = fields.table(kind, EXAMPLE, load).flatten()?;
            Box::new(|server| server.load_file(file))
        }
        "read" => {
            let ranges = reader.ranges(fields, kind);
            Box::new(move |server| server.read(&ranges))
        }
        "write" => {
            let blocks = reader.blocks(fields, kind);
            Box::new(|server| server.write(blocks))
        }
        _ => {
            let item = fields.get(kind)?;
            if item.value.as_bool() != Some(true) {
                item.report(format!("{kind}: expected true"));
            }
            match kind {
                "reset" => Box::new(CallServer::reset),
                _ => Box::new(|server| server.symbols()),
            }
        }
    })
}

fn register_values(
    names: Option<&[&'static str]>,
    registers: &Registers,
) -> BTreeMap<&'static str, u16> {
    let all = || REGISTER_NAMES.into_iter().filter(|name| is_output(name));
    let all = || all().chain(FLAGS.map(|(name, _)| name)).collect();
    let names: Vec<_> = names.map_or_else(all, <[_]>::to_vec);
    names.into_iter().map(|name| (name, value(registers, name))).collect()
}

fn error(message: &str) -> Value {
    json!({ "error": message.lines().map(Escape::escaped).collect::<Vec<_>>().join("\n") })
}

/// Reads a line, or as much of it as a request may have. Returns `false` at the end.
fn read_part(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    Ok(input.take(MAX_REQUEST).read_until(b'\n', line)? > 0)
}

/// Returns `true` if a line goes on after this part.
fn is_partial(part: &[u8]) -> bool {
    part.len() as u64 == MAX_REQUEST && part.last() != Some(&b'\n')
}
