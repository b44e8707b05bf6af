//! Reads what is expected of a call.

use std::collections::BTreeSet;

use cli_support::text::Escape;

use crate::machine::Mock;
use crate::matcher::{Matcher, Test};
use crate::model::{HALVES, Step, halves};
use crate::program::MAX_OUTPUT;
use crate::reader::{Entry, FileError};

use super::memory::{expected_memory, ports};
use super::values::{Context, flags, register, width};

/// Reads `expect`.
pub(super) fn expectation(
    step: &mut Step,
    entry: &Entry<'_>,
    context: &Context<'_>,
) -> Result<(), FileError> {
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
        "console" => expect.console = Some(console(entry, context)?),
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
        "unknown expectation '{}': expected a register, flags, memory, console, cycles, stack, \
         clobbers, ports or calls",
        key.escaped()
    ))
}

/// Reads the expected output on the console.
fn console(entry: &Entry<'_>, context: &Context<'_>) -> Result<Vec<u8>, FileError> {
    let text = entry.text("\"HELLO\\r\\n\"")?;
    match &context.program.console {
        None => Err(entry.error(
            "console: the file has none: expected console = \"cpm\", { routine = \"PUTC\" } or { \
             port = 0x81 } before the cases",
        )),
        Some(_) if text.len() > MAX_OUTPUT => {
            Err(entry.error(format!("console: expected up to {MAX_OUTPUT} bytes")))
        }
        Some(_) => Ok(text.as_bytes().to_vec()),
    }
}

/// Reads a limit: a number is the maximum, operators say what they say.
fn limit(entry: &Entry<'_>) -> Result<Matcher, FileError> {
    let range = 0..i64::from(u32::MAX) + 1;
    if let Some(most) = entry.as_integer(range.clone()) {
        return Ok(Matcher::at_most(most? as u32));
    }
    let fields = entry.fields("a maximum such as 100, or { ge = 90, le = 100 }")?;
    let mut matcher = Matcher::default();
    for (name, test) in [("eq", Test::Eq as fn(u32) -> _), ("ge", Test::Ge), ("le", Test::Le)] {
        if let Some(operand) = fields.get(name) {
            matcher.tests.push(test(operand.integer(range.clone())? as u32));
        }
    }
    fields.finish()?;
    Ok(matcher)
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
