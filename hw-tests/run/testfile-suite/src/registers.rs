//! Registers and flags by the names that test files use.

use std::collections::BTreeSet;
use std::fmt;
use std::iter::Copied;
use std::slice;
use std::str::FromStr;

use cli_support::text::Escape;
use z80_core::{FLAGS, Registers, canonical_register_name, register_value};

/// Registers of eight bits that can be kept or clobbered.
pub(crate) static HALVES: [&str; 20] = [
    "A", "F", "B", "C", "D", "E", "H", "L", "IXH", "IXL", "IYH", "IYL", "A'", "F'", "B'", "C'",
    "D'", "E'", "H'", "L'",
];
/// The register pairs, in the order of their halves in [`HALVES`].
const PAIRS: [&str; 10] = ["AF", "BC", "DE", "HL", "IX", "IY", "AF'", "BC'", "DE'", "HL'"];
/// Flags by name: mask and value in F.
const FLAG_NAMES: [(&str, u8, u8); 12] = [
    ("C", 0x01, 0x01),
    ("NC", 0x01, 0x00),
    ("N", 0x02, 0x02),
    ("NN", 0x02, 0x00),
    ("PE", 0x04, 0x04),
    ("PO", 0x04, 0x00),
    ("H", 0x10, 0x10),
    ("NH", 0x10, 0x00),
    ("Z", 0x40, 0x40),
    ("NZ", 0x40, 0x00),
    ("M", 0x80, 0x80),
    ("P", 0x80, 0x00),
];

/// Returns the halves of a register, by its canonical name; none for `SP`, `PC`, `I` and `R`.
pub(crate) fn halves(register: &str) -> Copied<slice::Iter<'static, &'static str>> {
    let half = HALVES.iter().position(|half| *half == register).map(|at| at..at + 1);
    let pair = || PAIRS.iter().position(|pair| *pair == register).map(|at| 2 * at..2 * at + 2);
    HALVES[half.or_else(pair).unwrap_or_default()].iter().copied()
}

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
            "all" => all.extend(HALVES),
            _ => all.extend(halves(register(word)?)),
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
    let mut all = canonical_register_name(variable).into_iter().flat_map(halves).peekable();
    let is_given = all.peek().is_some() && all.all(|half| given.contains(half));
    is_given || variable.starts_with("in.")
}

/// Flags that are set or expected, in a test file such as `C NZ`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// The bits of F that count.
    pub mask: u8,
    /// Their values.
    pub value: u8,
}

impl FromStr for Flags {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut flags = Self::default();
        for word in text.split_whitespace() {
            let Some((_, bit, set)) = FLAG_NAMES.iter().find(|(name, ..)| *name == word) else {
                let names = FLAG_NAMES.map(|(name, ..)| name).join(" ");
                return Err(format!("unknown flag '{}': expected some of {names}", word.escaped()));
            };
            if flags.mask & bit != 0 {
                return Err(format!("the flag of {word} is given twice"));
            }
            flags.mask |= bit;
            flags.value |= set;
        }
        Ok(flags)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_shown =
            |(_, bit, set): &&(&str, u8, u8)| self.mask & bit != 0 && self.value & bit == *set;
        let shown = FLAG_NAMES.iter().filter(is_shown).map(|(name, ..)| *name);
        f.write_str(&shown.collect::<Vec<_>>().join(" "))
    }
}
