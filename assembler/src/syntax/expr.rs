//! Expressions: from text to postfix operations, without recursion, so that no nesting is too deep.

use nom::Parser;

use crate::source::Span;

use super::Cursor;
use super::lex::{self, NumberFault};

/// Gives each distinct name a number.
pub trait Intern {
    /// The number of `name`; equal names have equal numbers.
    fn intern(&mut self, name: &[u8]) -> u32;
}

/// One step of an expression in postfix order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A constant.
    Number(u16),
    /// `.`, the address of the statement.
    Here,
    /// A symbol and the offset of its first letter.
    Symbol(u32, u32),
    /// `SYM#`: the same, and the symbol is external.
    External(u32, u32),
    /// Two's complement of the last value.
    Negate,
    /// One's complement of the last value.
    Not,
    /// A binary operation on the last two values.
    Binary(BinaryOp),
}

/// The binary operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `<`, logical; a negative count shifts right.
    ShiftLeft,
    /// `>`, logical; a negative count shifts left.
    ShiftRight,
    /// `&`.
    And,
    /// `!`.
    Or,
    /// `^`.
    Xor,
    /// `*`, unsigned.
    Multiply,
    /// `/`, unsigned.
    Divide,
    /// `@`, unsigned.
    Remainder,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
}

impl BinaryOp {
    fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            b'<' => Self::ShiftLeft,
            b'>' => Self::ShiftRight,
            b'&' => Self::And,
            b'!' => Self::Or,
            b'^' => Self::Xor,
            b'*' => Self::Multiply,
            b'/' => Self::Divide,
            b'@' => Self::Remainder,
            b'+' => Self::Add,
            b'-' => Self::Subtract,
            _ => return None,
        })
    }

    /// The rank, 1 binding tightest: TDL Z80 assembler manual 2.2, "Expressions".
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::ShiftLeft | Self::ShiftRight => 3,
            Self::And | Self::Or | Self::Xor => 4,
            Self::Multiply | Self::Divide => 5,
            Self::Remainder => 6,
            Self::Add | Self::Subtract => 7,
        }
    }
}

/// What can be wrong with an expression as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A number, symbol or parenthesis is missing.
    Missing,
    /// A parenthesis is not closed.
    Parenthesis,
    /// A quoted constant is not closed on its line.
    Quote,
    /// A number has a digit beyond its radix.
    Digit,
    /// A number has more behind its radix letter.
    Junk,
}

#[derive(Debug, Clone, Copy)]
enum Pending {
    Negate,
    Not,
    Binary(BinaryOp),
    /// An open parenthesis; the radix outside of it.
    Open(u8),
}

/// An expression; the buffers are kept from one to the next.
#[derive(Debug, Clone, Default)]
pub struct Expr {
    /// The operations, empty if there was no expression.
    pub ops: Vec<Op>,
    /// Where it stands.
    pub span: Span,
    /// What is wrong with it.
    pub fault: Option<(Fault, Span)>,
    pending: Vec<Pending>,
}

impl Expr {
    /// An expression of one symbol.
    pub fn symbol(name: u32, span: Span) -> Self {
        Self { ops: vec![Op::Symbol(name, span.start)], span, ..Self::default() }
    }

    /// Reads the longest expression at the cursor. Blanks before it are skipped, those after it too.
    pub fn parse(&mut self, cursor: &mut Cursor<'_>, radix: u8, names: &mut impl Intern) {
        self.ops.clear();
        self.pending.clear();
        self.fault = None;
        cursor.skip_blanks();
        let start = cursor.offset();
        let end = Reading { expr: self, radix, prefix: None, open: 0 }.run(cursor, names);
        self.span = Span::new(start, end);
    }

    /// The symbol, if the expression is just one.
    #[inline]
    pub fn as_symbol(&self) -> Option<u32> {
        match self.ops[..] {
            [Op::Symbol(name, _)] => Some(name),
            _ => None,
        }
    }

    fn set_fault(&mut self, fault: Fault, span: Span) {
        self.fault.get_or_insert((fault, span));
    }

    fn push_pending(&mut self, pending: Pending) {
        match pending {
            Pending::Negate => self.ops.push(Op::Negate),
            Pending::Not => self.ops.push(Op::Not),
            Pending::Binary(op) => self.ops.push(Op::Binary(op)),
            Pending::Open(_) => {}
        }
    }

    /// Moves the waiting operators that bind at least as tight as `rank` to the output.
    fn flush(&mut self, rank: u8) {
        while let Some(pending) = self.pending.last().copied() {
            let tight = match pending {
                Pending::Negate => true,
                Pending::Not => rank >= 4,
                Pending::Binary(op) => op.rank() <= rank,
                Pending::Open(_) => false,
            };
            if !tight {
                break;
            }
            self.pending.pop();
            self.push_pending(pending);
        }
    }
}

struct Reading<'e> {
    expr: &'e mut Expr,
    radix: u8,
    prefix: Option<u8>,
    open: usize,
}

