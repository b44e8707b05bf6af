//! Parses the expressions of both dialects; those of Zilog as far as pasmo, z80asm and GNU as agree.

use tdlasm::isa::zilog::is_operand;
use tdlasm::syntax::expr::BinaryOp;
use tdlasm::syntax::zilog::{number, operator, symbol};
use tdlasm::syntax::{Cursor, lex, zilog};

use super::expr::{Node, Number, Unary};
use super::options::Dialect;
use super::program::{ConvertResult, Unconverted};
use super::write::{SIGN_DISAGREEMENT, has_sign, is_product, is_sum};
use crate::mnemonics::is_plain;

/// Expressions with more operators, parentheses and operands than this are kept.
const MAX_NODES: usize = 200;
/// The rank of TDL's unary `#`.
pub(super) const NOT_RANK: u8 = 4;

/// Reads the longest expression at the cursor, blanks before it too; `None` if there is none.
/// `radix` is that of TDL's numbers, if it is known.
pub(super) fn read<'t>(
    cursor: &mut Cursor<'t>,
    from: Dialect,
    radix: Option<u8>,
) -> ConvertResult<Option<Node<'t>>> {
    cursor.skip_blanks();
    let begins = |byte: u8| match from {
        Dialect::Tdl => lex::is_symbol(byte) || b"'\"-#+(^".contains(&byte),
        Dialect::Zilog => zilog::is_symbol(byte) || b"'\"-~+($%".contains(&byte),
    };
    if !cursor.peek().is_some_and(begins) {
        return Ok(None);
    }
    ExprParser { cursor, from, radix, prefix: None, nodes: 0 }.expression().map(Some)
}

struct ExprParser<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    from: Dialect,
    radix: Option<u8>,
    /// The radix of the next number or parenthesis in TDL.
    prefix: Option<u8>,
    nodes: usize,
}

