//! Reads calls.

use std::collections::BTreeMap;

use cli_support::text::Escape;

use crate::machine::{Mock, MockReturn};
use crate::model::Step;
use crate::program::{Console, MAX_INPUT};
use crate::reader::{Entry, Fields, FileError};

use super::expect::expectation;
use super::interrupts::{entry, interrupts, limit_sweeps};
use super::memory::{blocks, ports, ranges};
use super::values::{Context, flags, register, width};

/// The default limit of a call: more than a second of a board of 7.37 MHz.
const TIMEOUT: u64 = 10_000_000;
/// The maximum of a timeout, so that every run ends.
pub(super) const MAX_TIMEOUT: i64 = 100_000_000_000;

/// Reads an array of calls, up to `sweeps` of which have an interrupt at several T-states.
pub(super) fn steps(
    entry: &Entry<'_>,
    context: &Context<'_>,
    sweeps: usize,
) -> Result<Vec<Step>, FileError> {
    let what = "an array of calls such as [{ call = \"INIT\" }]";
    let one = |item: Entry<'_>| {
        let fields = item.fields("a call such as { call = \"INIT\" }")?;
        let step = step(&fields, context)?;
        fields.finish()?;
        Ok(step)
    };
    let steps = entry.items(what)?.into_iter().map(one).collect::<Result<Vec<_>, _>>()?;
    limit_sweeps(&steps, sweeps, Some(*entry))?;
    Ok(steps)
}

/// Reads the fields of a call. The caller checks for unknown ones.
pub(super) fn step(fields: &Fields<'_>, context: &Context<'_>) -> Result<Step, FileError> {
    let call = fields.require("call", "call = \"MUL\"")?;
    let target = match call.as_text() {
        Some(text) => text.to_owned(),
        None => format!("{:04X}H", context.number(&call, 2)?),
    };
    let mut step =
        Step { address: context.number(&call, 2)?, target, timeout: TIMEOUT, ..Step::default() };
    step.entry = entry(fields, context)?;
    interrupts(&mut step, fields, context)?;
    if let Some(entry) = fields.get("in") {
        for input in entry.fields("a table such as { A = 1, flags = \"C\" }")?.all() {
            input_value(&mut step, &input, context)?;
        }
    }
    step.memory = blocks(fields, context)?;
    step.ports = fields.get("ports").map_or(Ok(BTreeMap::new()), |entry| ports(&entry, context))?;
    step.mocks = mocks(fields, context)?;
    step.writes = fields.get("writes").map(|entry| ranges(&entry, context)).transpose()?;
    console(&mut step, fields, context)?;
    step.any_interrupts = match fields.get("interrupts") {
        Some(entry) if entry.text("\"any\"")? == "any" => true,
        Some(entry) => return Err(entry.expected("\"any\", which permits changes")),
        None => false,
    };
    if let Some(entry) = fields.get("timeout") {
        step.timeout = entry.integer(1..MAX_TIMEOUT)? as u64;
    }
    if let Some(entry) = fields.get("expect") {
        expectation(&mut step, &entry, context)?;
    }
    if let Some(entry) = fields.get("check") {
        let all = if entry.is_array() { entry.items("conditions")? } else { vec![entry] };
        for one in all {
            let text = one.text("\"HL == A * DE\"")?.to_owned();
            step.expect.checks.push((text, context.condition(&one)?));
        }
    }
    Ok(step)
}

/// Reads `input`.
fn console(step: &mut Step, fields: &Fields<'_>, context: &Context<'_>) -> Result<(), FileError> {
    let entry = fields.get("input");
    let input = entry.map_or(Ok(""), |entry| entry.text("\"HELLO\\r\""))?.as_bytes();
    let kind = context.program.console.as_ref().map(|console| &console.kind);
    match (kind, entry) {
        (Some(Console::Port(port)), _) => step.ports.entry(*port).or_default().extend(input),
        (Some(Console::Cpm), Some(entry)) if input.len() > MAX_INPUT => {
            return Err(entry.error(format!("input: expected up to {MAX_INPUT} bytes")));
        }
        (Some(Console::Cpm), _) | (_, None) => {}
        (_, Some(entry)) => {
            return Err(entry.error("input: expected console = \"cpm\" or { port = 0x81 }"));
        }
    }
    step.input = input.to_vec();
    Ok(())
}

/// Reads a register or the flags of `in`.
pub(super) fn input_value(
    step: &mut Step,
    entry: &Entry<'_>,
    context: &Context<'_>,
) -> Result<(), FileError> {
    if entry.key == "flags" {
        step.flags = flags(entry)?;
        return Ok(());
    }
    let register = register(entry, entry.key)?;
    set_input(step, register, entry, context)
}

pub(super) fn set_input(
    step: &mut Step,
    register: &'static str,
    entry: &Entry<'_>,
    context: &Context<'_>,
) -> Result<(), FileError> {
    let value = context.number(entry, width(register))?;
    step.registers.push((register, value));
    Ok(())
}

fn mocks(fields: &Fields<'_>, context: &Context<'_>) -> Result<Vec<(String, Mock)>, FileError> {
    let Some(entry) = fields.get("mock") else { return Ok(Vec::new()) };
    let example = "a table such as { PUTC = { returns = { A = 1 } } }";
    let mut mocks = Vec::new();
    for mock in entry.fields(example)?.all() {
        let address = context.label_or_number(&mock)?;
        let table = mock.fields("a table such as { returns = { A = 1 } }")?;
        let mut returns = Vec::new();
        if let Some(entry) = table.get("returns") {
            let all = if entry.is_array() { entry.items("returns")? } else { vec![entry] };
            for one in all {
                returns.push(returned(&one, context)?);
            }
        }
        table.finish()?;
        mocks.push((mock.key.to_owned(), Mock { address, returns }));
    }
    Ok(mocks)
}

fn returned(entry: &Entry<'_>, context: &Context<'_>) -> Result<MockReturn, FileError> {
    let fields = entry.fields("registers such as { A = 1, flags = \"Z\" }")?;
    let memory = blocks(&fields, context)?;
    let mut registers = Vec::new();
    for one in fields.all().filter(|one| one.key != "memory") {
        if one.key == "flags" {
            let (mask, value) = flags(&one)?;
            let set = z80_core::FLAGS.iter().filter(|(_, bit)| u16::from(mask) & bit != 0);
            registers.extend(set.map(|(f, bit)| (*f, u16::from(u16::from(value) & bit != 0))));
        } else {
            let name = register(&one, one.key)?;
            registers.push((name, context.number(&one, width(name))?));
        }
    }
    Ok(MockReturn { registers, memory })
}

impl Context<'_> {
    /// Reads the address that a key names.
    fn label_or_number(&self, entry: &Entry<'_>) -> Result<u16, FileError> {
        let known = self.program.map.find_symbol(entry.key);
        let known = known.map_err(|ambiguous| entry.error(ambiguous.to_string()))?;
        known.or_else(|| z80_core::parse_number(entry.key)).ok_or_else(|| {
            entry.error(format!("unknown label '{}' of a mock", entry.key.escaped()))
        })
    }
}
