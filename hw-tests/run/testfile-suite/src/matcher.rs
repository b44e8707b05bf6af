//! Expected values: a value, or operators.

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
#[allow(missing_docs, reason = "each is the operator of that name")]
pub enum Test {
    Eq(u32),
    Ne(u32),
    Lt(u32),
    Le(u32),
    Gt(u32),
    Ge(u32),
    AnyOf(Vec<u32>),
}

impl Matcher {
    /// Expects a value.
    #[must_use]
    pub fn equal(value: u32) -> Self {
        Self { mask: None, tests: vec![Test::Eq(value)] }
    }

    /// Returns `true` if the value is as expected.
    #[must_use]
    pub fn accepts(&self, value: u32) -> bool {
        let value = value & self.mask.unwrap_or(u32::MAX);
        self.tests.iter().all(|test| match test {
            Test::Eq(other) => value == *other,
            Test::Ne(other) => value != *other,
            Test::Lt(other) => value < *other,
            Test::Le(other) => value <= *other,
            Test::Gt(other) => value > *other,
            Test::Ge(other) => value >= *other,
            Test::AnyOf(all) => all.contains(&value),
        })
    }

    /// Returns the only value that is accepted, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<u32> {
        match (&self.mask, self.tests.as_slice()) {
            (None, [Test::Eq(value)]) => Some(*value),
            _ => None,
        }
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, test) in self.tests.iter().enumerate() {
            f.write_str(if index > 0 { " and " } else { "" })?;
            match test {
                Test::Eq(value) => write!(f, "{}", number(*value))?,
                Test::Ne(value) => write!(f, "not {}", number(*value))?,
                Test::Lt(value) => write!(f, "less than {}", number(*value))?,
                Test::Le(value) => write!(f, "at most {}", number(*value))?,
                Test::Gt(value) => write!(f, "more than {}", number(*value))?,
                Test::Ge(value) => write!(f, "at least {}", number(*value))?,
                Test::AnyOf(all) => {
                    let all: Vec<_> = all.iter().map(|value| number(*value)).collect();
                    write!(f, "one of {}", all.join(", "))?;
                }
            }
        }
        if self.tests.is_empty() {
            f.write_str("anything")?;
        }
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
        let accepted = |test: Test| {
            let matcher = Matcher { mask: None, tests: vec![test] };
            [4, 5, 6].map(|value| matcher.accepts(value))
        };
        assert_eq!(accepted(Test::Eq(5)), [false, true, false]);
        assert_eq!(accepted(Test::Ne(5)), [true, false, true]);
        assert_eq!(accepted(Test::Lt(5)), [true, false, false]);
        assert_eq!(accepted(Test::Le(5)), [true, true, false]);
        assert_eq!(accepted(Test::Gt(5)), [false, false, true]);
        assert_eq!(accepted(Test::Ge(5)), [false, true, true]);
        assert_eq!(accepted(Test::AnyOf(vec![4, 6])), [true, false, true]);
        let masked = Matcher { mask: Some(0xF0), tests: vec![Test::Eq(0x30)] };
        assert!(masked.accepts(0x3F) && !masked.accepts(0x40));
        assert_eq!(masked.to_string(), "48 (30H) in the bits 240 (F0H)");
    }
}
