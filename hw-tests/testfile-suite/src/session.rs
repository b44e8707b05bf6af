//! Sessions of calls by lines of JSON, for other test frameworks.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;

use cli_support::text::{Escape, escape_json};
use serde_json::{Map, Value, json};
use z80_core::{FLAGS, REGISTER_NAMES, Registers, register_value};

use crate::calls::{REGISTERS, call};
use crate::judge::Judged;
use crate::machine::{Block, CallEnd, Machine, MachineError, Outcome};
use crate::model::TestFile;
use crate::parse::{CallRequest, Request, is_output};
use crate::program::Program;

/// The maximum length of a request in bytes.
const MAX_REQUEST: u64 = 1 << 22;

/// Opens a machine with a program in its memory.
pub type OpenMachine<'o> = Box<dyn FnMut(&Program) -> Result<Box<dyn Machine>, MachineError> + 'o>;

/// A session: a program on a machine, which requests load, call, read, write and reset.
///
/// `docs/call.schema.json` describes requests and replies.
///
/// ```
/// use testfile_suite::{CallSession, SimulatedMachine};
///
/// let mut session =
///     CallSession::new(Box::new(|program| Ok(Box::new(SimulatedMachine::new(program)))));
/// let reply = session.reply("{\"call\": \"MUL\"}");
/// assert!(reply["error"].as_str().is_some_and(|error| error.starts_with("no program")));
/// ```
pub struct CallSession<'o> {
    open: OpenMachine<'o>,
    loaded: Option<Loaded>,
}

/// A program, and the machine that runs it.
struct Loaded {
    file: TestFile,
    /// `None` if it could not be opened.
    machine: Option<Box<dyn Machine>>,
    /// Memory that the next call writes first.
    pending: BTreeMap<u16, u8>,
}

impl<'o> CallSession<'o> {
    /// Creates a session without a program. `open` is called at each load and reset.
    #[must_use]
    pub fn new(open: OpenMachine<'o>) -> Self {
        Self { open, loaded: None }
    }

    /// Loads the program of these sources, as a request does.
    ///
    /// # Errors
    /// Returns a message if they can't be assembled, linked or loaded.
    pub fn load(&mut self, sources: &[PathBuf]) -> Result<(), String> {
        let sources: Vec<_> = sources.iter().map(|path| path.to_string_lossy()).collect();
        self.handle(&json!({ "load": { "sources": sources } }).to_string()).map(|_| ())
    }

    /// Replies to each line of `input` by a line, until its end.
    ///
    /// # Errors
    /// Returns the error of `input` or `output`. A wrong request is none: the reply describes it.
    pub fn serve(&mut self, input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            if (&mut *input).take(MAX_REQUEST).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            let reply = if line.len() as u64 == MAX_REQUEST && line.last() != Some(&b'\n') {
                skip_line(input)?;
                error(format!("the request is longer than {MAX_REQUEST} bytes"))
            } else {
                match std::str::from_utf8(&line) {
                    Ok(line) => self.reply(line),
                    Err(_) => error("the request is not UTF-8".to_owned()),
                }
            };
            writeln!(output, "{}", escape_json(&reply.to_string()))?;
            output.flush()?;
        }
    }

    /// Returns the reply to a request; an object with `error` if it is wrong or fails.
    pub fn reply(&mut self, request: &str) -> Value {
        self.handle(request).unwrap_or_else(error)
    }

    fn handle(&mut self, request: &str) -> Result<Value, String> {
        let program = self.loaded.as_ref().map(|loaded| &loaded.file.program);
        match Request::parse(request, program)? {
            Request::Load(file) => {
                // A board is released before it is opened again.
                self.loaded = None;
                let machine = (self.open)(&file.program).map_err(|error| error.to_string())?;
                let name = machine.name().to_owned();
                let symbols = symbols(&file.program);
                let (machine, pending) = (Some(machine), BTreeMap::new());
                self.loaded = Some(Loaded { file: *file, machine, pending });
                Ok(json!({ "machine": name, "symbols": symbols }))
            }
            Request::Call(request) => self.loaded()?.call(&request),
            Request::Read(blocks) => self.loaded()?.read(&blocks),
            Request::Write(blocks) => {
                self.loaded()?.write(&blocks);
                Ok(json!({}))
            }
            Request::Reset => {
                if let Some(loaded) = &mut self.loaded {
                    loaded.machine = None;
                    loaded.pending.clear();
                }
                self.loaded().map(|_| json!({}))
            }
            Request::Symbols => Ok(json!({ "symbols": symbols(&self.loaded()?.file.program) })),
        }
    }

    /// Returns the program with its machine, which is opened if it is not.
    fn loaded(&mut self) -> Result<&mut Loaded, String> {
        let loaded = self.loaded.as_mut().ok_or("no program is loaded")?;
        if loaded.machine.is_none() {
            let machine = (self.open)(&loaded.file.program);
            loaded.machine = Some(machine.map_err(|error| error.to_string())?);
        }
        Ok(loaded)
    }
}

