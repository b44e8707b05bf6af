//! Parses expressions to postfix operations, without recursion, so that no nesting is too deep.
//!
//! A syntax error is an operation of its own, at the position where ZASM finds it, so that
//! evaluation reports all errors in ZASM's order.

use smallvec::SmallVec;

use super::{Cursor, lex};
use crate::source::Span;

/// Maps names to numbers.
pub trait Intern {
    /// Returns the number of `name`; equal names have equal numbers.
    fn intern(&mut self, name: &[u8]) -> u32;

    /// Returns the value of PASM's operand `&`, if there is one.
    fn parameter_count(&self) -> Option<u16> {
        None
    }

    /// Returns the number of PASM's temporary at the start of a text, and its length there.
    fn temporary(&mut self, _text: &[u8]) -> Option<(u32, usize)> {
        None
    }
}

/// Where a parser puts the operations of an expression.
pub trait Output {
    /// Returns the number of operations that it has.
    fn count(&self) -> usize;

    /// Takes the next operation. `text` is that of the operand or the sign.
    fn push(&mut self, op: Op, text: Span);

    /// Takes a number of TDL, whose radix is this one unless it ends in the letter of another.
    fn push_number(&mut self, value: u16, _radix: u8, text: Span) {
        self.push(Op::Number(value), text);
    }

    /// Takes the parentheses around the last value, behind an [`Op::Group`] if there is one.
    fn push_parentheses(&mut self, _text: Span) {}
}

impl Output for Vec<Op> {
    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn push(&mut self, op: Op, _text: Span) {
        Vec::push(self, op);
    }
}

/// The rank of TDL's unary `#`: see [`BinaryOp::rank`].
pub const NOT_RANK: u8 = 4;

/// The beginning of the name of a `..local`, whose meaning depends on the scope.
pub const LOCAL: &[u8] = b"..";

/// The end of a text on CP/M.
const CPM_END: u8 = 0x1A;

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
    /// The end of a parenthesis around an operation: a base that has cancelled out is dropped.
    Group,
    /// A syntax error, which leaves the values as they are.
    Fault(Fault, Span),
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
    /// `==`, as the following ones in Zilog's notation only: FFFFH if it holds, else 0.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`, unsigned.
    Less,
    /// `<=`, unsigned.
    LessEqual,
    /// `>`, unsigned.
    Greater,
    /// `>=`, unsigned.
    GreaterEqual,
    /// `&&`: whether neither value is 0.
    Both,
    /// `||`: whether a value is not 0.
    Either,
}

impl BinaryOp {
    /// The operations by their signs.
    pub const SIGNS: [(u8, Self); 10] = [
        (b'<', Self::ShiftLeft),
        (b'>', Self::ShiftRight),
        (b'&', Self::And),
        (b'!', Self::Or),
        (b'^', Self::Xor),
        (b'*', Self::Multiply),
        (b'/', Self::Divide),
        (b'@', Self::Remainder),
        (b'+', Self::Add),
        (b'-', Self::Subtract),
    ];

    /// Returns the operation of a sign.
    pub fn from_sign(sign: u8) -> Option<Self> {
        Self::SIGNS.iter().find(|(known, _)| *known == sign).map(|(_, op)| *op)
    }

    /// Returns the sign, if TDL has the operation.
    pub fn sign(self) -> Option<u8> {
        Self::SIGNS.iter().find(|(_, op)| *op == self).map(|(sign, _)| *sign)
    }

    /// Returns the precedence, 1 binding tightest: TDL Z80 assembler manual 2.2, "Expressions".
    /// Operators that TDL lacks are the loosest.
    pub fn rank(self) -> u8 {
        match self {
            Self::ShiftLeft | Self::ShiftRight => 3,
            Self::And | Self::Or | Self::Xor => 4,
            Self::Multiply | Self::Divide => 5,
            Self::Remainder => 6,
            Self::Add | Self::Subtract => 7,
            _ => 8,
        }
    }

    /// Returns `true` if the operation compares two numbers.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }
}

/// A syntax error in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The expression ends where an operand is expected.
    Missing,
    /// A character that cannot begin an operand.
    Stray,
    /// `^` is not followed by a radix letter.
    Radix,
    /// A second operand follows without an operator.
    Operator,
    /// A parenthesis is not closed.
    Parenthesis,
    /// A parenthesis is not closed at the end of the line, which ZASM takes as the closing one.
    OpenLine,
    /// A closing parenthesis is unmatched.
    Closing,
    /// A quoted constant is not closed on its line.
    Quote,
    /// A number has a digit beyond its radix.
    Digit,
}