impl<'t> ExprParser<'_, 't> {
    fn here(&self) -> usize {
        self.cursor.offset() as usize
    }

    /// Returns `Err` with a reason at the cursor.
    fn fail<T>(&self, message: &'static str) -> ConvertResult<T> {
        Unconverted::fail(self.here(), message)
    }

    fn expression(&mut self) -> ConvertResult<Node<'t>> {
        let start = self.here();
        let node = self.level(u8::MAX)?;
        match self.from {
            Dialect::Tdl => Ok(node),
            Dialect::Zilog => check_order(&node, start).map(|()| node),
        }
    }

    /// Reads operands and the operators between them that bind at least as tight as `loosest`.
    fn level(&mut self, loosest: u8) -> ConvertResult<Node<'t>> {
        let mut left = self.operand()?;
        loop {
            let before = self.cursor.clone();
            let blanks = self.cursor.take(lex::blanks).unwrap_or_default();
            let Some((op, rank)) = self.operator()?.filter(|(_, rank)| *rank <= loosest) else {
                *self.cursor = before;
                return Ok(left);
            };
            let behind = self.cursor.take(lex::blanks).unwrap_or_default();
            let right = self.level(rank - 1)?;
            left = Node::Binary(op, Box::new([left, right]), [blanks, behind]);
        }
    }

    /// Reads an operator; also returns its rank, 1 binding tightest.
    fn operator(&mut self) -> ConvertResult<Option<(BinaryOp, u8)>> {
        let rest = self.cursor.rest();
        let found = match self.from {
            Dialect::Tdl => {
                self.cursor.peek().and_then(BinaryOp::from_sign).map(|op| (1, op, op.rank()))
            }
            Dialect::Zilog => operator(rest).map(|(sign, op, rank)| (sign.len(), op, rank)),
        };
        let Some((length, op, rank)) = found.filter(|(_, op, _)| has_sign(*op)) else {
            return Ok(None);
        };
        self.cursor.advance(length);
        let is_digit = matches!(self.cursor.peek(), Some(b'0' | b'1'));
        if self.from == Dialect::Zilog && rest[0] == b'%' && is_digit {
            return self.fail("without a blank behind % this may be a binary number");
        }
        Ok(Some((op, rank)))
    }

    fn operand(&mut self) -> ConvertResult<Node<'t>> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return self.fail("the expression is too long to be converted");
        }
        self.cursor.skip_blanks();
        match self.from {
            _ if self.cursor.peek() == Some(b'(') => self.group(),
            Dialect::Tdl => self.tdl_operand(),
            Dialect::Zilog => self.zilog_operand(),
        }
    }

    fn group(&mut self) -> ConvertResult<Node<'t>> {
        self.cursor.advance(1);
        let outside = self.radix;
        self.radix = self.prefix.take().or(outside);
        let inner = self.expression()?;
        self.radix = outside;
        self.cursor.skip_blanks();
        if !self.cursor.eat(b')') {
            return self.fail("a parenthesis is not closed");
        }
        Ok(Node::Group(Box::new(inner)))
    }

    fn tdl_operand(&mut self) -> ConvertResult<Node<'t>> {
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

    fn zilog_operand(&mut self) -> ConvertResult<Node<'t>> {
        let word = symbol(self.cursor.rest());
        let unary = match self.cursor.peek() {
            Some(b'+') => Some(Unary::Plus),
            Some(b'-') => Some(Unary::Negate),
            Some(b'~') => Some(Unary::Not),
            _ if word.eq_ignore_ascii_case(b"NOT") => Some(Unary::Not),
            _ => None,
        };
        if let Some(op) = unary {
            self.cursor.advance(word.len().max(1));
            let inner = self.operand()?;
            if matches!(inner, Node::Unary(..)) {
                return self.fail("assemblers disagree on signs without parentheses");
            }
            return Ok(Node::Unary(op, Box::new(inner)));
        }
        match self.cursor.peek() {
            Some(b'\'' | b'"') => self.character(),
            Some(b'0'..=b'9' | b'$' | b'%') => self.zilog_number(),
            _ if is_operand(word) => self.fail("a register or condition has no value"),
            _ if !word.is_empty() => {
                self.cursor.advance(word.len());
                Ok(Node::Name(word))
            }
            _ => self.fail("a number or symbol is missing here"),
        }
    }

    /// A single character; on escapes and several characters, assemblers disagree. GNU as reads
    /// double quotes as a symbol, which is an error there rather than another value.
    fn character(&mut self) -> ConvertResult<Node<'t>> {
        let at = self.here();
        let rest = self.cursor.rest();
        match *rest {
            [open, byte, close, ..]
                if open == close && byte != open && is_plain(byte) && byte < 0x80 =>
            {
                self.cursor.advance(3);
                Ok(Node::Char(byte))
            }
            _ => Unconverted::fail(at, "only single characters have a value to all assemblers"),
        }
    }

    fn zilog_number(&mut self) -> ConvertResult<Node<'t>> {
        let at = self.here();
        let rest = self.cursor.rest();
        let Some(number) = number(rest) else {
            self.cursor.advance(1);
            return Ok(Node::Here);
        };
        if number.radix == 10 && number.digits.len() > 1 && number.digits[0] == b'0' {
            return Unconverted::fail(at, "a zero before a decimal number makes it octal for some");
        }
        // Not all have `0b101`.
        let is_prefixed = matches!(rest, [b'0', b'b' | b'B', b'0' | b'1', ..]) && number.radix == 2;
        match number.value().filter(|_| !is_prefixed || number.run.len() + 2 != number.length) {
            Some(value) => {
                self.cursor.advance(number.length);
                Ok(Node::Number(Number::read(value, number.radix, number.digits, number.run)))
            }
            None => Unconverted::fail(at, "this is not a 16-bit number that all assemblers accept"),
        }
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

/// Checks that all assemblers agree on the order of the operations outside of parentheses.
fn check_order(node: &Node<'_>, at: usize) -> ConvertResult<()> {
    let mut operators = Vec::new();
    let first = flatten(node, &mut operators);
    let Some(op) = operators.first() else { return Ok(()) };
    if matches!(first, Node::Unary(Unary::Negate | Unary::Not, _)) {
        return Unconverted::fail(at, SIGN_DISAGREEMENT);
    }
    let alike = operators.iter().all(|other| other == op);
    let orderless = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
    let arithmetic = operators.iter().all(|op| is_product(*op) || is_sum(*op));
    if !(arithmetic || operators.len() == 1 || alike && orderless) {
        return Unconverted::fail(at, "assemblers disagree on the order of these; use parentheses");
    }
    Ok(())
}

/// Adds the operators outside of parentheses, and returns the first operand.
fn flatten<'n, 't>(node: &'n Node<'t>, operators: &mut Vec<BinaryOp>) -> &'n Node<'t> {
    let Node::Binary(op, sides, _) = node else { return node };
    let first = flatten(&sides[0], operators);
    operators.push(*op);
    flatten(&sides[1], operators);
    first
}
