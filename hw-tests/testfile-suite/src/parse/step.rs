//! Reads calls and expectations.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use cli_support::text::Escape;

use crate::machine::{Block, Mock, MockReturn};
use crate::matcher::Matcher;
use crate::model::{ExpectedMemory, HALVES, Step, halves};
use crate::reader::{Entry, Fields, FileError};

use super::values::{Context, flags, register, width};

/// The default limit of a call: more than a second of a board of 7.37 MHz.
const TIMEOUT: u64 = 10_000_000;
/// The maximum of a timeout, so that every run ends.
const MAX_TIMEOUT: i64 = 100_000_000_000;

/// Reads an array of calls.
pub(super) fn steps(entry: &Entry<'_>, context: &Context<'_>) -> Result<Vec<Step>, FileError> {
    let what = "an array of calls such as [{ call = \"INIT\" }]";
    let one = |item: Entry<'_>| {
        let fields = item.fields("a call such as { call = \"INIT\" }")?;
        let step = step(&fields, context)?;
        fields.finish()?;
        Ok(step)
    };
    entry.items(what)?.into_iter().map(one).collect()
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
    if let Some(entry) = fields.get("in") {
        for input in entry.fields("a table such as { A = 1, flags = \"C\" }")?.all() {
            input_value(&mut step, &input, context)?;
        }
    }
    step.memory = blocks(fields, context)?;
    step.ports = fields.get("ports").map_or(Ok(BTreeMap::new()), |entry| ports(&entry, context))?;
    step.mocks = mocks(fields, context)?;
    step.writes = fields.get("writes").map(|entry| ranges(&entry, context)).transpose()?;
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

/// Reads memory to be written.
fn blocks(fields: &Fields<'_>, context: &Context<'_>) -> Result<Vec<Block>, FileError> {
    let Some(entry) = fields.get("memory") else { return Ok(Vec::new()) };
    let example = "memory such as [{ at = \"BUFFER\", bytes = [1, 2] }]";
    let mut all = Vec::new();
    for item in entry.items(example)? {
        let fields = item.fields(example)?;
        let address = context.number(&fields.require("at", "at = \"BUFFER\"")?, 2)?;
        let (width, elements) = elements(&fields, &item, context)?;
        let value = |matcher: &Matcher| matcher.value().ok_or_else(|| item.error(NO_OPERATORS));
        let values = elements.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        let bytes = values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(width.into()));
        all.push(Block { address, bytes: bytes.collect() });
    }
    Ok(all)
}

const NO_OPERATORS: &str = "operators are for expected values: expected numbers here";

/// Reads the contents of a block of memory: the width of its elements, and these.
fn elements(
    fields: &Fields<'_>,
    item: &Entry<'_>,
    context: &Context<'_>,
) -> Result<(u16, Vec<Matcher>), FileError> {
    let mut found = Vec::new();
    let equal = |bytes: &[u8]| bytes.iter().map(|b| Matcher::equal((*b).into())).collect();
    for (name, width) in [("bytes", 1), ("words", 2)] {
        if let Some(entry) = fields.get(name) {
            let items = entry.items("an array such as [1, 2]")?;
            let all = items.iter().map(|one| context.matcher(one, width));
            found.push((width, all.collect::<Result<Vec<_>, _>>()?));
        }
    }
    if let Some(entry) = fields.get("text") {
        found.push((1, equal(entry.text("\"HELLO\"")?.as_bytes())));
    }
    if let Some(entry) = fields.get("file") {
        let path = context.folder.join(entry.text("\"input.bin\"")?);
        let bytes = crate::program::read(&path).map_err(|message| entry.error(message))?;
        if bytes.len() > 0x1_0000 {
            return Err(entry.error("the file is larger than 64 KiB"));
        }
        found.push((1, equal(&bytes)));
    }
    let size = fields.get("size");
    if let Some(entry) = fields.get("fill") {
        let value = Matcher::equal(context.number(&entry, 1)?.into());
        let size = size.ok_or_else(|| entry.error("'size' is missing: fill = 0, size = 256"))?;
        let size = size.integer(1..0x1_0001)?;
        found.push((1, vec![value; size as usize]));
    }
    fields.finish()?;
    match <[_; 1]>::try_from(found) {
        Ok([one]) => Ok(one),
        Err(_) => Err(item.error("expected one of bytes, words, text, file, or fill with size")),
    }
}

