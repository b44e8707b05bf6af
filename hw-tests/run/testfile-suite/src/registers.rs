//! Registers and flags by the names that test files use.

use std::collections::BTreeSet;

use cli_support::text::Escape;
use z80_core::{
    FLAGS, REGISTER_HALVES, Registers, canonical_register_name, register_halves, register_value,
};

/// Returns the value of a register or flag, by a name that is known.
pub(crate) fn value(registers: &Registers, name: &str) -> u16 {
    register_value(registers, name).unwrap_or(0)
}

/// Returns `true` for the registers that calls set and return, by their canonical names.
pub(crate) fn is_output(register: &str) -> bool {
    !matches!(register, "SP" | "PC" | "I" | "R" | "SPH" | "SPL")
}

/// Returns the canonical name of a register that calls set and return.
pub(crate) fn register(name: &str) -> Result<&'static str, String> {
    let known = canonical_register_name(name).filter(|name| is_output(name));
    let name = name.escaped();
    known.ok_or_else(|| format!("unknown register '{name}': expected one such as A, HL, IX or B'"))
}

/// Returns the canonical name of a register that a call of a test file sets or leaves: also I and R,
/// which only a simulated machine can.
pub(crate) fn call_register(name: &str) -> Result<&'static str, String> {
    match canonical_register_name(name) {
        Some(name) if is_simulated_only(name) => Ok(name),
        _ => register(name),
    }
}

/// Returns `true` for I and R, by their canonical names.
pub(crate) fn is_simulated_only(register: &str) -> bool {
    matches!(register, "I" | "R")
}

/// Returns the canonical name of a register or a flag that calls return.
pub(crate) fn output(name: &str) -> Result<&'static str, String> {
    match FLAGS.iter().find(|(flag, _)| flag.eq_ignore_ascii_case(name)) {
        Some((flag, _)) => Ok(flag),
        None => register(name),
    }
}

/// Returns the halves of registers in a list such as `AF, BC, HL'`.
pub(crate) fn clobbers(text: &str) -> Result<BTreeSet<&'static str>, String> {
    let mut all = BTreeSet::new();
    let is_separator = |c: char| c == ',' || c.is_whitespace();
    for word in text.split(is_separator).filter(|word| !word.is_empty()) {
        match word {
            "all" => all.extend(REGISTER_HALVES),
            _ => all.extend(register_halves(register(word)?)),
        }
    }
    Ok(all)
}

/// The name of a variable in a condition without `in.` or `out.`.
pub(crate) fn without_prefix(variable: &str) -> &str {
    variable.strip_prefix("in.").or_else(|| variable.strip_prefix("out.")).unwrap_or(variable)
}

/// Returns `true` if a variable of a condition is an input: of `in.`, or all of a register that the
/// test gives, whose halves these are.
pub(crate) fn is_input(variable: &str, given: &BTreeSet<&str>) -> bool {
    let mut all =
        canonical_register_name(variable).into_iter().flat_map(register_halves).peekable();
    let is_given = all.peek().is_some() && all.all(|half| given.contains(half));
    is_given || variable.starts_with("in.")
}