impl Fault {
    /// Returns what is wrong.
    pub fn message(self) -> &'static str {
        match self {
            Self::Missing => "a number, symbol or parenthesis is missing here",
            Self::Stray => "a number, symbol or parenthesis is expected here",
            Self::Radix => "^ is followed by none of B O Q D H",
            Self::Operator => "an operator or a comma is missing here",
            Self::Parenthesis | Self::OpenLine => "this parenthesis is not closed",
            Self::Closing => "this parenthesis is unmatched",
            Self::Quote => "the quote is not closed on this line",
            Self::Digit => "a digit is too large for the radix; only those before it count",
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Pending {
    Negate(Span),
    Not(Span),
    Binary(BinaryOp, Span),
    /// An open parenthesis: the radix outside of it, and its position.
    Open(u8, Span),
}

/// An expression, whose operations are a part of a list.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expr {
    /// The index of the first operation.
    pub first: u32,
    /// The number of operations, 0 if there was no expression.
    pub count: u32,
    /// The text that was read.
    pub span: Span,
    /// Whether the text has the same operations wherever it is read: no `..locals` and no errors.
    pub is_context_free: bool,
}

impl Expr {
    /// Parses the longest expression at the cursor, with the blanks before and after it, and appends
    /// its operations to `ops`.
    pub fn parse(
        cursor: &mut Cursor<'_>,
        radix: u8,
        names: &mut impl Intern,
        ops: &mut impl Output,
    ) -> Self {
        cursor.skip_blanks();
        let first = ops.count();
        let mut parser = ExprParser {
            ops,
            last: None,
            pending: SmallVec::new(),
            radix,
            prefix: None,
            open: 0,
            has_started: false,
            is_context_free: true,
        };
        let span = parser.run(cursor, names);
        let is_context_free = parser.is_context_free;
        Self { first: first as u32, count: (ops.count() - first) as u32, span, is_context_free }
    }

    /// Returns the operations among those of the list.
    #[inline]
    pub fn operations(self, ops: &[Op]) -> &[Op] {
        &ops[self.first as usize..][..self.count as usize]
    }
}

/// Returns `true` at a byte that ends every expression without open parentheses.
fn ends_expression(cursor: &Cursor<'_>) -> bool {
    matches!(cursor.peek(), None | Some(b'\n' | b'\r' | b',' | b';'))
}

struct ExprParser<'o, O> {
    ops: &'o mut O,
    /// The last operation of the expression so far.
    last: Option<Op>,
    pending: SmallVec<[Pending; 4]>,
    radix: u8,
    prefix: Option<u8>,
    open: usize,
    /// Whether anything was read, even a sign without effect.
    has_started: bool,
    /// See [`Expr::is_context_free`].
    is_context_free: bool,
}

