//! What a judge expects of a call, as expectations of a test file.

use cli_support::text::Escape;
use serde_json::Value;
use z80_core::{Expression, FLAGS, Name, canonical_register_name, parse_number, register_value};

use crate::machine::Outcome;
use crate::matcher::Matcher;
use crate::model::{Expectation, ExpectedMemory, FLAG_NAMES, halves};
use crate::parse::is_output;
use crate::program::Program;

/// What a judge expects of a call.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// Registers and flags by name.
    values: Vec<(String, u16)>,
    memory: Vec<ExpectedMemory>,
}

impl Expected {
    /// Returns the outputs of another routine.
    pub(super) fn of_outcome(outcome: &Outcome, outputs: &[&str]) -> Self {
        let value = |name: &&str| register_value(&outcome.registers, name).unwrap_or(0);
        let values = outputs.iter().map(|name| ((*name).to_owned(), value(name)));
        Self { values: values.collect(), memory: Vec::new() }
    }

    /// Returns what a reference replies. `null` accepts anything.
    ///
    /// # Errors
    /// Returns a message if the reply names something unknown or has a value of another type.
    pub(super) fn of_reply(reply: &Value, program: &Program) -> Result<Self, String> {
        let mut expected = Self::default();
        if reply.is_null() {
            return Ok(expected);
        }
        for (name, value) in reply.as_object().ok_or("expected an object such as {\"HL\": 21}")? {
            if name == "memory" {
                expected.memory = memory(value, program)?;
                continue;
            }
            if register_value(&z80_core::Registers::default(), name).is_none() {
                return Err(format!("unknown register '{}'", name.escaped()));
            }
            let value = value.as_u64().and_then(|value| u16::try_from(value).ok());
            let value = value.ok_or_else(|| format!("{}: expected 0 to 65535", name.escaped()))?;
            expected.values.push((name.clone(), value));
        }
        Ok(expected)
    }

    /// Adds this to the expectations of a test file; as a condition where these have a value of
    /// their own, or can't express it.
    pub(super) fn add_to(self, expect: &mut Expectation) {
        expect.memory.extend(self.memory);
        for (name, value) in &self.values {
            if !add_flag(expect, name, *value) && !add_register(expect, name, *value) {
                let text = format!("out.{name} == {value}");
                let parsed = Expression::parse(&text, u32::MAX, &|word| {
                    (word.strip_prefix("out.") == Some(name)).then_some(Name::Variable)
                });
                expect.checks.extend(parsed.ok().map(|condition| (text, condition)));
            }
        }
    }
}

/// Adds a flag. Returns `false` if the name is that of no flag, or another value is expected.
fn add_flag(expect: &mut Expectation, name: &str, value: u16) -> bool {
    let Some((_, bit)) = FLAGS.iter().find(|(flag, _)| flag.eq_ignore_ascii_case(name)) else {
        return false;
    };
    let bit = *bit as u8;
    let is_free = value <= 1 && expect.flags.0 & bit == 0;
    if is_free && FLAG_NAMES.iter().any(|(_, mask, _)| *mask == bit) {
        expect.flags.0 |= bit;
        expect.flags.1 |= if value == 1 { bit } else { 0 };
    }
    is_free
}

/// Adds a register. Returns `false` if there can be no such expectation, or another is there.
fn add_register(expect: &mut Expectation, name: &str, value: u16) -> bool {
    let Some(name) = canonical_register_name(name).filter(|name| is_output(name)) else {
        return false;
    };
    let fits = halves(name).count() > 1 || value <= 0xFF;
    let is_free = fits && expect.registers.iter().all(|(other, _)| *other != name);
    if is_free {
        expect.registers.push((name, Matcher::equal(value.into())));
    }
    is_free
}

fn memory(reply: &Value, program: &Program) -> Result<Vec<ExpectedMemory>, String> {
    let mut all = Vec::new();
    for (label, bytes) in reply.as_object().ok_or("memory: expected an object")? {
        let byte = |byte: &Value| byte.as_u64().and_then(|byte| u8::try_from(byte).ok());
        let bytes = bytes.as_array().map(|bytes| bytes.iter().map(byte).collect::<Option<_>>());
        let bytes: Vec<u8> = bytes.flatten().ok_or("memory: expected arrays of 0 to 255")?;
        let address = program.map.symbol(label);
        let address = address.ok_or_else(|| format!("unknown label '{}'", label.escaped()))?;
        let elements = bytes.iter().map(|byte| Matcher::equal((*byte).into())).collect();
        let name = if is_name(label) { label.clone() } else { format!("0{address:04X}H") };
        all.push(ExpectedMemory { name, address, width: 1, elements });
    }
    Ok(all)
}

/// Returns `true` if a test file can name a label as it is.
fn is_name(label: &str) -> bool {
    let name = |word: &str| (word == label).then_some(Name::Constant(0));
    parse_number(label).is_none() && Expression::parse(label, u32::MAX, &name).is_ok()
}
