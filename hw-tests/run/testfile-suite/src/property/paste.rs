//! Writes a failing input as a case of a test file.

use cli_support::text::Escape;
use z80_core::{canonical_register_name, register_value};

use crate::calls::single_call;
use crate::matcher::Matcher;
use crate::model::{Property, Step, TestFile, flag_names};
use crate::written::{array, quoted, table};

use super::Failure;
use super::generate::Input;

/// Formats the values of an input: `A = 3, DE = 7, BUFFER = [1, 2]`.
pub(super) fn values(property: &Property, input: &Input) -> String {
    let registers = property.args.iter().zip(&input.registers);
    let registers = registers.map(|((name, _), value)| format!("{name} = {value}"));
    let blocks = property.blocks.iter().zip(&input.blocks);
    let blocks = blocks.map(|(block, bytes)| format!("{} = {bytes:?}", block.name.escaped()));
    registers.chain(blocks).collect::<Vec<_>>().join(", ")
}

/// Returns a case that repeats a failing call: the property as its file writes it, with the values
/// of the input and what the judge expects.
pub(super) fn case(
    file: &TestFile,
    property: &Property,
    failure: &Failure,
    origin: &str,
) -> String {
    let Failure { step, is_of_other, .. } = failure;
    let written = &property.written;
    let name = quoted(&format!("{}, by {origin}", property.heading.name));
    let mut fields = vec![("name".to_owned(), name), ("call".to_owned(), quoted(&step.target))];
    fields.extend(written.fields.iter().cloned());
    let mut add = |name: &str, value: String, is_empty: bool| {
        if !is_empty {
            fields.push((name.to_owned(), value));
        }
    };
    let inputs = inputs(file, property, step);
    add("in", table(inputs.iter().cloned()), inputs.is_empty());
    let generated = property.blocks.iter().zip(&step.memory[property.step.memory.len()..]);
    let generated = generated.map(|(block, memory)| bytes_at(&block.name, &memory.bytes));
    let memory: Vec<_> = written.memory.iter().cloned().chain(generated).collect();
    add("memory", array(memory.iter().cloned()), memory.is_empty());
    if !is_of_other {
        let checks = &step.expect.checks;
        add("check", array(checks.iter().map(|(text, _)| quoted(text))), checks.is_empty());
        let expected = expectations(property, step);
        add("expect", table(expected.iter().cloned()), expected.is_empty());
    }
    let lines = fields.iter().map(|(name, value)| format!("{name} = {value}\n"));
    format!("[[case]]\n{}", lines.collect::<String>())
}

fn bytes_at(address: &str, bytes: &[u8]) -> String {
    let bytes = ("bytes".to_owned(), format!("{bytes:?}"));
    table([("at".to_owned(), quoted(address)), bytes])
}

/// Returns the registers and flags that are set. A register that shares a part with a later one has
/// the value that the call starts with, as a file has no order.
fn inputs(file: &TestFile, property: &Property, step: &Step) -> Vec<(String, String)> {
    let registers = single_call(file, step).registers;
    let value = |name: &str| register_value(&registers, name).unwrap_or(0);
    let mut inputs = property.written.inputs.clone();
    for (name, text) in &mut inputs {
        let Some(register) = canonical_register_name(name) else { continue };
        let given = property.step.registers.iter().rfind(|(other, _)| *other == register);
        if given.is_none_or(|(_, given)| *given != value(register)) {
            *text = value(register).to_string();
        }
    }
    for (register, _) in &step.registers[property.step.registers.len()..] {
        let is_given =
            |(name, _): &(String, String)| canonical_register_name(name) == Some(register);
        if !inputs.iter().any(is_given) {
            inputs.push(((*register).to_owned(), value(register).to_string()));
        }
    }
    inputs
}

/// Returns the expectations of the property and of the judge.
fn expectations(property: &Property, step: &Step) -> Vec<(String, String)> {
    let (own, all) = (&property.step.expect, &step.expect);
    let is_replaced = |name: &str| match name {
        "flags" => own.flags != all.flags,
        "memory" => own.memory.len() != all.memory.len(),
        _ => false,
    };
    let written = property.written.expect.iter().filter(|(name, _)| !is_replaced(name));
    let mut expected: Vec<_> = written.cloned().collect();
    for (name, matcher) in &all.registers[own.registers.len()..] {
        expected.extend(matcher.value().map(|value| ((*name).to_owned(), value.to_string())));
    }
    if is_replaced("flags") {
        expected.push(("flags".to_owned(), quoted(&flag_names(all.flags))));
    }
    if is_replaced("memory") {
        let judged = all.memory[own.memory.len()..].iter().map(|memory| {
            let bytes = memory.elements.iter().filter_map(Matcher::value).map(|byte| byte as u8);
            bytes_at(&memory.name, &bytes.collect::<Vec<_>>())
        });
        let memory = property.written.expected_memory.iter().cloned().chain(judged);
        expected.push(("memory".to_owned(), array(memory)));
    }
    expected
}
