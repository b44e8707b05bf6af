//! What a judge expects of a call, as expectations of a test file.

use cli_support::text::Escape;
use serde_json::Value;
use z80_core::{
    Expression, FLAGS, Flags, Name, Registers, canonical_register_name, is_number, register_halves,
    register_value,
};

use crate::machine::Measure;
use crate::matcher::Matcher;
use crate::model::{Expectation, ExpectedMemory};
use crate::program::Program;
use crate::registers::is_output;

/// Adds what a reference replies to the expectations of a test file. `null` accepts anything.
///
/// # Errors
/// Returns a message with all names that are unknown and all values of another type.
pub(super) fn expect_reply(
    expect: &mut Expectation,
    reply: &Value,
    program: &Program,
) -> Result<(), String> {
    if reply.is_null() {
        return Ok(());
    }
    let mut mistakes = Vec::new();
    for (name, value) in reply.as_object().ok_or("expected an object such as {\"HL\": 21}")? {
        if name == "memory" {
            let labels = value.as_object().ok_or("memory: expected an object")?;
            let blocks = labels.iter().map(|(label, bytes)| memory(label, bytes, program));
            let (blocks, wrong): (Vec<_>, Vec<_>) = blocks.partition(Result::is_ok);
            expect.memory.extend(blocks.into_iter().flatten());
            mistakes.extend(wrong.into_iter().filter_map(Result::err));
            continue;
        }
        let number = value.as_u64().and_then(|value| u16::try_from(value).ok());
        match (register_value(&Registers::default(), name), number) {
            (None, _) => mistakes.push(format!("unknown register '{}'", name.escaped())),
            (_, None) => mistakes.push(format!("{}: expected 0 to 65535", name.escaped())),
            (_, Some(value)) => expect_value(expect, name, value),
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes.join("; ")) }
}

/// Expects a value of a register or flag; by a condition where the test file has an expectation of
/// its own, or can't have one.
pub(super) fn expect_value(expect: &mut Expectation, name: &str, value: u16) {
    if !expect_flag(&mut expect.flags, name, value) && !expect_register(expect, name, value) {
        let text = format!("out.{name} == {value}");
        let parsed = Expression::parse(&text, u32::MAX, &|word| {
            (word.strip_prefix("out.") == Some(name)).then_some(Name::Variable)
        });
        expect.checks.extend(parsed.ok().map(|condition| (text, condition)));
    }
}

/// Adds a flag. Returns `false` if the name is that of no flag, or another value is expected.
fn expect_flag(flags: &mut Flags, name: &str, value: u16) -> bool {
    let Some((_, bit)) = FLAGS.iter().find(|(flag, _)| flag.eq_ignore_ascii_case(name)) else {
        return false;
    };
    let bit = *bit as u8;
    let is_free = value <= 1 && flags.mask & bit == 0;
    if is_free {
        flags.mask |= bit;
        flags.value |= if value == 1 { bit } else { 0 };
    }
    is_free
}

/// Adds a register. Returns `false` if there can be no such expectation, or another is there.
fn expect_register(expect: &mut Expectation, name: &str, value: u16) -> bool {
    let Some(name) = canonical_register_name(name).filter(|name| is_output(name)) else {
        return false;
    };
    let fits = register_halves(name).len() > 1 || value <= 0xFF;
    let is_free = fits && expect.registers().all(|other| other != name);
    if is_free {
        expect.values.push((Measure::Register(name), Matcher::equal(value.into())));
    }
    is_free
}

/// Reads the bytes that a reply expects at a label.
fn memory(label: &str, bytes: &Value, program: &Program) -> Result<ExpectedMemory, String> {
    let byte = |byte: &Value| byte.as_u64().and_then(|byte| u8::try_from(byte).ok());
    let elements = bytes.as_array().map(|bytes| bytes.iter().map(byte).collect::<Option<_>>());
    let elements: Vec<u8> = elements
        .flatten()
        .ok_or_else(|| format!("memory: {}: expected an array of 0 to 255", label.escaped()))?;
    let address = program.map.symbol(label);
    let address = address.ok_or_else(|| format!("unknown label '{}'", label.escaped()))?;
    let elements = elements.iter().map(|byte| Matcher::equal((*byte).into())).collect();
    let name = if is_name(label) { label.to_owned() } else { format!("0{address:04X}H") };
    Ok(ExpectedMemory { name, address, width: 1, elements })
}

/// Returns `true` if a test file can name a label as it is.
fn is_name(label: &str) -> bool {
    let name = |word: &str| (word == label).then_some(Name::Constant(0));
    !is_number(label) && Expression::parse(label, u32::MAX, &name).is_ok()
}
