//! Parses expressions in Zilog's notation to the same operations as TDL's.
//!
//! The order of evaluation is M80's, which pasmo shares but for signs and for HIGH and LOW.

use smallvec::SmallVec;

use super::super::Cursor;
use super::super::expr::BinaryOp::{
    self, Add, And, Both, Divide, Either, Equal, Greater, GreaterEqual, Less, LessEqual, Multiply,
    NotEqual, Or, Remainder, ShiftLeft, ShiftRight, Subtract, Xor,
};
use super::super::expr::{Expr, Intern, Op, Output};
use super::{number, quoted, symbol};
use crate::isa::zilog::is_operand;
use crate::source::Span;

/// The operators by rank, 1 binding tightest.
#[rustfmt::skip]
const OPERATORS: [(u8, &[(&str, BinaryOp)]); 7] = [
    (2, &[("<<", ShiftLeft), ("SHL", ShiftLeft), (">>", ShiftRight), ("SHR", ShiftRight),
          ("*", Multiply), ("/", Divide), ("%", Remainder), ("MOD", Remainder)]),
    (4, &[("+", Add), ("-", Subtract)]),
    (5, &[("=", Equal), ("==", Equal), ("EQ", Equal), ("<>", NotEqual), ("!=", NotEqual),
          ("NE", NotEqual), ("<", Less), ("LT", Less), ("<=", LessEqual), ("LE", LessEqual),
          (">", Greater), ("GT", Greater), (">=", GreaterEqual), ("GE", GreaterEqual)]),
    (7, &[("&", And), ("AND", And)]),
    (8, &[("|", Or), ("OR", Or), ("^", Xor), ("XOR", Xor), ("EOR", Xor)]),
    (9, &[("&&", Both)]),
    (10, &[("||", Either)]),
];

/// Returns the operator at the start of a text: its spelling, its operation and its rank.
pub fn operator(text: &[u8]) -> Option<(&'static str, BinaryOp, u8)> {
    let word = symbol(text);
    let is_here = |spelling: &str| match word {
        b"" => text.starts_with(spelling.as_bytes()),
        _ => word.eq_ignore_ascii_case(spelling.as_bytes()),
    };
    let all = OPERATORS.into_iter().flat_map(|(rank, row)| row.iter().map(move |one| (one, rank)));
    let here = all.filter(|((spelling, _), _)| is_here(spelling));
    // Of two that begin alike, the longer one is meant.
    let longest = here.max_by_key(|((spelling, _), _)| spelling.len());
    longest.map(|((spelling, op), rank)| (*spelling, *op, rank))
}

#[derive(Debug, Clone, Copy)]
enum Pending {
    Negate,
    Not,
    LogicalNot,
    High,
    Low,
    Binary(BinaryOp, u8),
    Open,
}

impl Pending {
    fn rank(self) -> u8 {
        match self {
            Self::High | Self::Low => 1,
            Self::Negate => 3,
            Self::Not | Self::LogicalNot => 6,
            Self::Binary(_, rank) => rank,
            Self::Open => u8::MAX,
        }
    }

    fn operations(self) -> SmallVec<[Op; 2]> {
        let with = |number, op| SmallVec::from_slice(&[Op::Number(number), Op::Binary(op)]);
        match self {
            Self::Negate => SmallVec::from_slice(&[Op::Negate]),
            Self::Not => SmallVec::from_slice(&[Op::Not]),
            Self::LogicalNot => with(0, Equal),
            Self::High => with(8, ShiftRight),
            Self::Low => with(0xFF, And),
            Self::Binary(op, _) => SmallVec::from_slice(&[Op::Binary(op)]),
            Self::Open => SmallVec::new(),
        }
    }
}

/// Parses the expression at the cursor, with the blanks around it, and appends its operations to
/// `ops`.
///
/// # Errors
///
/// Returns where the text is not an expression, and what is wrong there.
pub fn parse(
    cursor: &mut Cursor<'_>,
    names: &mut impl Intern,
    ops: &mut impl Output,
) -> Result<Expr, (Span, &'static str)> {
    cursor.skip_blanks();
    let (before, first) = (cursor.clone(), ops.count());
    let mut parser = Parser { cursor, ops, pending: SmallVec::new() };
    loop {
        parser.operand(names)?;
        if !parser.operator() {
            break;
        }
    }
    parser.flush(u8::MAX - 1);
    if !parser.pending.is_empty() {
        return Err((cursor.gap(), "a parenthesis is not closed"));
    }
    let read = &before.rest()[..before.rest().len() - cursor.rest().len()];
    let start = before.offset();
    let span = Span::new(start, start + read.trim_ascii_end().len() as u32);
    let count = (ops.count() - first) as u32;
    Ok(Expr { first: first as u32, count, span, is_context_free: false })
}

