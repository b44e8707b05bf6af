//! Writes a failing input as a case of a test file.

use std::fmt::Write;

use cli_support::text::Escape;

use crate::machine::{Entry, Interrupt};
use crate::model::{Property, flag_names};

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

/// Returns a case that repeats a failing call.
pub(super) fn case(property: &Property, failure: &Failure, origin: &str) -> String {
    let Failure { step, expected, .. } = failure;
    let mut text = String::new();
    // Writing to a string never fails.
    let mut line = |line: String| {
        let _ = writeln!(text, "{line}");
    };
    line("[[case]]".to_owned());
    line(format!("name = {}", quoted(&format!("{}, by {origin}", property.heading.name))));
    line(format!("call = {}", quoted(&step.target)));
    match step.entry {
        Entry::Call => {}
        Entry::Interrupt => line("as = \"interrupt\"".to_owned()),
        Entry::NonMaskable => line("as = \"nmi\"".to_owned()),
        Entry::Until(address) => line(format!("until = 0x{address:04X}")),
    }
    let interrupts: Vec<_> = step.interrupts.iter().map(interrupt).collect();
    if !interrupts.is_empty() {
        line(format!("interrupt = [{}]", interrupts.join(", ")));
    }
    if !step.input.is_empty() {
        line(format!("input = {}", quoted(&String::from_utf8_lossy(&step.input))));
    }
    let mut inputs: Vec<String> =
        step.registers.iter().map(|(name, value)| format!("{} = {value}", key(name))).collect();
    if step.flags.0 != 0 {
        inputs.push(format!("flags = {}", quoted(&flag_names(step.flags))));
    }
    if !inputs.is_empty() {
        line(format!("in = {{ {} }}", inputs.join(", ")));
    }
    let blocks = step
        .memory
        .iter()
        .map(|block| format!("{{ at = 0x{:04X}, bytes = {:?} }}", block.address, block.bytes));
    let blocks: Vec<_> = blocks.collect();
    if !blocks.is_empty() {
        line(format!("memory = [{}]", blocks.join(", ")));
    }
    let checks: Vec<_> = step.expect.checks.iter().map(|(check, _)| quoted(check)).collect();
    if !checks.is_empty() {
        line(format!("check = [{}]", checks.join(", ")));
    }
    let expected = expected.iter().filter(|(name, _)| !is_flag(name));
    let expected: Vec<_> =
        expected.map(|(name, value)| format!("{} = {value}", key(name))).collect();
    let flags = flags(failure);
    let flags = (!flags.is_empty()).then(|| format!("flags = {}", quoted(&flags)));
    let expected: Vec<_> = expected.into_iter().chain(flags).collect();
    if !expected.is_empty() {
        line(format!("expect = {{ {} }}", expected.join(", ")));
    }
    text
}

/// Formats an interrupt: `{ at = 100, kind = "int", bus = 255 }`.
fn interrupt(interrupt: &Interrupt) -> String {
    let Interrupt { at, period, non_maskable, bus, handler } = interrupt;
    let kind = if *non_maskable { "nmi" } else { "int" };
    let period = period.map(|period| format!(", period = {period}")).unwrap_or_default();
    let handler = handler.map(|at| format!(", handler = 0x{at:04X}")).unwrap_or_default();
    format!("{{ at = {at}, kind = \"{kind}\", bus = {bus}{period}{handler} }}")
}

fn is_flag(name: &str) -> bool {
    z80_core::FLAGS.iter().any(|(flag, _)| *flag == name)
}

/// The expected flags as in a test file.
fn flags(failure: &Failure) -> String {
    let (mut mask, mut value) = (0, 0);
    for (name, bit) in z80_core::FLAGS {
        if let Some((_, set)) = failure.expected.iter().find(|(other, _)| other == name) {
            mask |= bit as u8;
            value |= if *set != 0 { bit as u8 } else { 0 };
        }
    }
    flag_names((mask, value))
}

/// Returns a key of TOML; those of the second register set need quotes.
fn key(name: &str) -> String {
    if name.contains('\'') { quoted(name) } else { name.to_owned() }
}

/// Returns a basic string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
