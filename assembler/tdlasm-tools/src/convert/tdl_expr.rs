//! Expressions in TDL's syntax.

use tdlasm::syntax::expr::BinaryOp;
use tdlasm::syntax::lex;

use super::expr::{Node, Number, Unary};
use super::expr_parser::{ExprParser, LOOSEST};
use super::program::{ConvertResult, Unconverted};
use super::write::StatementWriter;

const DISAGREEMENT: &str = "assemblers disagree on the division or right shift of values that may \
    be negative; write (value&0FFFFH) for an unsigned number";

/// The rank of the unary `#`.
const NOT_RANK: u8 = 4;

impl<'t> ExprParser<'_, 't> {
    /// Reads operands and the operators between them that bind at least as tight as `loosest`.
    pub(super) fn level(&mut self, loosest: u8) -> ConvertResult<Node<'t>> {
        let mut left = self.operand()?;
        loop {
            let before = self.cursor.clone();
            let blanks = self.cursor.take(lex::blanks).unwrap_or_default();
            let found = self.cursor.peek().and_then(BinaryOp::from_sign);
            let Some(op) = found.filter(|op| op.rank() <= loosest) else {
                *self.cursor = before;
                return Ok(left);
            };
            self.cursor.advance(1);
            let behind = self.cursor.take(lex::blanks).unwrap_or_default();
            let right = self.level(op.rank() - 1)?;
            left = Node::Binary(op, Box::new([left, right]), [blanks, behind]);
        }
    }

    pub(super) fn tdl_operand(&mut self) -> ConvertResult<Node<'t>> {
        match self.cursor.peek() {
            Some(b'0'..=b'9') => self.tdl_number(),
            Some(byte) if lex::is_symbol(byte) => self.symbol(),
            Some(b'\'' | b'"') => self.quoted(),
            Some(sign @ (b'+' | b'-')) => {
                self.cursor.advance(1);
                let op = if sign == b'-' { Unary::Negate } else { Unary::Plus };
                Ok(Node::Unary(op, Box::new(self.operand()?)))
            }
            Some(b'#') => {
                self.cursor.advance(1);
                Ok(Node::Unary(Unary::Not, Box::new(self.level(NOT_RANK - 1)?)))
            }
            _ => match self.cursor.take(lex::radix_prefix) {
                Some(radix) => {
                    self.prefix = Some(radix);
                    self.operand()
                }
                None => self.fail("a number or symbol is missing here"),
            },
        }
    }

    fn tdl_number(&mut self) -> ConvertResult<Node<'t>> {
        let at = self.here();
        let rest = self.cursor.rest();
        let known = self.prefix.take().or(self.radix);
        let radix = known.unwrap_or(10);
        let number = self.cursor.take(|input| lex::number(input, radix));
        let run = &rest[..rest.len() - self.cursor.rest().len()];
        let Some(number) = number.filter(|number| !number.has_invalid_digit) else {
            return Unconverted::fail(at, "the number has digits that its radix lacks");
        };
        // A radix letter that is not a digit in any radix.
        let is_sure = |last: &u8| matches!(last | 0x20, b'h' | b'o' | b'q' | b'.');
        if known.is_none() && !matches!(run, b"0" | b"1") && !run.last().is_some_and(is_sure) {
            let message = "the radix is not known here; give the number a radix letter";
            return Unconverted::fail(at, message);
        }
        let (digits, used) = split(run, radix);
        Ok(Node::Number(Number::read(number.value, used, digits, run)))
    }

    fn symbol(&mut self) -> ConvertResult<Node<'t>> {
        self.prefix = None;
        let at = self.here();
        let name = self.cursor.take(lex::symbol).unwrap_or_default();
        if name == b"." {
            return Ok(Node::Here);
        }
        if self.cursor.eat(b'#') {
            let message = "a symbol with # has no counterpart; declare it with .EXTERN";
            return Unconverted::fail(at, message);
        }
        Ok(Node::Name(name))
    }

    /// The last two characters count, as 7 bits each.
    fn quoted(&mut self) -> ConvertResult<Node<'t>> {
        let at = self.here();
        let quote = self.cursor.peek().unwrap_or(b'\'');
        let Some(text) = self.cursor.take(lex::quoted) else {
            return Unconverted::fail(at, "the quote is not closed on this line");
        };
        let mut characters = Vec::new();
        let mut bytes = text.iter();
        while let Some(byte) = bytes.next() {
            if *byte == quote {
                bytes.next();
            }
            characters.push(Node::Char(byte & 0x7F));
        }
        let last = characters.pop();
        let high = characters.pop();
        Ok(match (high, last) {
            (Some(high), Some(last)) => {
                let high = Node::binary(BinaryOp::Multiply, high, Node::decimal(0x100));
                Node::binary(BinaryOp::Add, high, last)
            }
            (_, last) => last.unwrap_or(Node::decimal(0)),
        })
    }
}