struct Parser<'c, 't, 'o, O> {
    cursor: &'c mut Cursor<'t>,
    ops: &'o mut O,
    /// The signs and parentheses whose values are not complete, and their places.
    pending: SmallVec<[(Pending, Span); 4]>,
}

impl<O: Output> Parser<'_, '_, '_, O> {
    /// Reads prefix operators, open parentheses and one operand.
    fn operand(&mut self, names: &mut impl Intern) -> Result<(), (Span, &'static str)> {
        loop {
            self.cursor.skip_blanks();
            let rest = self.cursor.rest();
            let word = symbol(rest);
            let is = |known: &[u8]| word.eq_ignore_ascii_case(known);
            let prefix = match rest.first() {
                Some(b'+') => None,
                Some(b'-') => Some(Pending::Negate),
                Some(b'~') => Some(Pending::Not),
                Some(b'!') => Some(Pending::LogicalNot),
                Some(b'(') => Some(Pending::Open),
                _ if is(b"NOT") => Some(Pending::Not),
                _ if is(b"HIGH") => Some(Pending::High),
                _ if is(b"LOW") => Some(Pending::Low),
                _ => return self.value(rest, word, names),
            };
            let start = self.cursor.offset();
            self.cursor.advance(word.len().max(1));
            let sign = self.cursor.since(start);
            self.pending.extend(prefix.map(|pending| (pending, sign)));
        }
    }

    fn value(
        &mut self,
        rest: &[u8],
        word: &[u8],
        names: &mut impl Intern,
    ) -> Result<(), (Span, &'static str)> {
        let at = self.cursor.offset();
        let of_length = |length: usize| Span::new(at, at + length as u32);
        let (op, length) = if let Some(number) = number(rest) {
            let message = "this is not a number of 16 bits; hexadecimal ones are 0FFH, $FF or 0xFF";
            let value = number.value().ok_or((of_length(number.length), message))?;
            (Op::Number(value), number.length)
        } else if rest.first() == Some(&b'$') {
            (Op::Here, 1)
        } else if matches!(rest.first(), Some(b'\'' | b'"')) {
            let (text, length) = quoted(rest).ok_or((of_length(1), "the quote is not closed"))?;
            (Op::Number(character_value(&text).ok_or((of_length(length), MANY))?), length)
        } else if is_operand(word) {
            return Err((of_length(word.len()), "a register or condition has no value"));
        } else if !word.is_empty() {
            let is_external = rest[word.len()..].starts_with(b"##");
            let name = names.intern(word);
            match is_external {
                true => (Op::External(name, at), word.len() + 2),
                false => (Op::Symbol(name, at), word.len()),
            }
        } else {
            return Err((self.cursor.here(), "a number, symbol or parenthesis is missing here"));
        };
        self.ops.push(op, of_length(length));
        self.cursor.advance(length);
        Ok(())
    }

    /// Reads the parentheses closed behind an operand, and the operator; `false` if none follows.
    fn operator(&mut self) -> bool {
        loop {
            self.cursor.skip_blanks();
            if self.cursor.peek() != Some(b')') || !self.close() {
                break;
            }
        }
        let Some((spelling, op, rank)) = operator(self.cursor.rest()) else { return false };
        let start = self.cursor.offset();
        self.cursor.advance(spelling.len());
        self.flush(rank);
        self.pending.push((Pending::Binary(op, rank), self.cursor.since(start)));
        true
    }

    /// Reads the parenthesis that closes the innermost open one; `false` if none is open.
    fn close(&mut self) -> bool {
        if !self.pending.iter().any(|(pending, _)| matches!(pending, Pending::Open)) {
            return false;
        }
        self.flush(u8::MAX - 1);
        self.cursor.advance(1);
        if let Some((_, open)) = self.pending.pop() {
            let text = self.cursor.since(open.start);
            self.ops.push(Op::Group, text);
            self.ops.push_parentheses(text);
        }
        true
    }

    /// Moves the pending operators that bind at least as tight as `rank` to the output.
    fn flush(&mut self, rank: u8) {
        while let Some((pending, sign)) = self.pending.last().copied()
            && pending.rank() <= rank
        {
            self.pending.pop();
            for op in pending.operations() {
                self.ops.push(op, sign);
            }
        }
    }
}

const MANY: &str = "a text in an expression has one or two characters";

/// Returns the value of one or two characters, the first in the high byte as in M80.
fn character_value(text: &[u8]) -> Option<u16> {
    match *text {
        [] => Some(0),
        [byte] => Some(byte.into()),
        [high, low] => Some(u16::from_be_bytes([high, low])),
        _ => None,
    }
}