impl Reading<'_> {
    /// Returns the offset just past the expression, before the blanks that follow it.
    fn run(mut self, cursor: &mut Cursor<'_>, names: &mut impl Intern) -> u32 {
        let mut end = cursor.offset();
        while self.operand(cursor, names) {
            end = cursor.offset();
            cursor.skip_blanks();
            while self.open > 0 && cursor.eat(b')') {
                self.close();
                end = cursor.offset();
                cursor.skip_blanks();
            }
            let Some(op) = cursor.peek().and_then(BinaryOp::from_byte) else { break };
            cursor.advance(1);
            self.expr.flush(op.rank());
            self.expr.pending.push(Pending::Binary(op));
        }
        if self.open > 0 {
            self.expr.set_fault(Fault::Parenthesis, cursor.here());
        }
        while let Some(pending) = self.expr.pending.pop() {
            self.expr.push_pending(pending);
        }
        end
    }

    /// Reads prefix operators and one operand.
    fn operand(&mut self, cursor: &mut Cursor<'_>, names: &mut impl Intern) -> bool {
        loop {
            cursor.skip_blanks();
            match cursor.peek() {
                Some(b'0'..=b'9') => return self.number(cursor),
                Some(byte) if lex::is_symbol(byte) => return self.symbol(cursor, names),
                Some(b'\'' | b'"') => return self.quoted(cursor),
                Some(b'-') => self.expr.pending.push(Pending::Negate),
                Some(b'#') => self.expr.pending.push(Pending::Not),
                Some(b'+') => {}
                Some(b'(') => self.open(),
                Some(b'^') => {
                    let Some(radix) = cursor.take(lex::radix_prefix) else {
                        return self.missing(cursor);
                    };
                    self.prefix = Some(radix);
                    continue;
                }
                _ => return self.missing(cursor),
            }
            cursor.advance(1);
        }
    }

    fn open(&mut self) {
        self.expr.pending.push(Pending::Open(self.radix));
        self.radix = self.prefix.take().unwrap_or(self.radix);
        self.open += 1;
    }

    fn close(&mut self) {
        self.expr.flush(u8::MAX);
        if let Some(Pending::Open(radix)) = self.expr.pending.pop() {
            self.radix = radix;
        }
        self.open -= 1;
    }

    fn missing(&mut self, cursor: &Cursor<'_>) -> bool {
        // An expression of nothing at all is the caller's business.
        if !(self.expr.ops.is_empty() && self.expr.pending.is_empty() && self.prefix.is_none()) {
            self.expr.set_fault(Fault::Missing, cursor.here());
            self.expr.ops.push(Op::Number(0));
        }
        false
    }

    fn number(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let start = cursor.offset();
        let radix = self.prefix.take().unwrap_or(self.radix);
        let Some(number) = cursor.take(|input| lex::number(input, radix)) else { return false };
        self.expr.ops.push(Op::Number(number.value));
        match number.fault {
            Some(NumberFault::Digit) => self.expr.set_fault(Fault::Digit, cursor.since(start)),
            Some(NumberFault::Junk) => self.expr.set_fault(Fault::Junk, cursor.since(start)),
            None => {}
        }
        true
    }

    fn symbol(&mut self, cursor: &mut Cursor<'_>, names: &mut impl Intern) -> bool {
        let start = cursor.offset();
        self.prefix = None;
        let Some(name) = cursor.take(lex::symbol) else { return false };
        self.expr.ops.push(if name == b"." {
            Op::Here
        } else if cursor.eat(b'#') {
            Op::External(names.intern(name), start)
        } else {
            Op::Symbol(names.intern(name), start)
        });
        true
    }

    fn quoted(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let start = cursor.offset();
        let quote = cursor.peek().unwrap_or(b'\'');
        if let Some(text) = cursor.take(lex::quoted) {
            self.expr.ops.push(Op::Number(character_value(text, quote)));
        } else {
            cursor.advance(1);
            cursor.take(|rest| nom::bytes::complete::is_not("\r\n").parse_complete(rest));
            self.expr.set_fault(Fault::Quote, cursor.since(start));
            self.expr.ops.push(Op::Number(0));
        }
        true
    }
}

/// The value of a quoted constant: its last two characters of 7 bits, the first in the high byte.
fn character_value(text: &[u8], quote: u8) -> u16 {
    let mut value = 0u16;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        if *byte == quote {
            bytes.next();
        }
        value = value << 8 | u16::from(byte & 0x7F);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoNames;

    impl Intern for NoNames {
        fn intern(&mut self, name: &[u8]) -> u32 {
            u32::from(name[0])
        }
    }

    fn parse(text: &str) -> (Expr, String) {
        let mut cursor = Cursor::new(text.as_bytes(), text.len() as u32);
        let mut expr = Expr::default();
        expr.parse(&mut cursor, 10, &mut NoNames);
        (expr, String::from_utf8_lossy(cursor.rest()).into_owned())
    }

    #[test]
    fn shifts_bind_tighter_than_logic_and_that_tighter_than_multiplication() {
        use BinaryOp::{And, Multiply, ShiftLeft};
        use Op::{Binary, Number};
        assert_eq!(
            parse("1*2&3<4").0.ops,
            [Number(1), Number(2), Number(3), Number(4)]
                .into_iter()
                .chain([ShiftLeft, And, Multiply].map(Binary))
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn an_index_parenthesis_is_not_part_of_the_expression() {
        let (expr, rest) = parse("(1+2)(X)");
        assert_eq!((expr.ops.len(), rest.as_str(), expr.fault), (3, "(X)", None));
    }

    #[test]
    fn deep_nesting_needs_no_deep_stack() {
        let text = "(".repeat(100_000) + "7" + &")".repeat(100_000);
        assert_eq!(parse(&text).0.ops, [Op::Number(7)]);
    }

    #[test]
    fn faults_are_found_where_they_are() {
        assert_eq!(parse("5+").0.fault, Some((Fault::Missing, Span::new(2, 2))));
        assert_eq!(parse("(5").0.fault, Some((Fault::Parenthesis, Span::new(2, 2))));
        assert_eq!(parse("'A").0.fault, Some((Fault::Quote, Span::new(0, 2))));
        assert_eq!(parse("").0.ops, []);
    }
}