fn ports(entry: &Entry<'_>, context: &Context<'_>) -> Result<BTreeMap<u8, Vec<u8>>, FileError> {
    let mut ports = BTreeMap::new();
    for port in entry.fields("a table of ports such as { 10H = [1, 2] }")?.all() {
        let number = z80_core::parse_number(port.key).and_then(|port| u8::try_from(port).ok());
        let wrong = || port.error(format!("'{}': expected a port such as 10H", port.key.escaped()));
        let number = number.ok_or_else(wrong)?;
        let items = port.items("an array of bytes")?;
        let bytes = items.iter().map(|item| context.number(item, 1).map(|byte| byte as u8));
        ports.insert(number, bytes.collect::<Result<_, _>>()?);
    }
    Ok(ports)
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

fn ranges(entry: &Entry<'_>, context: &Context<'_>) -> Result<Vec<RangeInclusive<u16>>, FileError> {
    let example = "memory such as [{ at = \"BUFFER\", size = 16 }]";
    let mut ranges = Vec::new();
    for item in entry.items(example)? {
        let fields = item.fields(example)?;
        let first = context.number(&fields.require("at", "at = \"BUFFER\"")?, 2)?;
        let size = fields.get("size").map_or(Ok(1), |size| size.integer(1..0x1_0001))?;
        fields.finish()?;
        ranges.push(first..=first.saturating_add((size - 1) as u16));
    }
    Ok(ranges)
}

fn expectation(step: &mut Step, entry: &Entry<'_>, context: &Context<'_>) -> Result<(), FileError> {
    let fields = entry.fields("a table such as { HL = 21, flags = \"NC\" }")?;
    for one in fields.all() {
        expected_value(step, &one, one.key, context)?;
    }
    Ok(())
}

/// Reads one field of `expect`.
pub(super) fn expected_value(
    step: &mut Step,
    entry: &Entry<'_>,
    key: &str,
    context: &Context<'_>,
) -> Result<(), FileError> {
    let Step { expect, mocks, .. } = step;
    match key {
        "flags" => expect.flags = flags(entry)?,
        "memory" => expect.memory = expected_memory(entry, context)?,
        "cycles" => expect.cycles = Some(limit(entry)?),
        "stack" => expect.stack = Some(limit(entry)?),
        "clobbers" => expect.clobbers = Some(clobbers(entry)?),
        "ports" => expect.ports = ports(entry, context)?,
        "calls" => expect.calls = mock_calls(entry, mocks)?,
        _ => {
            let name = register(entry, key).map_err(|_| unknown_expectation(entry, key))?;
            expect.registers.push((name, context.matcher(entry, width(name))?));
        }
    }
    Ok(())
}

fn unknown_expectation(entry: &Entry<'_>, key: &str) -> FileError {
    entry.error(format!(
        "unknown expectation '{}': expected a register, flags, memory, cycles, stack, clobbers, \
         ports or calls",
        key.escaped()
    ))
}

/// Reads a limit: a number is the maximum, operators say what they say.
fn limit(entry: &Entry<'_>) -> Result<Matcher, FileError> {
    let range = 0..i64::from(u32::MAX) + 1;
    if let Some(most) = entry.as_integer(range.clone()) {
        return Ok(Matcher::at_most(most? as u32));
    }
    let fields = entry.fields("a maximum such as 100, or { ge = 90, le = 100 }")?;
    let mut matcher = Matcher::default();
    for (name, test) in [
        ("eq", crate::matcher::Test::Eq as fn(u32) -> _),
        ("ge", crate::matcher::Test::Ge),
        ("le", crate::matcher::Test::Le),
    ] {
        if let Some(operand) = fields.get(name) {
            matcher.tests.push(test(operand.integer(range.clone())? as u32));
        }
    }
    fields.finish()?;
    Ok(matcher)
}

fn expected_memory(
    entry: &Entry<'_>,
    context: &Context<'_>,
) -> Result<Vec<ExpectedMemory>, FileError> {
    let example = "memory such as [{ at = \"BUFFER\", bytes = [1, 2] }]";
    let mut all = Vec::new();
    for item in entry.items(example)? {
        let fields = item.fields(example)?;
        let at = fields.require("at", "at = \"BUFFER\"")?;
        let address = context.number(&at, 2)?;
        let name = at.as_text().map_or_else(|| format!("{address:04X}H"), str::to_owned);
        let (width, elements) = elements(&fields, &item, context)?;
        all.push(ExpectedMemory { name, address, width, elements });
    }
    Ok(all)
}

fn mock_calls(
    entry: &Entry<'_>,
    mocks: &[(String, Mock)],
) -> Result<Vec<(usize, Matcher)>, FileError> {
    let mut calls = Vec::new();
    for one in entry.fields("a table such as { PUTC = 3 }")?.all() {
        let index = mocks.iter().position(|(name, _)| name == one.key);
        let name = one.key.escaped();
        let index = index.ok_or_else(|| one.error(format!("'{name}' is not among the mocks")))?;
        calls.push((index, Matcher::equal(one.integer(0..0x1_0000)? as u32)));
    }
    Ok(calls)
}

/// Reads a list of registers such as `AF, BC, HL'`.
fn clobbers(entry: &Entry<'_>) -> Result<BTreeSet<&'static str>, FileError> {
    let mut all = BTreeSet::new();
    let text = entry.text("\"AF BC\"")?;
    let is_separator = |c: char| c == ',' || c.is_whitespace();
    for word in text.split(is_separator).filter(|word| !word.is_empty()) {
        match word {
            "all" => all.extend(HALVES),
            _ => all.extend(halves(register(entry, word)?)),
        }
    }
    Ok(all)
}

impl Context<'_> {
    /// Reads the address that a key names.
    fn label_or_number(&self, entry: &Entry<'_>) -> Result<u16, FileError> {
        let known = self.program.map.symbol(entry.key);
        known.or_else(|| z80_core::parse_number(entry.key)).ok_or_else(|| {
            entry.error(format!("unknown label '{}' of a mock", entry.key.escaped()))
        })
    }
}
