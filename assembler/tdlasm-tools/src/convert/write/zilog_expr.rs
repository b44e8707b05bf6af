//! Writes expressions in Zilog's syntax, as far as pasmo, z80asm and GNU as agree.

use tdlasm::syntax::expr::BinaryOp;

use super::super::expr::{Blanks, Node, Number, Unary};
use super::super::options::Target;
use super::super::program::ConvertResult;
use super::StatementWriter;
use crate::mnemonics::is_plain;

/// Why signs in front of operators are copied unchanged.
pub(in super::super) const SIGN_DISAGREEMENT: &str =
    "assemblers disagree how far the sign reaches; use parentheses";

/// The operators, in the spelling that is written.
const OPERATORS: [(&str, BinaryOp); 10] = [
    ("<<", BinaryOp::ShiftLeft),
    (">>", BinaryOp::ShiftRight),
    ("&", BinaryOp::And),
    ("|", BinaryOp::Or),
    ("^", BinaryOp::Xor),
    ("*", BinaryOp::Multiply),
    ("/", BinaryOp::Divide),
    ("%", BinaryOp::Remainder),
    ("+", BinaryOp::Add),
    ("-", BinaryOp::Subtract),
];

pub(in super::super) fn is_product(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Multiply | BinaryOp::Divide)
}

pub(in super::super) fn is_sum(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Subtract)
}

