//! Expected values: a value, or operators.

use std::cmp::Ordering::{self, Equal, Greater, Less};
use std::fmt;

/// Conditions on a value, all of which must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matcher {
    /// The bits that count; `None` for all.
    pub mask: Option<u32>,
    /// The conditions.
    pub tests: Vec<Test>,
}

/// A condition on a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// How the value compares.
    pub operator: &'static Operator,
    /// What it is compared with: one number, or several of [`Operator::ANY_OF`].
    pub operands: Vec<u32>,
}

/// How a value compares with an operand.
#[derive(Debug, PartialEq, Eq)]
pub struct Operator {
    /// The key in a test file.
    pub key: &'static str,
    /// The words before the operand in messages.
    words: &'static str,
    /// The orderings of value and operand that are accepted.
    accepted: &'static [Ordering],
}

impl Operator {
    /// Equal.
    pub const EQ: &Self = &Self { key: "eq", words: "", accepted: &[Equal] };
    /// Less or equal.
    pub const LE: &Self = &Self { key: "le", words: "at most ", accepted: &[Less, Equal] };
    /// Greater or equal.
    pub const GE: &Self = &Self { key: "ge", words: "at least ", accepted: &[Equal, Greater] };
    /// Equal to one of several.
    pub const ANY_OF: &Self = &Self { key: "any_of", words: "one of ", accepted: &[Equal] };
    /// All operators, in the order of messages.
    pub const ALL: [&Self; 7] = [
        Self::EQ,
        &Self { key: "ne", words: "not ", accepted: &[Less, Greater] },
        &Self { key: "lt", words: "less than ", accepted: &[Less] },
        Self::LE,
        &Self { key: "gt", words: "more than ", accepted: &[Greater] },
        Self::GE,
        Self::ANY_OF,
    ];
}

impl Test {
    fn accepts(&self, value: u32) -> bool {
        self.operands.iter().any(|other| self.operator.accepted.contains(&value.cmp(other)))
    }
}

impl Matcher {
    /// Expects a value.
    pub fn equal(value: u32) -> Self {
        Self::new([(Operator::EQ, value)])
    }

    /// Expects that a value compares so with each operand.
    pub fn new(tests: impl IntoIterator<Item = (&'static Operator, u32)>) -> Self {
        let test = |(operator, operand)| Test { operator, operands: vec![operand] };
        Self { mask: None, tests: tests.into_iter().map(test).collect() }
    }

    /// Returns `true` if the value is as expected.
    pub fn accepts(&self, value: u32) -> bool {
        let value = value & self.mask.unwrap_or(u32::MAX);
        self.tests.iter().all(|test| test.accepts(value))
    }

    /// Returns the only value that is accepted, if there is one.
    pub fn value(&self) -> Option<u32> {
        match (self.mask, &self.tests[..]) {
            (None, [test]) if test.operator == Operator::EQ => test.operands.first().copied(),
            _ => None,
        }
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let test = |Test { operator, operands }: &Test| {
            let operands: Vec<_> = operands.iter().map(|value| number(*value)).collect();
            operator.words.to_owned() + &operands.join(", ")
        };
        let tests: Vec<_> = self.tests.iter().map(test).collect();
        f.write_str(if tests.is_empty() { "anything" } else { "" })?;
        f.write_str(&tests.join(" and "))?;
        self.mask.map_or(Ok(()), |mask| write!(f, " in the bits {}", number(mask)))
    }
}

/// Formats a number in decimal and, where it differs, in hexadecimal: `21 (15H)`.
pub(crate) fn number(value: u32) -> String {
    if value < 10 { value.to_string() } else { format!("{value} ({value:02X}H)") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_accept_and_refuse() {
        let accepted = |key, operands: &[u32]| {
            let operator = *Operator::ALL.iter().find(|one| one.key == key).expect(key);
            let test = Test { operator, operands: operands.to_vec() };
            let matcher = Matcher { mask: None, tests: vec![test] };
            [4, 5, 6].map(|value| matcher.accepts(value))
        };
        assert_eq!(accepted("eq", &[5]), [false, true, false]);
        assert_eq!(accepted("ne", &[5]), [true, false, true]);
        assert_eq!(accepted("lt", &[5]), [true, false, false]);
        assert_eq!(accepted("le", &[5]), [true, true, false]);
        assert_eq!(accepted("gt", &[5]), [false, false, true]);
        assert_eq!(accepted("ge", &[5]), [false, true, true]);
        assert_eq!(accepted("any_of", &[4, 6]), [true, false, true]);
        let masked = Matcher { mask: Some(0xF0), ..Matcher::equal(0x30) };
        assert!(masked.accepts(0x3F) && !masked.accepts(0x40));
        assert_eq!(masked.to_string(), "48 (30H) in the bits 240 (F0H)");
    }
}
