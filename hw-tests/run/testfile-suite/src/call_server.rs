//! Serves calls by lines of JSON, for other test frameworks.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use cli_support::text::{Escape, escape_json};
use program_formats::{ProgramError, ProgramFormat};
use serde_json::{Map, Value, json};
use z80_core::{FLAGS, REGISTER_NAMES, Registers};

use crate::block::Block;
use crate::case::single_call;
use crate::judge::Judged;
use crate::machine::{Call, CallEnd, Machine, MachineError, Outcome};
use crate::model::TestFile;
use crate::parse::{CallRequest, Request};
use crate::program::{MAX_OUTPUT, Program};
use crate::registers::{is_output, value};

/// The maximum length of a request in bytes.
const MAX_REQUEST: u64 = 1 << 22;
const NO_PROGRAM: &str = "no program is loaded";

/// A program on a machine, which requests load, call, read, write and reset.
///
/// `docs/call.schema.json` describes requests and replies.
///
/// ```
/// use testfile_suite::{CallServer, SimulatedMachine};
///
/// let mut server = CallServer::new(Box::<SimulatedMachine>::default());
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
    #[must_use]
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
        let mut load = match files {
            [program] if !is_source(program) => json!({ "program": text(program) }),
            _ => json!({ "sources": files.iter().map(text).collect::<Vec<_>>() }),
        };
        if !symbols.is_empty() {
            load["symbols"] = symbols.iter().map(text).collect();
        }
        if let Some(origin) = origin {
            load["origin"] = origin.into();
        }
        self.handle(&json!({ "load": load }).to_string()).map(|_| ())
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
                    error(format!("the request is longer than {MAX_REQUEST} bytes"))
                }
                Ok(line) => self.reply(line),
                Err(_) => error("the request is not UTF-8".to_owned()),
            };
            writeln!(output, "{}", escape_json(&reply.to_string()))?;
            output.flush()?;
        }
        Ok(())
    }

    /// Returns the reply to a request; an object with `error` if it is wrong or fails.
    pub fn reply(&mut self, request: &str) -> Value {
        self.handle(request).unwrap_or_else(error)
    }

    fn handle(&mut self, request: &str) -> Result<Value, String> {
        let program = self.file.as_ref().map(|file| &file.program);
        match Request::parse(request, program)? {
            Request::Load(file) => self.load_file(*file),
            Request::Call(request) => self.call(&request),
            Request::Read(blocks) => self.read(&blocks),
            Request::Write(blocks) => self.write(blocks),
            Request::Reset => {
                let file = self.file.as_ref().ok_or(NO_PROGRAM)?;
                self.machine.load(&file.program).map_err(message)?;
                self.pending.clear();
                Ok(json!({}))
            }
            Request::Symbols => Ok(json!({ "symbols": symbols(program.ok_or(NO_PROGRAM)?) })),
        }
    }

    fn load_file(&mut self, file: TestFile) -> Result<Value, String> {
        if let Some(profile) = self.machine.profile().filter(|profile| !file.fits(profile)) {
            return Err(format!("the program is for {}, not {profile}", file.boards.join(", ")));
        }
        self.machine.load(&file.program).map_err(message)?;
        self.pending.clear();
        let symbols = symbols(&file.program);
        self.file = Some(file);
        Ok(json!({ "machine": self.machine.name(), "symbols": symbols }))
    }

    fn call(&mut self, request: &CallRequest) -> Result<Value, String> {
        let (file, step) = (self.file.as_ref().ok_or(NO_PROGRAM)?, &request.step);
        let mut call = Call { reload: false, ..single_call(file, step) };
        call.read.extend(&request.reads);
        call.memory.splice(0..0, blocks(&self.pending));
        refuse(self.machine.as_ref(), &call)?;
        let outcome = self.machine.run_one(&call).map_err(message)?;
        self.pending.clear();
        let mut not_checked = BTreeSet::new();
        let judged = Judged::new(file, step, &call, &outcome, &[]);
        let found = judged.differences(self.machine.as_mut(), &mut not_checked);
        let ports = outcome.outputs.iter();
        let ports = ports.map(|(port, bytes)| (format!("{port:02X}H"), json!(bytes)));
        let calls = call.mocks.iter().zip(&outcome.mock_calls);
        let calls = calls.map(|(mock, calls)| (mock.name.clone(), json!(calls)));
        // The memory that the request reads follows that of the expectations.
        let memory = outcome.memory.len().saturating_sub(request.reads.len());
        Ok(json!({
            "returned": outcome.end == CallEnd::Returned,
            "out": outputs(request.outputs.as_deref(), &outcome.registers),
            "memory": outcome.memory[memory..],
            "cycles": outcome.t_states,
            "stack": outcome.stack,
            "console": self.printed(&outcome)?,
            "ports": ports.collect::<Map<_, _>>(),
            "calls": calls.collect::<Map<_, _>>(),
            "findings": found.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "not_checked": not_checked,
        }))
    }

    /// Returns the output of the last call on the console; `None` if there is none, or if a board
    /// does not show it.
    fn printed(&mut self, outcome: &Outcome) -> Result<Option<String>, String> {
        let is_visible = self.machine.observes_accesses();
        let console = self.file.as_ref().and_then(|file| file.program.console.as_ref());
        let Some(console) = console.filter(|_| is_visible || outcome.end == CallEnd::Returned)
        else {
            return Ok(None);
        };
        let memory = match console.after(&[]) {
            Some((address, _)) => {
                let size = self.machine.read(address, 2).map_err(message)?;
                let (count, _) = console.output(&size, &outcome.outputs);
                self.machine.read(address, 2 + count.min(MAX_OUTPUT)).map_err(message)?
            }
            None if is_visible => Vec::new(),
            None => return Ok(None),
        };
        let (_, bytes) = console.output(&memory, &outcome.outputs);
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn read(&mut self, blocks: &[(u16, usize)]) -> Result<Value, String> {
        let mut memory = Vec::new();
        for (address, length) in blocks {
            let mut bytes = self.machine.read(*address, *length).map_err(message)?;
            for (index, byte) in bytes.iter_mut().enumerate() {
                let address = address.wrapping_add(index as u16);
                *byte = self.pending.get(&address).copied().unwrap_or(*byte);
            }
            memory.push(bytes);
        }
        Ok(json!({ "memory": memory }))
    }

    fn write(&mut self, blocks: Vec<Block>) -> Result<Value, String> {
        let call = Call { memory: blocks, ..Call::default() };
        refuse(self.machine.as_ref(), &call)?;
        for Block { address, bytes } in call.memory {
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

/// Returns an error if the machine can't make a call.
fn refuse(machine: &dyn Machine, call: &Call) -> Result<(), String> {
    machine.refusal(call).map_or(Ok(()), Err)
}

fn message(error: MachineError) -> String {
    error.to_string()
}

/// Returns adjacent bytes as blocks.
fn blocks(bytes: &BTreeMap<u16, u8>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (address, byte) in bytes {
        match blocks.last_mut() {
            Some(last) if usize::from(*address - last.address) == last.bytes.len() => {
                last.bytes.push(*byte);
            }
            _ => blocks.push(Block { address: *address, bytes: vec![*byte] }),
        }
    }
    blocks
}

fn outputs(names: Option<&[&'static str]>, registers: &Registers) -> Map<String, Value> {
    let all = || REGISTER_NAMES.into_iter().filter(|name| is_output(name));
    let all = || all().chain(FLAGS.map(|(name, _)| name)).collect();
    let names: Vec<&str> = names.map_or_else(all, <[_]>::to_vec);
    names.into_iter().map(|name| (name.to_owned(), json!(value(registers, name)))).collect()
}

/// Returns the exported labels with their addresses.
fn symbols(program: &Program) -> Map<String, Value> {
    let exported = program.map.labels().filter(|(_, label)| label.exported);
    exported.map(|(address, label)| (label.name.clone(), json!(address))).collect()
}

fn error(message: String) -> Value {
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
