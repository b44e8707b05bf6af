//! Builds expression trees from what the assembler's parsers read; those of Zilog's notation as far
//! as pasmo, z80asm and GNU as agree.

use std::ops::Range;

use tdlasm::source::Span;
use tdlasm::syntax::expr::{BinaryOp, Expr, Intern, Op, Output};
use tdlasm::syntax::{Cursor, lex, zilog};

use super::expr::{Blanks, Node, Number, Unary};
use super::options::Dialect;
use super::program::{ConvertResult, Unconverted};
use super::write::{SIGN_DISAGREEMENT, is_product, is_sum};
use crate::mnemonics::is_plain;

/// Expressions with more operators, parentheses and operands than this are kept.
const MAX_NODES: usize = 200;
/// Stands for a radix that is not known, and is none that a source can name.
const UNKNOWN_RADIX: u8 = 3;

/// Reads the longest expression at the cursor, blanks before it too; `None` if there is none.
/// `radix` is that of TDL's numbers, if it is known.
pub(super) fn read<'t>(
    cursor: &mut Cursor<'t>,
    from: Dialect,
    radix: Option<u8>,
) -> ConvertResult<Option<Node<'t>>> {
    cursor.skip_blanks();
    if cursor.at_statement_end() {
        return Ok(None);
    }
    let mut tree = TreeBuilder {
        text: cursor.rest(),
        start: cursor.offset(),
        from,
        count: 0,
        nodes: Vec::new(),
        refused: None,
    };
    let radix = radix.unwrap_or(UNKNOWN_RADIX);
    let mut ahead = cursor.clone();
    let expr = match from {
        Dialect::Tdl => Ok(Expr::parse(&mut ahead, radix, &mut NoNumbers, &mut tree)),
        Dialect::Zilog => zilog::parse(&mut ahead, &mut NoNumbers, &mut tree),
    };
    let expr = expr.map_err(|(at, message)| Unconverted::new(at.start as usize, message))?;
    let node = tree.finish()?;
    cursor.move_to(expr.span.end);
    Ok(Some(node))
}

/// Names are taken from the text.
struct NoNumbers;

impl Intern for NoNumbers {
    fn intern(&mut self, _name: &[u8]) -> u32 {
        0
    }
}

struct TreeBuilder<'t> {
    /// The text from the expression on, and the offset at which it begins.
    text: &'t [u8],
    start: u32,
    from: Dialect,
    /// The number of operations and signs that were read.
    count: usize,
    /// The trees that no operation has taken yet.
    nodes: Vec<Node<'t>>,
    /// Why the expression has no counterpart.
    refused: Option<Unconverted>,
}

impl Output for TreeBuilder<'_> {
    fn count(&self) -> usize {
        self.count
    }

    fn push(&mut self, op: Op, text: Span) {
        self.add(text, |tree| match op {
            Op::Number(value) => tree.value(value, text),
            Op::Here => Ok(Node::Here),
            Op::Symbol(..) => Ok(Node::Name(tree.slice(text))),
            Op::External(..) => {
                tree.refuse(text, "a symbol with # has no counterpart; declare it with .EXTERN")
            }
            Op::Negate => tree.unary(Unary::Negate, text),
            Op::Not => tree.unary(Unary::Not, text),
            Op::Binary(op) => tree.binary(op, text),
            Op::Group => Ok(tree.operand()),
            Op::Fault(fault, span) => tree.refuse(span, fault.message()),
        });
    }

    fn push_number(&mut self, value: u16, radix: u8, text: Span) {
        self.add(text, |tree| tree.tdl_number(value, radix, text));
    }

    fn push_parentheses(&mut self, text: Span) {
        self.add(text, |tree| Ok(Node::Group(Box::new(tree.operand()))));
    }
}

