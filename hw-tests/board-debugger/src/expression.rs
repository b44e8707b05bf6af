//! Conditions of breakpoints, such as `E == 3 && [M3] == 41H`.

use firmware::code_map::CodeMap;
use z80_core::{Expression, ExpressionError, Name, Registers, Values, register_value};

/// An expression over registers, memory and labels.
///
/// The syntax is that of [`Expression`]. Names are registers (`A`, `HL`, `B'`), flags (`FZ`) or
/// labels, whose value is their address. All values have 16 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition(Expression);

struct Moment<'m> {
    registers: &'m Registers,
    read: &'m dyn Fn(u16) -> u8,
}

impl Values for Moment<'_> {
    fn value(&self, name: &str) -> i64 {
        register_value(self.registers, name).unwrap_or(0).into()
    }

    fn byte(&self, address: u16) -> u8 {
        (self.read)(address)
    }

    fn limit(&self, value: i64) -> i64 {
        value & 0xFFFF
    }
}

impl Condition {
    /// Parses a condition; labels are resolved now.
    ///
    /// # Errors
    /// Returns `ExpressionError` if the syntax is invalid or a name unknown.
    pub fn parse(text: &str, code: &CodeMap) -> Result<Self, ExpressionError> {
        let name = |word: &str| match register_value(&Registers::default(), word) {
            Some(_) => Some(Name::Variable),
            // A number has priority over a label that looks like it.
            None if z80_core::parse_number(word).is_some() => None,
            None => code.symbol(word).map(Name::Constant),
        };
        Expression::parse(text, 0xFFFF, &name).map(Self)
    }

    /// Evaluates the condition; it holds if the value is not 0.
    pub fn value(&self, registers: &Registers, read: &dyn Fn(u16) -> u8) -> u16 {
        self.0.value(&Moment { registers, read }) as u16
    }
}
