//! Expressions for conditions and displays, such as `E == 3 && [M3] == 41H`, and log messages.

use firmware::code_map::CodeMap;
use z80_core::{Expression, ExpressionError, Name, Registers, Values, register_value};

/// An expression over registers, memory and labels.
///
/// The syntax is that of [`Expression`]. Names are registers (`A`, `HL`, `B'`), flags (`FZ`) or
/// labels, whose value is their address. All values have 16 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundExpression(Expression);

/// The registers and the memory that expressions read.
pub trait MachineState {
    /// The registers of the processor.
    fn registers(&self) -> Registers;

    /// The byte at an address.
    fn peek(&self, address: u16) -> u8;
}

impl Values for &dyn MachineState {
    fn value(&self, name: &str) -> i64 {
        register_value(&self.registers(), name).unwrap_or(0).into()
    }

    fn byte(&self, address: u16) -> u8 {
        self.peek(address)
    }

    fn limit(&self, value: i64) -> i64 {
        value & 0xFFFF
    }
}

impl BoundExpression {
    /// Parses an expression; labels are resolved now.
    ///
    /// # Errors
    /// Returns `ExpressionError` if the syntax is invalid or a name unknown.
    pub fn parse(text: &str, code: &CodeMap) -> Result<Self, ExpressionError> {
        Self::parse_at(text, code, None)
    }

    /// Parses an expression; a local label `..L` is that of the routine at an address.
    ///
    /// # Errors
    /// Returns `ExpressionError` if the syntax is invalid or a name unknown.
    pub fn parse_at(text: &str, code: &CodeMap, at: Option<u16>) -> Result<Self, ExpressionError> {
        let name = |word: &str| match register_value(&Registers::default(), word) {
            Some(_) => Some(Name::Variable),
            // A number has priority over a label that looks like it.
            None if z80_core::is_number(word) => None,
            None if word.starts_with("..") => {
                at.and_then(|at| code.local_label(word, at)).map(Name::Constant)
            }
            None => code.symbol(word).map(Name::Constant),
        };
        Expression::parse(text, 0xFFFF, &name).map(Self).map_err(|error| match error {
            ExpressionError::UnknownName(word) => match code.find_symbol(&word) {
                Err(ambiguous) => ExpressionError::AmbiguousName(ambiguous.to_string()),
                Ok(_) => ExpressionError::UnknownName(word),
            },
            other => other,
        })
    }

    /// Evaluates the expression; as a condition it holds if the value is not 0.
    pub fn value(&self, state: &dyn MachineState) -> u16 {
        self.signed_value(state) as u16
    }

    /// Evaluates the expression; negative only if its value is that of `sb` or `sw`.
    pub(super) fn signed_value(&self, state: &dyn MachineState) -> i64 {
        self.0.value(&state)
    }

    /// Returns the address and the width in bytes of an expression `[x]` or `{x}`.
    pub(super) fn memory_operand(&self) -> Option<(Self, u16)> {
        self.0.memory_operand().map(|(address, width)| (Self(address), width))
    }
}

/// A message with values: `sum {HL} of {[COUNT]}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogMessage(Vec<(String, Option<BoundExpression>)>);

impl LogMessage {
    /// Parses a message; expressions are within braces, which may contain braces.
    ///
    /// # Errors
    /// Returns `ExpressionError` if an expression is invalid.
    pub fn parse(text: &str, code: &CodeMap, at: Option<u16>) -> Result<Self, ExpressionError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let unclosed = || ExpressionError::Unclosed('}', String::new());
            let end = find_closing(after, '{', '}').ok_or_else(unclosed)?;
            let value = BoundExpression::parse_at(&after[..end], code, at)?;
            parts.push((before.to_owned(), Some(value)));
            rest = &after[end + 1..];
        }
        parts.push((rest.to_owned(), None));
        Ok(Self(parts))
    }

    /// Returns the message with the values in hexadecimal and decimal.
    pub(super) fn format(&self, state: &dyn MachineState) -> String {
        let value = |expression: &BoundExpression| format_signed(expression.signed_value(state));
        let part = |(text, expression): &(String, Option<BoundExpression>)| {
            text.clone() + &expression.as_ref().map(value).unwrap_or_default()
        };
        self.0.iter().map(part).collect()
    }
}

/// Returns the offset of the bracket that closes one before the text.
pub(super) fn find_closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 1;
    text.find(|c| {
        depth += i32::from(c == open) - i32::from(c == close);
        depth == 0
    })
}

/// Formats a number in hexadecimal and decimal, a negative one as `-5 (FFFBH)`.
pub(super) fn format_signed(value: i64) -> String {
    if value < 0 { format!("{value} ({:04X}H)", value as u16) } else { format_number(value as u16) }
}

/// Formats a number in hexadecimal and decimal.
pub(super) fn format_number(value: u16) -> String {
    if value > 0xFF { format!("{value:04X}H ({value})") } else { format!("{value:02X}H ({value})") }
}