impl<'t> TreeBuilder<'t> {
    fn finish(mut self) -> ConvertResult<Node<'t>> {
        let node = self.operand();
        self.refused.map_or(Ok(node), Err)
    }

    /// Adds a tree, unless the expression has been refused.
    fn add(&mut self, text: Span, node: impl FnOnce(&mut Self) -> ConvertResult<Node<'t>>) {
        self.count += 1;
        if self.refused.is_some() {
            return;
        }
        let node = match self.count {
            0..=MAX_NODES => node(self),
            _ => self.refuse(text, "the expression is too long to be converted"),
        };
        match node {
            Ok(node) => self.nodes.push(node),
            Err(reason) => self.refused = Some(reason),
        }
    }

    /// Takes the last tree.
    fn operand(&mut self) -> Node<'t> {
        self.nodes.pop().unwrap_or(Node::decimal(0))
    }

    fn refuse<T>(&self, at: Span, message: &'static str) -> ConvertResult<T> {
        Unconverted::fail(at.start as usize, message)
    }

    fn range(&self, text: Span) -> Range<usize> {
        (text.start - self.start) as usize..(text.end - self.start) as usize
    }

    fn slice(&self, text: Span) -> &'t [u8] {
        &self.text[self.range(text)]
    }

    fn unary(&mut self, op: Unary, sign: Span) -> ConvertResult<Node<'t>> {
        let inner = self.operand();
        match &inner {
            Node::Unary(..) if self.from == Dialect::Zilog => {
                self.refuse(sign, "assemblers disagree on signs without parentheses")
            }
            // -A*2 is the same either way.
            Node::Binary(inner, ..)
                if self.from == Dialect::Zilog
                    && (op, *inner) != (Unary::Negate, BinaryOp::Multiply) =>
            {
                self.refuse(sign, SIGN_DISAGREEMENT)
            }
            _ => Ok(Node::Unary(op, Box::new(inner))),
        }
    }

    fn binary(&mut self, op: BinaryOp, sign: Span) -> ConvertResult<Node<'t>> {
        let right = self.operand();
        let left = self.operand();
        if op.sign().is_none() {
            return self.refuse(sign, "TDL has no such operator");
        }
        if self.from == Dialect::Zilog {
            self.check_order(op, [&left, &right], sign)?;
        }
        let next = self.text.get(self.range(sign).end);
        if self.slice(sign) == b"%" && matches!(next, Some(b'0' | b'1')) {
            return self.refuse(sign, "without a blank behind % this may be a binary number");
        }
        Ok(Node::Binary(op, Box::new([left, right]), self.blanks_around(sign)))
    }

    fn blanks_around(&self, sign: Span) -> Blanks<'t> {
        let Range { start, end } = self.range(sign);
        let (before, behind) = (&self.text[..start], &self.text[end..]);
        let is_blank = |byte: &&u8| lex::is_blank(**byte);
        let count_before = before.iter().rev().take_while(is_blank).count();
        let count_behind = behind.iter().take_while(is_blank).count();
        [&before[start - count_before..], &behind[..count_behind]]
    }

    fn tdl_number(&self, value: u16, radix: u8, text: Span) -> ConvertResult<Node<'t>> {
        let written = self.slice(text);
        let (digits, used) = lex::split_radix(written, radix);
        // A radix letter that is not a digit in any radix.
        let is_sure = |last: &u8| matches!(last | 0x20, b'h' | b'o' | b'q' | b'.');
        if radix == UNKNOWN_RADIX && !written.last().is_some_and(is_sure) {
            return match written {
                b"0" | b"1" => Ok(Node::decimal(value)),
                _ => {
                    self.refuse(text, "the radix is not known here; give the number a radix letter")
                }
            };
        }
        Ok(Node::Number(Number::read(value, used, digits, written)))
    }

    /// A quoted constant of TDL, or a number or character of Zilog's notation.
    fn value(&self, value: u16, text: Span) -> ConvertResult<Node<'t>> {
        let [high, low] = value.to_be_bytes();
        match (self.from, self.slice(text)) {
            (Dialect::Tdl, _) if high > 0 => {
                let high = Node::binary(BinaryOp::Multiply, Node::Char(high), Node::decimal(0x100));
                Ok(Node::binary(BinaryOp::Add, high, Node::Char(low)))
            }
            (Dialect::Tdl, _) if low > 0 => Ok(Node::Char(low)),
            (Dialect::Tdl, _) => Ok(Node::decimal(0)),
            // GNU as reads double quotes as a symbol, which is an error there rather than another
            // value.
            (_, [b'\'' | b'"', byte, _]) if is_plain(*byte) && low < 0x80 => Ok(Node::Char(low)),
            (_, [b'\'' | b'"', ..]) => {
                self.refuse(text, "only single characters have a value to all assemblers")
            }
            (_, written) => self.zilog_number(value, written, text),
        }
    }

    fn zilog_number(&self, value: u16, written: &'t [u8], text: Span) -> ConvertResult<Node<'t>> {
        let Some(zilog::Number { digits, run, radix, length }) = zilog::number(written) else {
            return self.refuse(text, "assemblers disagree on this operator");
        };
        if radix == 10 && digits.len() > 1 && digits[0] == b'0' {
            return self.refuse(text, "a zero before a decimal number makes it octal for some");
        }
        // Not all have `#FF`, `&HFF` and `0b101`.
        if matches!((written[0], radix, length - run.len()), (b'#' | b'&', ..) | (b'0', 2, 2)) {
            return self.refuse(text, "this is not a number that all assemblers accept");
        }
        Ok(Node::Number(Number::read(value, radix, digits, run)))
    }

    /// Checks that all assemblers of Zilog's notation do this operation before or after those
    /// beside it.
    fn check_order(&self, op: BinaryOp, sides: [&Node<'_>; 2], sign: Span) -> ConvertResult<()> {
        let is_arithmetic = |op: BinaryOp| is_product(op) || is_sum(op);
        let is_orderless = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
        let agree = |side: &Node<'_>| match side {
            Node::Binary(beside, ..) if *beside == op && is_orderless => true,
            Node::Binary(beside, ..) => is_arithmetic(op) && is_arithmetic(*beside),
            _ => true,
        };
        if matches!(sides[0], Node::Unary(..)) {
            return self.refuse(sign, SIGN_DISAGREEMENT);
        }
        if !sides.into_iter().all(agree) {
            return self.refuse(sign, "assemblers disagree on the order of these; use parentheses");
        }
        Ok(())
    }
}