impl Loaded {
    fn machine(&mut self) -> Result<&mut dyn Machine, String> {
        Ok(self.machine.as_mut().ok_or("no machine is open")?.as_mut())
    }

    fn call(&mut self, request: &CallRequest) -> Result<Value, String> {
        let step = &request.step;
        let mut call = call(&self.file, step, REGISTERS, false);
        call.read.extend(&request.reads);
        call.memory.splice(0..0, blocks(&std::mem::take(&mut self.pending)));
        let outcome = self.machine()?.run_one(&call).map_err(|error| error.to_string())?;
        let Self { file, machine: Some(machine), .. } = self else {
            return Err("no machine is open".to_owned());
        };
        let program = &file.program;
        let judged = Judged { program, step, call: &call, outcome: &outcome, contract: None };
        let found = judged.differences(machine.as_mut());
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        Ok(call_reply(request, &outcome, found))
    }

    fn read(&mut self, blocks: &[(u16, usize)]) -> Result<Value, String> {
        let mut memory = Vec::new();
        for (address, length) in blocks {
            let bytes = self.machine()?.read(*address, *length);
            let mut bytes = bytes.map_err(|error| error.to_string())?;
            for (index, byte) in bytes.iter_mut().enumerate() {
                let address = address.wrapping_add(index as u16);
                *byte = self.pending.get(&address).copied().unwrap_or(*byte);
            }
            memory.push(bytes);
        }
        Ok(json!({ "memory": memory }))
    }

    fn write(&mut self, blocks: &[Block]) {
        for block in blocks {
            for (index, byte) in block.bytes.iter().enumerate() {
                self.pending.insert(block.address.wrapping_add(index as u16), *byte);
            }
        }
    }
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

fn call_reply(request: &CallRequest, outcome: &Outcome, findings: Vec<String>) -> Value {
    let step = &request.step;
    let ports = outcome.outputs.iter().map(|(port, bytes)| (format!("{port:02X}H"), json!(bytes)));
    let calls = step.mocks.iter().zip(&outcome.mock_calls);
    let calls = calls.map(|((name, _), calls)| (name.clone(), json!(calls)));
    json!({
        "returned": outcome.end == CallEnd::Returned,
        "out": outputs(request.outputs.as_deref(), &outcome.registers),
        "memory": requested_memory(request, outcome),
        "cycles": outcome.t_states,
        "stack": outcome.stack,
        "ports": ports.collect::<Map<_, _>>(),
        "calls": calls.collect::<Map<_, _>>(),
        "findings": findings,
    })
}

/// Returns the memory after that of the expectations.
fn requested_memory<'o>(request: &CallRequest, outcome: &'o Outcome) -> &'o [Vec<u8>] {
    let expected = outcome.memory.len().saturating_sub(request.reads.len());
    outcome.memory.get(expected..).unwrap_or_default()
}

fn outputs(names: Option<&[&'static str]>, registers: &Registers) -> Map<String, Value> {
    let all = || REGISTER_NAMES.into_iter().filter(|name| is_output(name));
    let all = || all().chain(FLAGS.map(|(name, _)| name)).collect();
    let names: Vec<&str> = names.map_or_else(all, <[_]>::to_vec);
    let value = |name: &str| Some((name.to_owned(), json!(register_value(registers, name)?)));
    names.into_iter().filter_map(value).collect()
}

/// Returns the exported labels with their addresses.
fn symbols(program: &Program) -> Map<String, Value> {
    let exported = program.map.labels().filter(|(_, label)| label.exported);
    exported.map(|(address, label)| (label.name.clone(), json!(address))).collect()
}

fn error(message: String) -> Value {
    json!({ "error": message.lines().map(Escape::escaped).collect::<Vec<_>>().join("\n") })
}

/// Reads the rest of a line.
fn skip_line(input: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let bytes = input.fill_buf()?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(bytes.len(), |end| end + 1);
        input.consume(length);
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}