impl<O: Output> ExprParser<'_, O> {
    /// Returns the span of the expression, without the blanks that follow it.
    fn run(&mut self, cursor: &mut Cursor<'_>, names: &mut impl Intern) -> Span {
        let start = cursor.offset();
        let mut end = start;
        while self.operand(cursor, names) {
            end = cursor.offset();
            if !self.operator(cursor, &mut end) {
                break;
            }
        }
        let at_end = matches!(cursor.peek(), Some(b'\n' | b'\r'));
        let mut span = Span::new(start, end);
        while let Some(pending) = self.pending.pop() {
            match pending {
                // ZASM takes the line end as the parenthesis, and checks the value after it.
                Pending::Open(_, open) if at_end => {
                    self.fault(Fault::OpenLine, Span::new(open.start, cursor.offset()));
                    span = cursor.next_line();
                }
                Pending::Open(_, open) => self.fault(Fault::Parenthesis, open),
                operator => self.push_pending(operator),
            }
        }
        span
    }

    fn push(&mut self, op: Op, text: Span) {
        self.last = Some(op);
        self.ops.push(op, text);
    }

    fn fault(&mut self, fault: Fault, span: Span) {
        self.is_context_free = false;
        self.push(Op::Fault(fault, span), span);
    }

    fn push_pending(&mut self, pending: Pending) {
        match pending {
            Pending::Negate(sign) => self.push(Op::Negate, sign),
            Pending::Not(sign) => self.push(Op::Not, sign),
            Pending::Binary(op, sign) => self.push(Op::Binary(op), sign),
            Pending::Open(..) => {}
        }
    }

    /// Moves the pending operators that bind at least as tight as `rank` to the output.
    fn flush(&mut self, rank: u8) {
        while let Some(pending) = self.pending.last().copied() {
            let tight = match pending {
                Pending::Negate(_) => true,
                Pending::Not(_) => rank >= NOT_RANK,
                Pending::Binary(op, _) => op.rank() <= rank,
                Pending::Open(..) => false,
            };
            if !tight {
                break;
            }
            self.pending.pop();
            self.push_pending(pending);
        }
    }

    /// Reads the operator after an operand, and the parentheses closed before it. Where a
    /// parenthesis should be closed, ZASM takes the next character as the closing one.
    fn operator(&mut self, cursor: &mut Cursor<'_>, end: &mut u32) -> bool {
        loop {
            cursor.skip_blanks();
            while self.closing(cursor) {
                *end = cursor.offset();
                cursor.skip_blanks();
                if matches!(self.last, Some(Op::Fault(Fault::Closing, _))) {
                    return false; // ZASM ignores the operators after it.
                }
            }
            if self.open == 0 && ends_expression(cursor) {
                return false;
            }
            if let Some(op) = cursor.peek().and_then(BinaryOp::from_sign) {
                let sign = cursor.here();
                cursor.advance(1);
                self.flush(op.rank());
                self.pending.push(Pending::Binary(op, sign));
                return true;
            }
            *end = self.after_operand(cursor, *end);
            cursor.skip_blanks();
            if self.open == 0 || matches!(cursor.peek(), None | Some(b'\n' | b'\r')) {
                return false;
            }
            if !cursor.eat(b')') {
                self.fault(Fault::Parenthesis, cursor.here());
                cursor.advance(1);
            }
            *end = cursor.offset();
            self.close(*end);
        }
    }

    /// Reads a closing parenthesis, if one follows.
    fn closing(&mut self, cursor: &mut Cursor<'_>) -> bool {
        if cursor.peek() != Some(b')') {
            return false;
        }
        let here = cursor.here();
        cursor.advance(1);
        if self.open > 0 {
            self.close(cursor.offset());
        } else {
            self.flush(u8::MAX);
            self.fault(Fault::Closing, here);
        }
        true
    }

    /// Reports a second operand without an operator. ZASM skips a symbol there, but not a number.
    fn after_operand(&mut self, cursor: &mut Cursor<'_>, end: u32) -> u32 {
        let start = cursor.offset();
        let Some(byte) = cursor.peek() else { return end };
        if matches!(byte, b',' | b';' | b'(' | b')' | b']' | b'\n' | b'\r' | CPM_END) {
            return end;
        }
        if cursor.take(lex::symbol).is_none() {
            self.fault(Fault::Operator, cursor.gap());
            return end;
        }
        self.fault(Fault::Operator, cursor.since(start));
        cursor.offset()
    }

    /// Reads prefix operators and one operand.
    fn operand(&mut self, cursor: &mut Cursor<'_>, names: &mut impl Intern) -> bool {
        loop {
            cursor.skip_blanks();
            match cursor.peek() {
                Some(b'0'..=b'9') => return self.number(cursor),
                Some(byte) if lex::is_symbol(byte) => return self.symbol(cursor, names),
                Some(b'\'' | b'"') => return self.quoted(cursor),
                Some(b'-') => self.pending.push(Pending::Negate(cursor.here())),
                Some(b'#') => self.pending.push(Pending::Not(cursor.here())),
                Some(b'+') => {}
                Some(b'(') => self.open(cursor.here()),
                Some(b'^') => {
                    self.radix_prefix(cursor);
                    continue;
                }
                Some(b'&') if names.parameter_count().is_some() => {
                    let count = names.parameter_count().unwrap_or_default();
                    self.is_context_free = false;
                    self.push(Op::Number(count), cursor.here());
                    cursor.advance(1);
                    return true;
                }
                None | Some(b'\n' | b'\r' | b';') => return self.missing(cursor),
                Some(_) => {
                    let at = cursor.offset();
                    if let Some((name, length)) = names.temporary(cursor.rest()) {
                        self.is_context_free = false;
                        cursor.advance(length);
                        self.push(Op::Symbol(name, at), cursor.since(at));
                        return true;
                    }
                    self.fault(Fault::Stray, Span::new(at, at));
                }
            }
            self.has_started = true;
            cursor.advance(1);
        }
    }

    /// Reads `^` and the letter of a radix.
    fn radix_prefix(&mut self, cursor: &mut Cursor<'_>) {
        let start = cursor.offset();
        self.has_started = true;
        if let Some(radix) = cursor.take(lex::radix_prefix) {
            self.prefix = Some(radix);
            return;
        }
        cursor.advance(1);
        if cursor.peek().is_some_and(|byte| !lex::is_blank(byte) && !matches!(byte, b'\n' | b'\r'))
        {
            cursor.advance(1);
        }
        self.fault(Fault::Radix, cursor.since(start));
    }

    fn open(&mut self, at: Span) {
        self.pending.push(Pending::Open(self.radix, at));
        self.radix = self.prefix.take().unwrap_or(self.radix);
        self.open += 1;
    }

    /// Ends the innermost open parenthesis, whose closing one ends at `end`.
    fn close(&mut self, end: u32) {
        self.flush(u8::MAX);
        if let Some(Pending::Open(radix, open)) = self.pending.pop() {
            self.radix = radix;
            let text = Span::new(open.start, end);
            if matches!(self.last, Some(Op::Binary(_) | Op::Negate | Op::Not)) {
                self.push(Op::Group, text);
            }
            self.ops.push_parentheses(text);
        }
        self.open -= 1;
    }

    fn missing(&mut self, cursor: &Cursor<'_>) -> bool {
        // An empty expression is reported by the caller, if at all.
        if self.has_started || self.last.is_some() {
            self.fault(Fault::Missing, cursor.gap());
            self.push(Op::Number(0), cursor.gap());
        }
        false
    }

    fn number(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let start = cursor.offset();
        let radix = self.prefix.take().unwrap_or(self.radix);
        let Some(number) = cursor.take(|input| lex::number(input, radix)) else { return false };
        let text = cursor.since(start);
        self.last = Some(Op::Number(number.value));
        self.ops.push_number(number.value, radix, text);
        if number.has_invalid_digit {
            self.fault(Fault::Digit, text);
        }
        true
    }

    fn symbol(&mut self, cursor: &mut Cursor<'_>, names: &mut impl Intern) -> bool {
        self.prefix = None;
        let start = cursor.offset();
        let Some(symbol) = cursor.take(lex::symbol) else { return false };
        self.is_context_free &= !symbol.starts_with(LOCAL);
        let text = cursor.since(start);
        let op = if symbol == b"." {
            Op::Here
        } else if cursor.eat_behind_blanks(b'#') {
            Op::External(names.intern(symbol), start)
        } else {
            Op::Symbol(names.intern(symbol), start)
        };
        self.push(op, text);
        true
    }

    fn quoted(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let start = cursor.offset();
        self.prefix = None;
        let quote = cursor.peek().unwrap_or(b'\'');
        if let Some(text) = cursor.take(lex::quoted) {
            self.push(Op::Number(character_value(text, quote)), cursor.since(start));
            return true;
        }
        // ZASM takes the rest of the line as the text.
        cursor.advance(1);
        let text = cursor.rest();
        cursor.skip_to_line_end();
        let length = text.len() - cursor.rest().len();
        self.push(Op::Number(character_value(&text[..length], quote)), cursor.since(start));
        self.fault(Fault::Quote, cursor.since(start));
        true
    }
}