impl StatementWriter<'_> {
    pub(super) fn zilog_expr(&mut self, node: &Node<'_>) -> ConvertResult<()> {
        match node {
            Node::Number(number) => self.zilog_number(number),
            Node::Char(byte) if is_plain(*byte) && *byte != b'\'' => {
                self.push([b'\'', *byte, b'\'']);
            }
            Node::Char(byte) => self.zilog_number(&Number::new((*byte).into(), 16)),
            Node::Here => self.push(if self.is_asxxxx() { "." } else { "$" }),
            Node::Name(name) => self.symbol(name)?,
            Node::Group(inner) => self.in_parentheses(inner)?,
            Node::Unary(op, inner) => {
                self.unary_sign(*op);
                self.zilog_factor(inner)?;
            }
            Node::Binary(op, sides, blanks) => self.zilog_binary(*op, sides, *blanks)?,
        }
        Ok(())
    }

    /// Writes an expression as a single operand, in parentheses if necessary.
    fn zilog_factor(&mut self, node: &Node<'_>) -> ConvertResult<()> {
        match node.is_atom() || matches!(node, Node::Group(_)) {
            true => self.zilog_expr(node),
            false => self.in_parentheses(node),
        }
    }

    fn zilog_binary(
        &mut self,
        op: BinaryOp,
        sides: &[Node<'_>; 2],
        blanks: Blanks<'_>,
    ) -> ConvertResult<()> {
        self.check_right_side(op, &sides[1])?;
        if op == BinaryOp::Remainder && !self.target.is_none_or(Target::has_remainder) {
            return self.remainder(sides);
        }
        let sign = self.sign_of(op);
        let [before, behind] = match op {
            // The blanks around a word belong to it.
            _ if sign.starts_with(' ') => [&b""[..]; 2],
            // Next to a digit % would begin a binary number.
            BinaryOp::Remainder => [&b" "[..]; 2],
            _ => blanks,
        };
        self.zilog_side(op, sides, 0)?;
        self.push([before, sign.as_bytes(), behind].concat());
        self.zilog_side(op, sides, 1)
    }

    /// The sign of an operator, as the target spells it.
    fn sign_of(&self, op: BinaryOp) -> &'static str {
        let usual = OPERATORS.iter().find(|(_, known)| *known == op).map_or("", |(sign, _)| sign);
        self.target.and_then(|target| target.sign(op)).unwrap_or(usual)
    }

    /// Writes a remainder as `a - a / b * b`, for targets without an operator for it.
    fn remainder(&mut self, sides: &[Node<'_>; 2]) -> ConvertResult<()> {
        let [left, right] = sides.clone();
        let whole = Node::binary(BinaryOp::Divide, left.clone(), right.clone());
        let multiple = Node::binary(BinaryOp::Multiply, whole, right);
        self.in_parentheses(&Node::binary(BinaryOp::Subtract, left, multiple))
    }

    /// Writes one side of an operation, in parentheses unless all assemblers agree without.
    fn zilog_side(&mut self, op: BinaryOp, sides: &[Node<'_>; 2], at: usize) -> ConvertResult<()> {
        let node = &sides[at];
        if Self::needs_portable_operand(op, at) && !self.is_portable(node) {
            self.push("(");
            self.zilog_factor(node)?;
            self.push(self.sign_of(BinaryOp::And));
            self.zilog_number(&Number::new(0xFFFF, 16));
            self.push(")");
            return Ok(());
        }
        match node {
            Node::Unary(Unary::Negate, inner) if at == 0 && is_sum(op) => {
                self.push("0-");
                self.zilog_factor(inner)
            }
            Node::Binary(inner, ..) if stays_together(op, *inner, at) => self.zilog_expr(node),
            _ => self.zilog_factor(node),
        }
    }

    /// Writes an immediate operand so that it does not begin with a parenthesis, as addresses do.
    pub(super) fn zilog_immediate(&mut self, node: &Node<'_>) -> ConvertResult<()> {
        let node = if let Node::Group(_) = node { node.without_parentheses() } else { node };
        let start = self.out.len();
        self.zilog_expr(node)?;
        if self.out[start..].starts_with(b"(") {
            let text = self.out.split_off(start);
            let is_weak = matches!(node, Node::Binary(op, ..) if !is_product(*op) && !is_sum(*op));
            let (open, close) = if is_weak { ("0+(", ")") } else { ("0+", "") };
            self.push([open.as_bytes(), &text, close.as_bytes()].concat());
        }
        Ok(())
    }

    /// Writes the displacement of an index register, with its sign.
    pub(super) fn displacement(&mut self, node: &Node<'_>) -> ConvertResult<()> {
        let node = node.without_parentheses();
        if let Some(value) = node.constant() {
            return self.constant_displacement(node, value);
        }
        // If it contains a forward reference, pasmo evaluates a negative displacement with 16 bits,
        // and pasmo and GNU as take -128..127 only.
        if let Some(value) = self.exact_value(node)
            && self.target.is_some()
            && !(0..128).contains(&value)
        {
            self.push(format!("{:+}", value as i8));
            return Ok(());
        }
        let (sign, node) = match node {
            Node::Unary(Unary::Negate, inner) => ("-", &**inner),
            // In 16 bits this would be a large positive number, which pasmo rejects as out of
            // range.
            Node::Binary(BinaryOp::Subtract, sides, _) if sides[0].constant() == Some(0) => {
                ("-", &sides[1])
            }
            _ => ("+", node),
        };
        self.push(sign);
        match node {
            Node::Binary(op, ..) if sign == "+" && (is_sum(*op) || is_product(*op)) => {
                self.zilog_expr(node)
            }
            _ => self.zilog_factor(node),
        }
    }

    fn constant_displacement(&mut self, node: &Node<'_>, value: i64) -> ConvertResult<()> {
        let byte = match value {
            -256..=255 | 0xFF00..=0xFFFF => value as i8,
            _ => return self.unconverted("the displacement does not fit in a byte"),
        };
        let (sign, number) = match node {
            Node::Unary(Unary::Negate, inner) if byte < 0 => ("-", &**inner),
            node => ("+", node),
        };
        match number {
            Node::Number(number)
                if i32::from(number.value) == i32::from(byte.unsigned_abs())
                    && (sign == "-") == (byte < 0) =>
            {
                self.push(sign);
                self.zilog_number(number);
            }
            _ => self.push(format!("{byte:+}")),
        }
        Ok(())
    }
}

/// Returns `true` if an operation left (0) or right (1) of another needs no parentheses.
fn stays_together(outer: BinaryOp, inner: BinaryOp, side: usize) -> bool {
    match outer {
        BinaryOp::Add | BinaryOp::Subtract => is_product(inner) || side == 0 && is_sum(inner),
        BinaryOp::Multiply | BinaryOp::Divide => side == 0 && is_product(inner),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => side == 0 && inner == outer,
        _ => false,
    }
}
