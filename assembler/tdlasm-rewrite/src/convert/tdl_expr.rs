//! Expressions in TDL's syntax.

use tdlasm::syntax::expr::BinaryOp;
use tdlasm::syntax::{Cursor, lex};

use super::expr::{Node, Number, Unary};
use super::program::{ConvertResult, Unconverted};
use super::statement_context::StatementContext;

/// Expressions with more operators, parentheses and operands than this are kept.
pub(super) const MAX_NODES: usize = 200;

const DISAGREEMENT: &str = "assemblers disagree on the division or right shift of values that may \
    be negative; write (value&0FFFFH) for an unsigned number";

/// The rank of the unary `#`.
const NOT_RANK: u8 = 4;
const LOOSEST: u8 = 7;

/// Reads the longest expression at the cursor, blanks before it too; `None` if there is none.
pub(super) fn read<'t>(
    cursor: &mut Cursor<'t>,
    radix: Option<u8>,
) -> ConvertResult<Option<Node<'t>>> {
    cursor.skip_blanks();
    let begins = |byte: u8| lex::is_symbol(byte) || b"'\"-#+(^".contains(&byte);
    if !cursor.peek().is_some_and(begins) {
        return Ok(None);
    }
    ExprParser { cursor, radix, prefix: None, nodes: 0 }.level(LOOSEST).map(Some)
}

struct ExprParser<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    radix: Option<u8>,
    /// The radix of the next number or parenthesis.
    prefix: Option<u8>,
    nodes: usize,
}

impl<'t> ExprParser<'_, 't> {
    fn here(&self) -> usize {
        self.cursor.offset() as usize
    }

    /// Reads operands and the operators between them that bind at least as tight as `loosest`.
    fn level(&mut self, loosest: u8) -> ConvertResult<Node<'t>> {
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

    fn operand(&mut self) -> ConvertResult<Node<'t>> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Unconverted::fail(self.here(), "the expression is too long to be converted");
        }
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            Some(b'0'..=b'9') => self.number(),
            Some(byte) if lex::is_symbol(byte) => self.symbol(),
            Some(b'\'' | b'"') => self.quoted(),
            Some(b'-') => {
                self.cursor.advance(1);
                Ok(Node::Unary(Unary::Negate, Box::new(self.operand()?)))
            }
            Some(b'#') => {
                self.cursor.advance(1);
                Ok(Node::Unary(Unary::Not, Box::new(self.level(NOT_RANK - 1)?)))
            }
            Some(b'+') => {
                self.cursor.advance(1);
                Ok(Node::Unary(Unary::Plus, Box::new(self.operand()?)))
            }
            Some(b'(') => self.group(),
            _ => match self.cursor.take(lex::radix_prefix) {
                Some(radix) => {
                    self.prefix = Some(radix);
                    self.operand()
                }
                None => Unconverted::fail(self.here(), "a number or symbol is missing here"),
            },
        }
    }

    fn group(&mut self) -> ConvertResult<Node<'t>> {
        self.cursor.advance(1);
        let outside = self.radix;
        self.radix = self.prefix.take().or(outside);
        let inner = self.level(LOOSEST)?;
        self.radix = outside;
        self.cursor.skip_blanks();
        if !self.cursor.eat(b')') {
            return Unconverted::fail(self.here(), "a parenthesis is not closed");
        }
        Ok(Node::Group(Box::new(inner)))
    }

    fn number(&mut self) -> ConvertResult<Node<'t>> {
        let at = self.here();
        let rest = self.cursor.rest();
        let known = self.prefix.take().or(self.radix);
        let radix = known.unwrap_or(10);
        let number = self.cursor.take(|input| lex::number(input, radix));
        let run = &rest[..rest.len() - self.cursor.rest().len()];
        let Some(value) =
            number.filter(|number| !number.has_invalid_digit).map(|number| number.value)
        else {
            return Unconverted::fail(at, "the number has digits that its radix lacks");
        };
        let (digits, used) = split(run, radix);
        let sure = known.is_some() || matches!(run, b"0" | b"1") || ends_alike(run);
        if !sure {
            return Unconverted::fail(
                at,
                "the radix is not known here; give the number a radix letter",
            );
        }
        Ok(Node::Number(Number::read(value, used, digits, run)))
    }

    fn symbol(&mut self) -> ConvertResult<Node<'t>> {
        self.prefix = None;
        let at = self.here();
        let name = self.cursor.take(lex::symbol).unwrap_or_default();
        if name == b"." {
            return Ok(Node::Here);
        }
        if self.cursor.eat(b'#') {
            return Unconverted::fail(
                at,
                "a symbol with # has no counterpart; declare it with .EXTERN",
            );
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

/// Returns `true` if a number ends in a radix letter that is not a digit in any radix.
fn ends_alike(run: &[u8]) -> bool {
    run.last().is_some_and(|last| matches!(last | 0x20, b'h' | b'o' | b'q' | b'.'))
}

pub(super) fn write(
    node: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    write_within(node, LOOSEST, context, out)
}

/// Appends an expression, in parentheses if an operator of rank `loosest + 1` would split it.
fn write_within(
    node: &Node<'_>,
    loosest: u8,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    let rank_of_all = match node {
        Node::Unary(Unary::Plus | Unary::Negate, _) => 1,
        Node::Unary(Unary::Not, _) => NOT_RANK,
        Node::Binary(op, ..) => op.rank(),
        _ => 0,
    };
    if rank_of_all > loosest {
        return parenthesise(node, context, out);
    }
    match node {
        Node::Number(number) => out.extend_from_slice(&spell(*number, context.radix)),
        Node::Char(b'\'') => out.extend_from_slice(b"\'\'\'\'"),
        Node::Char(byte @ b' '..=b'~') => out.extend_from_slice(&[b'\'', *byte, b'\'']),
        Node::Char(byte) => {
            out.extend_from_slice(&spell(Number::new((*byte).into(), 16), context.radix));
        }
        Node::Here => out.push(b'.'),
        Node::Name(name) => out.extend_from_slice(&context.name(name)?),
        Node::Group(inner) => return parenthesise(inner, context, out),
        Node::Unary(op, inner) => {
            out.push(match op {
                Unary::Plus => b'+',
                Unary::Negate => b'-',
                Unary::Not => b'#',
            });
            return write_within(inner, 1, context, out);
        }
        Node::Binary(op, sides, blanks) => {
            context.check_right_side(*op, &sides[1])?;
            for (at, side) in sides.iter().enumerate() {
                if StatementContext::needs_portable_operand(*op, at) && !context.is_portable(side) {
                    return context.unconverted(DISAGREEMENT);
                }
            }
            write_within(&sides[0], op.rank(), context, out)?;
            out.extend_from_slice(blanks[0]);
            out.extend(
                BinaryOp::SIGNS.iter().find(|(_, known)| known == op).map(|(sign, _)| *sign),
            );
            out.extend_from_slice(blanks[1]);
            return write_within(&sides[1], op.rank() - 1, context, out);
        }
    }
    Ok(())
}

fn parenthesise(
    node: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    out.push(b'(');
    write(node, context, out)?;
    out.push(b')');
    Ok(())
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