/// The digits of a number and their radix.
fn split(run: &[u8], radix: u8) -> (&[u8], u8) {
    let (last, digits) = run.split_last().unwrap_or((&b'0', b""));
    match lex::radix_of(*last) {
        _ if *last == b'.' => (digits, 10),
        Some(by) if !(radix == 16 && matches!(last | 0x20, b'b' | b'd')) => (digits, by),
        _ => (run, radix),
    }
}

impl StatementWriter<'_> {
    pub(super) fn tdl_expr(&mut self, node: &Node<'_>) -> ConvertResult<()> {
        self.tdl_expr_within(node, LOOSEST)
    }

    /// Writes an expression, in parentheses if an operator of rank `loosest + 1` would split it.
    fn tdl_expr_within(&mut self, node: &Node<'_>, loosest: u8) -> ConvertResult<()> {
        let rank = match node {
            Node::Unary(Unary::Plus | Unary::Negate, _) => 1,
            Node::Unary(Unary::Not, _) => NOT_RANK,
            Node::Binary(op, ..) => op.rank(),
            _ => 0,
        };
        match node {
            _ if rank > loosest => return self.in_parentheses(node),
            Node::Number(number) => self.push(spell(*number, self.radix)),
            Node::Char(b'\'') => self.push("''''"),
            Node::Char(byte @ b' '..=b'~') => self.push([b'\'', *byte, b'\'']),
            Node::Char(byte) => self.push(spell(Number::new((*byte).into(), 16), self.radix)),
            Node::Here => self.push("."),
            Node::Name(name) => self.symbol(name)?,
            Node::Group(inner) => return self.in_parentheses(inner),
            Node::Unary(op, inner) => {
                self.unary_sign(*op);
                return self.tdl_expr_within(inner, 1);
            }
            Node::Binary(op, sides, blanks) => {
                self.check_right_side(*op, &sides[1])?;
                for (at, side) in sides.iter().enumerate() {
                    if Self::needs_portable_operand(*op, at) && !self.is_portable(side) {
                        return self.unconverted(DISAGREEMENT);
                    }
                }
                self.tdl_expr_within(&sides[0], op.rank())?;
                self.push(blanks[0]);
                let sign = BinaryOp::SIGNS.iter().find(|(_, known)| known == op);
                self.out.extend(sign.map(|(sign, _)| *sign));
                self.push(blanks[1]);
                return self.tdl_expr_within(&sides[1], op.rank() - 1);
            }
        }
        Ok(())
    }
}

/// Spells a number so that it is read the same in every radix, unless the radix is known to be 10.
fn spell(number: Number<'_>, radix: Option<u8>) -> Vec<u8> {
    let digits = number.spelling();
    match (number.radix, radix) {
        (10, Some(10)) => digits,
        (10, _) => format!("{digits}."),
        // B would be a digit in radix 16.
        (2, Some(16) | None) => format!("^B{digits}"),
        _ => digits + number.suffix(),
    }
    .into_bytes()
}
