//! Writes a failing input as a case of a test file.

use z80_core::canonical_register_name;

use super::{Failure, Trial};
use crate::case::single_call;
use crate::machine::Measure;
use crate::matcher::Matcher;
use crate::model::{Expectation, Step};
use crate::registers::value;
use crate::written::{Written, field};

/// Keys of a call for which a case of one input has other values.
const REWRITTEN: [&str; 6] = ["name", "call", "in", "memory", "expect", "check"];

/// Returns a case that repeats a failing call: the property as its file writes it, with the values
/// of the input and what the judge expects.
pub(super) fn case(trial: &Trial<'_>, failure: &Failure, origin: &str) -> String {
    let (Failure { step, is_of_other, .. }, property) = (failure, trial.property);
    let name = format!("{}, by {origin}", trial.case.heading.name);
    let kept = property.written.iter().filter(|(key, _)| !REWRITTEN.contains(&&key[..])).cloned();
    let mut fields: Vec<_> = [
        ("name".to_owned(), Written::text(&name)),
        ("call".to_owned(), Written::text(&step.target)),
    ]
    .into_iter()
    .chain(kept)
    .collect();
    let mut add = |name: &str, value: Written| {
        if !value.is_empty() {
            fields.push((name.to_owned(), value));
        }
    };
    add("in", Written::Table(inputs(trial, step)));
    let mut memory = elements(&property.written, "memory");
    let generated =
        property.blocks.iter().zip(&step.call.memory[trial.case.steps[0].call.memory.len()..]);
    memory.extend(generated.map(|(block, memory)| bytes_at(&block.name, &memory.bytes)));
    add("memory", Written::Array(memory));
    if !is_of_other {
        let checks = step.expect.checks.iter().map(|(text, _)| Written::text(text));
        add("check", Written::Array(checks.collect()));
        add("expect", Written::Table(expectations(trial, &step.expect)));
    }
    let lines = fields.iter().map(|one| field(one) + "\n");
    format!("[[case]]\n{}", lines.collect::<String>())
}

/// Returns the fields of a table that a file writes; none if it lacks that.
fn fields_of(fields: &[(String, Written)], key: &str) -> Vec<(String, Written)> {
    match fields.iter().find(|(name, _)| name == key) {
        Some((_, Written::Table(fields))) => fields.clone(),
        _ => Vec::new(),
    }
}

/// Returns the elements of an array that a file writes; none if it lacks that.
fn elements(fields: &[(String, Written)], key: &str) -> Vec<Written> {
    match fields.iter().find(|(name, _)| name == key) {
        Some((_, Written::Array(elements))) => elements.clone(),
        _ => Vec::new(),
    }
}

fn bytes_at(address: &str, bytes: &[u8]) -> Written {
    let (at, bytes) = (Written::text(address), Written::number(bytes));
    Written::Table(vec![("at".to_owned(), at), ("bytes".to_owned(), bytes)])
}

/// Returns the registers and flags that are set. A register that shares a part with a later one has
/// the value that the call starts with, as a file has no order.
fn inputs(trial: &Trial<'_>, step: &Step) -> Vec<(String, Written)> {
    let registers = single_call(trial.run.file, step).registers;
    let of_all = &trial.case.steps[0].registers;
    let mut inputs = fields_of(&trial.property.written, "in");
    for (name, written) in &mut inputs {
        let Some(register) = canonical_register_name(name) else { continue };
        let given = of_all.iter().rfind(|(other, _)| *other == register);
        if given.is_none_or(|(_, given)| *given != value(&registers, register)) {
            *written = Written::number(value(&registers, register));
        }
    }
    for (register, _) in &step.registers[of_all.len()..] {
        let is_given =
            |(name, _): &(String, Written)| canonical_register_name(name) == Some(register);
        if !inputs.iter().any(is_given) {
            inputs.push(((*register).to_owned(), Written::number(value(&registers, register))));
        }
    }
    inputs
}

/// Returns the expectations of the property and of the judge.
fn expectations(trial: &Trial<'_>, all: &Expectation) -> Vec<(String, Written)> {
    let own = &trial.case.steps[0].expect;
    let mut expected = fields_of(&trial.property.written, "expect");
    for (measure, matcher) in &all.values[own.values.len()..] {
        if let (Measure::Register(name), Some(value)) = (measure, matcher.value()) {
            expected.push(((*name).to_owned(), Written::number(value)));
        }
    }
    if own.flags != all.flags {
        expected.retain(|(name, _)| name != "flags");
        expected.push(("flags".to_owned(), Written::text(&all.flags.to_string())));
    }
    if own.memory.len() != all.memory.len() {
        let mut memory = elements(&expected, "memory");
        expected.retain(|(name, _)| name != "memory");
        memory.extend(all.memory[own.memory.len()..].iter().map(|memory| {
            let bytes = memory.elements.iter().filter_map(Matcher::value).map(|byte| byte as u8);
            bytes_at(&memory.name, &bytes.collect::<Vec<_>>())
        }));
        expected.push(("memory".to_owned(), Written::Array(memory)));
    }
    expected
}
