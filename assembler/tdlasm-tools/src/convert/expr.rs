//! Expression trees that keep their source spelling, and facts about their values.

use tdlasm::syntax::expr::BinaryOp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number<'t> {
    /// The value modulo 65536.
    pub(super) value: u16,
    pub(super) radix: u8,
    /// The digits alone; empty if the number was computed, or does not fit in 16 bits.
    pub(super) digits: &'t [u8],
    /// `true` if its letters are lower case.
    pub(super) is_lowercase: bool,
}

impl<'t> Number<'t> {
    /// A computed number, which has no source spelling.
    pub(super) fn new(value: u16, radix: u8) -> Self {
        Self { value, radix, digits: b"", is_lowercase: false }
    }

    /// A number read from the source: `digits` is the part of `written` that means `value`, dropped
    /// if it exceeds 16 bits.
    pub(super) fn read(value: u16, radix: u8, digits: &'t [u8], written: &[u8]) -> Self {
        let meant = std::str::from_utf8(digits).map(|text| u32::from_str_radix(text, radix.into()));
        let fits = matches!(meant, Ok(Ok(number)) if number == u32::from(value));
        let is_lowercase = written.iter().any(u8::is_ascii_lowercase);
        Self { value, radix, digits: if fits { digits } else { b"" }, is_lowercase }
    }

    /// The digits for the other dialect: decimal without leading zeros, else one before a letter.
    pub(super) fn spelling(&self) -> String {
        let mut digits = String::from_utf8_lossy(self.digits).into_owned();
        if digits.is_empty() {
            digits = match self.radix {
                16 => format!("{:X}", self.value),
                8 => format!("{:o}", self.value),
                2 => format!("{:b}", self.value),
                _ => self.value.to_string(),
            };
        }
        if self.radix == 10 {
            let kept = digits.trim_start_matches('0');
            digits = if kept.is_empty() { "0".into() } else { kept.into() };
        }
        if digits.starts_with(|first: char| first.is_ascii_alphabetic()) {
            digits.insert(0, '0');
        }
        digits
    }

    /// The number with the radix as a prefix.
    pub(super) fn prefixed(&self) -> String {
        let prefix = match self.radix {
            16 => "0x",
            8 => "0o",
            2 => "0b",
            _ => "",
        };
        format!("{prefix}{}", self.spelling())
    }

    /// The radix letter, in the case of the digits.
    pub(super) fn suffix(&self) -> &'static str {
        match (self.radix, self.is_lowercase) {
            (16, false) => "H",
            (16, true) => "h",
            (8, _) => "O",
            (2, _) => "B",
            _ => "",
        }
    }
}