/// Returns the value of a quoted constant: its last two characters of 7 bits, high byte first.
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

    fn parse(text: &str) -> (Vec<Op>, String) {
        let mut cursor = Cursor::new(text.as_bytes(), text.len() as u32);
        let mut ops = Vec::new();
        Expr::parse(&mut cursor, 10, &mut NoNames, &mut ops);
        (ops, String::from_utf8_lossy(cursor.rest()).into_owned())
    }

    fn faults(text: &str) -> Vec<(Fault, u32)> {
        let ops = parse(text).0;
        let fault = |op: &Op| match op {
            Op::Fault(fault, span) => Some((*fault, span.start)),
            _ => None,
        };
        ops.iter().filter_map(fault).collect()
    }

    #[test]
    fn shifts_bind_tighter_than_logic_and_that_tighter_than_multiplication() {
        use BinaryOp::{And, Multiply, ShiftLeft};
        use Op::{Binary, Number};
        assert_eq!(
            parse("1*2&3<4").0,
            [Number(1), Number(2), Number(3), Number(4)]
                .into_iter()
                .chain([ShiftLeft, And, Multiply].map(Binary))
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn an_index_parenthesis_is_not_part_of_the_expression() {
        let (ops, rest) = parse("(1+2)(X)");
        assert_eq!((ops.len(), rest.as_str()), (4, "(X)"));
    }

    #[test]
    fn deep_nesting_needs_no_deep_stack() {
        let text = "(".repeat(100_000) + "7" + &")".repeat(100_000);
        assert_eq!(parse(&text).0, [Op::Number(7)]);
    }

    #[test]
    fn faults_are_found_where_they_are() {
        assert_eq!(faults("5+"), [(Fault::Missing, 2)]);
        assert_eq!(faults("(5"), [(Fault::Parenthesis, 0)]);
        assert_eq!(faults("5)"), [(Fault::Closing, 1)]);
        assert_eq!(faults("'A"), [(Fault::Quote, 0)]);
        assert_eq!(faults("9//2"), [(Fault::Stray, 2)]);
        assert_eq!(parse("").0, []);
    }

    #[test]
    fn a_second_symbol_is_ignored_and_a_second_number_is_not() {
        assert_eq!((faults("A B,C"), parse("A B,C").1), (vec![(Fault::Operator, 2)], ",C".into()));
        assert_eq!((faults("1 2"), parse("1 2").1), (vec![(Fault::Operator, 2)], "2".into()));
    }
}