/// The operations on one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Not,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node<'t> {
    Number(Number<'t>),
    /// One character of 7 bits.
    Char(u8),
    /// The address of the statement.
    Here,
    Name(&'t [u8]),
    Unary(Unary, Box<Node<'t>>),
    Binary(BinaryOp, Box<[Node<'t>; 2]>, Blanks<'t>),
    Group(Box<Node<'t>>),
}

/// The blanks before and after an operator.
pub(super) type Blanks<'t> = [&'t [u8]; 2];

impl<'t> Node<'t> {
    pub(super) fn decimal(value: u16) -> Self {
        Node::Number(Number::new(value, 10))
    }

    /// The code of a character: the character if it has 7 bits, else a number.
    pub(super) fn character(byte: u8) -> Self {
        if byte < 0x80 { Node::Char(byte) } else { Node::Number(Number::new(byte.into(), 16)) }
    }

    /// A computed operation, which has no source spelling.
    pub(super) fn binary(op: BinaryOp, left: Node<'t>, right: Node<'t>) -> Self {
        Node::Binary(op, Box::new([left, right]), [b"", b""])
    }

    /// The expression without parentheses around the whole of it.
    pub(super) fn without_parentheses(&self) -> &Node<'t> {
        let mut node = self;
        while let Node::Group(inner) = node {
            node = inner;
        }
        node
    }

    /// Returns `true` if it is a single operand, without operator or parentheses.
    pub(super) fn is_atom(&self) -> bool {
        matches!(self, Node::Number(_) | Node::Char(_) | Node::Here | Node::Name(_))
    }

    /// Returns `true` if `test` holds for any node of the tree.
    fn any(&self, test: &mut impl FnMut(&Node<'t>) -> bool) -> bool {
        test(self)
            || match self {
                Node::Unary(_, inner) | Node::Group(inner) => inner.any(test),
                Node::Binary(_, sides, _) => sides.iter().any(|side| side.any(test)),
                _ => false,
            }
    }

    /// Calls `visit` with each name in the tree.
    pub(super) fn names(&self, visit: &mut impl FnMut(&'t [u8])) {
        self.any(&mut |node| {
            if let Node::Name(name) = node {
                visit(name);
            }
            false
        });
    }

    /// Whether the address of the statement is part of it.
    pub(super) fn has_current_address(&self) -> bool {
        self.any(&mut |node| matches!(node, Node::Here))
    }

    /// Returns `true` if assemblers with 16-bit and with wider arithmetic compute the same value in
    /// 0..=65535. The operands of divisions and right shifts are checked when they are written.
    pub(super) fn is_portable(&self, known: &mut impl FnMut(&'t [u8]) -> ValueFacts) -> bool {
        if let Some(value) = self.exact_value(&mut |name| known(name).value) {
            return u16::try_from(value).is_ok();
        }
        match self {
            Node::Number(_) | Node::Char(_) | Node::Here => true,
            Node::Name(name) => known(name).natural,
            Node::Group(inner) => inner.is_portable(known),
            Node::Unary(..) => false,
            Node::Binary(op, sides, _) => match op {
                BinaryOp::And => sides.iter().any(|side| side.is_portable(known)),
                BinaryOp::Or | BinaryOp::Xor => sides.iter().all(|side| side.is_portable(known)),
                BinaryOp::Divide | BinaryOp::Remainder | BinaryOp::ShiftRight => true,
                _ => false,
            },
        }
    }

    /// The value if there are no symbols in it.
    pub(super) fn constant(&self) -> Option<i64> {
        self.exact_value(&mut |_| None)
    }

    /// The value in unbounded arithmetic, if all symbols are known and nothing is large.
    pub(super) fn exact_value(
        &self,
        known: &mut impl FnMut(&'t [u8]) -> Option<i64>,
    ) -> Option<i64> {
        match self {
            Node::Number(number) => Some(number.value.into()),
            Node::Char(byte) => Some((*byte).into()),
            Node::Here => None,
            Node::Name(name) => known(name),
            Node::Group(inner) => inner.exact_value(known),
            Node::Unary(Unary::Negate, inner) => Some(-inner.exact_value(known)?),
            Node::Unary(Unary::Not, inner) => Some(!inner.exact_value(known)?),
            Node::Binary(op, sides, _) => {
                let [left, right] = &**sides;
                apply(*op, left.exact_value(known)?, right.exact_value(known)?)
                    .filter(|value| value.abs() < 1 << 31)
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ValueFacts {
    /// Whether the value is portable: see [`Node::is_portable`].
    pub(super) natural: bool,
    /// The value, if it depends on this source only.
    pub(super) value: Option<i64>,
}

/// Applies an operation in unbounded integer arithmetic, if all assemblers agree on the result.
fn apply(op: BinaryOp, left: i64, right: i64) -> Option<i64> {
    let natural = u16::try_from(left).is_ok() && u16::try_from(right).is_ok();
    match op {
        BinaryOp::Add => Some(left + right),
        BinaryOp::Subtract => Some(left - right),
        BinaryOp::Multiply => left.checked_mul(right),
        BinaryOp::And => Some(left & right),
        BinaryOp::Or => Some(left | right),
        BinaryOp::Xor => Some(left ^ right),
        BinaryOp::Divide if natural && right != 0 => Some(left / right),
        BinaryOp::Remainder if natural && right != 0 => Some(left % right),
        BinaryOp::ShiftLeft if (0..16).contains(&right) => Some(left << right),
        BinaryOp::ShiftRight if natural && right < 16 => Some(left >> right),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_numbers_are_spelled_so_that_they_begin_with_a_digit() {
        assert_eq!(Number::new(0xFF, 16).spelling(), "0FF");
        assert_eq!(Number::read(9, 10, b"009", b"009").spelling(), "9");
        assert_eq!(Number::read(0, 10, b"00", b"00").spelling(), "0");
    }

    #[test]
    fn what_assemblers_disagree_on_has_no_exact_value() {
        let divide = |left, right| Node::binary(BinaryOp::Divide, left, right).constant();
        let minus = |value| Node::Unary(Unary::Negate, Box::new(Node::decimal(value)));
        assert_eq!(divide(Node::decimal(7), Node::decimal(2)), Some(3));
        assert_eq!(divide(minus(6), Node::decimal(2)), None);
        assert_eq!(divide(Node::decimal(7), Node::decimal(0)), None);
    }
}
