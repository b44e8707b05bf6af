//! Expressions in Zilog's syntax, as far as pasmo, z80asm and GNU as agree.

use tdlasm::syntax::expr::BinaryOp;
use tdlasm::syntax::{Cursor, lex};

use super::expr::{Blanks, Node, Number, Unary};
use super::mnemonics::{is_zilog_operand, is_zilog_symbol};
use super::program::{ConvertResult, Unconverted};
use super::statement_context::StatementContext;
use super::target::Target;
use super::tdl_expr::MAX_NODES;

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

/// The words that are read as operators too.
const WORDS: [(&str, BinaryOp); 6] = [
    ("AND", BinaryOp::And),
    ("OR", BinaryOp::Or),
    ("XOR", BinaryOp::Xor),
    ("MOD", BinaryOp::Remainder),
    ("SHL", BinaryOp::ShiftLeft),
    ("SHR", BinaryOp::ShiftRight),
];

/// The symbol at the start of the text, perhaps empty.
pub(super) fn symbol(text: &[u8]) -> &[u8] {
    let length = text.iter().take_while(|byte| is_zilog_symbol(**byte)).count();
    if text.first().is_some_and(u8::is_ascii_digit) { b"" } else { &text[..length] }
}

/// Reads the longest expression at the cursor, blanks before it too; `None` if there is none.
pub(super) fn read<'t>(cursor: &mut Cursor<'t>) -> ConvertResult<Option<Node<'t>>> {
    cursor.skip_blanks();
    let begins = |byte: u8| is_zilog_symbol(byte) || b"'\"-~+($%".contains(&byte);
    if !cursor.peek().is_some_and(begins) {
        return Ok(None);
    }
    ExprParser { cursor, nodes: 0 }.list().map(Some)
}

struct ExprParser<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    nodes: usize,
}

impl<'t> ExprParser<'_, 't> {
    fn here(&self) -> usize {
        self.cursor.offset() as usize
    }

    /// Reads operands and all operators between them; the order of evaluation is found afterwards.
    fn list(&mut self) -> ConvertResult<Node<'t>> {
        let start = self.here();
        let mut operands = vec![self.operand()?];
        let mut operators = Vec::new();
        loop {
            let before = self.cursor.clone();
            let blanks = self.cursor.take(lex::blanks).unwrap_or_default();
            let Some(op) = self.operator()? else {
                *self.cursor = before;
                return build(operands, &operators, start);
            };
            let behind = self.cursor.take(lex::blanks).unwrap_or_default();
            operators.push((op, [blanks, behind]));
            operands.push(self.operand()?);
        }
    }

    fn operator(&mut self) -> ConvertResult<Option<BinaryOp>> {
        let rest = self.cursor.rest();
        let word = symbol(rest);
        let known = |(spelling, _): &&(&str, BinaryOp)| match word {
            b"" => rest.starts_with(spelling.as_bytes()),
            _ => word.eq_ignore_ascii_case(spelling.as_bytes()),
        };
        let Some((spelling, op)) = OPERATORS.iter().chain(&WORDS).find(known) else {
            return Ok(None);
        };
        self.cursor.advance(spelling.len());
        if *spelling == "%" && matches!(self.cursor.peek(), Some(b'0' | b'1')) {
            return Unconverted::fail(
                self.here(),
                "without a blank behind % this may be a binary number",
            );
        }
        Ok(Some(*op))
    }

    fn operand(&mut self) -> ConvertResult<Node<'t>> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Unconverted::fail(self.here(), "the expression is too long to be converted");
        }
        self.cursor.skip_blanks();
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
                return Unconverted::fail(
                    self.here(),
                    "assemblers disagree on signs without parentheses",
                );
            }
            return Ok(Node::Unary(op, Box::new(inner)));
        }
        match self.cursor.peek() {
            Some(b'(') => self.group(),
            Some(b'\'' | b'"') => self.character(),
            Some(b'0'..=b'9' | b'$' | b'%') => self.number(),
            _ if !word.is_empty() => self.name(word),
            _ => Unconverted::fail(self.here(), "a number or symbol is missing here"),
        }
    }

    fn group(&mut self) -> ConvertResult<Node<'t>> {
        self.cursor.advance(1);
        let inner = self.list()?;
        self.cursor.skip_blanks();
        if !self.cursor.eat(b')') {
            return Unconverted::fail(self.here(), "a parenthesis is not closed");
        }
        Ok(Node::Group(Box::new(inner)))
    }

    fn name(&mut self, word: &'t [u8]) -> ConvertResult<Node<'t>> {
        if is_zilog_operand(word) {
            return Unconverted::fail(self.here(), "a register or condition has no value");
        }
        self.cursor.advance(word.len());
        Ok(Node::Name(word))
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

    fn number(&mut self) -> ConvertResult<Node<'t>> {
        let at = self.here();
        let rest = self.cursor.rest();
        let (skipped, radix) = match rest {
            [b'$', digit, ..] if digit.is_ascii_hexdigit() => (1, Some(16)),
            [b'$', ..] => {
                self.cursor.advance(1);
                return Ok(Node::Here);
            }
            [b'%', ..] => (1, Some(2)),
            [b'0', b'x' | b'X', ..] => (2, Some(16)),
            _ => (0, None),
        };
        let length = rest[skipped..].iter().take_while(|byte| is_zilog_symbol(**byte)).count();
        let run = &rest[skipped..skipped + length];
        let (digits, radix) = radix.map_or_else(|| split(run), |radix| (run, radix));
        let octal = radix == 10 && digits.len() > 1 && digits[0] == b'0';
        let text = std::str::from_utf8(digits).unwrap_or_default();
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match u16::from_str_radix(text, radix.into()) {
            Ok(value) if plain && !octal => {
                self.cursor.advance(skipped + length);
                Ok(Node::Number(Number::read(value, radix, digits, run)))
            }
            Ok(_) => {
                Unconverted::fail(at, "a zero before a decimal number makes it octal for some")
            }
            Err(_) => {
                Unconverted::fail(at, "this is not a 16-bit number that all assemblers accept")
            }
        }
    }
}

/// Whether a byte stands for itself in a quoted text of every assembler.
pub(super) fn is_plain(byte: u8) -> bool {
    byte != b'\\' && (byte >= 0x80 || matches!(byte, b' '..=b'~'))
}

/// Splits a number into digits and radix, by its last letter.
fn split(run: &[u8]) -> (&[u8], u8) {
    match run.split_last() {
        Some((last, digits)) if last.is_ascii_alphabetic() => {
            lex::radix_of(*last).map_or((run, 10), |radix| (digits, radix))
        }
        _ => (run, 10),
    }
}

/// Puts a list of operands together, if all assemblers agree on the order.
fn build<'t>(
    operands: Vec<Node<'t>>,
    operators: &[(BinaryOp, Blanks<'t>)],
    at: usize,
) -> ConvertResult<Node<'t>> {
    let Some((first, _)) = operators.first() else {
        return Ok(operands.into_iter().next().unwrap_or(Node::Here));
    };
    if matches!(operands[0], Node::Unary(Unary::Negate | Unary::Not, _)) {
        return Unconverted::fail(
            at,
            "assemblers disagree how far the sign reaches; use parentheses",
        );
    }
    let alike = operators.iter().all(|(op, _)| op == first);
    let orderless = matches!(first, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
    let arithmetic = operators.iter().all(|(op, _)| is_product(*op) || is_sum(*op));
    if !(arithmetic || operators.len() == 1 || alike && orderless) {
        return Unconverted::fail(at, "assemblers disagree on the order of these; use parentheses");
    }
    let mut operands = operands.into_iter();
    // The sum so far with its pending sign, and the current product.
    let mut sum: Option<(Node<'t>, BinaryOp, Blanks<'t>)> = None;
    let mut product = operands.next().unwrap_or(Node::Here);
    for ((op, blanks), operand) in operators.iter().zip(operands) {
        if is_sum(*op) {
            product = join(sum.take(), product);
            sum = Some((std::mem::replace(&mut product, operand), *op, *blanks));
        } else {
            product = Node::Binary(*op, Box::new([product, operand]), *blanks);
        }
    }
    Ok(join(sum, product))
}

fn join<'t>(sum: Option<(Node<'t>, BinaryOp, Blanks<'t>)>, right: Node<'t>) -> Node<'t> {
    match sum {
        Some((left, op, blanks)) => Node::Binary(op, Box::new([left, right]), blanks),
        None => right,
    }
}

fn is_product(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Multiply | BinaryOp::Divide)
}

fn is_sum(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Subtract)
}

pub(super) fn write(
    node: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    match node {
        Node::Number(number) => out.extend_from_slice(context.number(number).as_bytes()),
        Node::Char(byte) if is_plain(*byte) && *byte != b'\'' => {
            out.extend_from_slice(&[b'\'', *byte, b'\'']);
        }
        Node::Char(byte) => write(&Node::Number(Number::new((*byte).into(), 16)), context, out)?,
        Node::Here => out.push(if context.is_asxxxx() { b'.' } else { b'$' }),
        Node::Name(name) => out.extend_from_slice(&context.name(name)?),
        Node::Group(inner) => parenthesise(inner, context, out)?,
        Node::Unary(op, inner) => {
            out.push(match op {
                Unary::Plus => b'+',
                Unary::Negate => b'-',
                Unary::Not => b'~',
            });
            write_apart(inner, context, out)?;
        }
        Node::Binary(op, sides, blanks) => write_binary(*op, sides, *blanks, context, out)?,
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

/// Appends an expression as a single operand, in parentheses if necessary.
fn write_apart(
    node: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    if node.is_atom() || matches!(node, Node::Group(_)) {
        write(node, context, out)
    } else {
        parenthesise(node, context, out)
    }
}

fn write_binary(
    op: BinaryOp,
    sides: &[Node<'_>; 2],
    blanks: Blanks<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    context.check_right_side(op, &sides[1])?;
    if op == BinaryOp::Remainder && !context.target.is_none_or(Target::has_remainder) {
        return write_remainder(sides, context, out);
    }
    write_side(op, sides, 0, context, out)?;
    // Next to a digit % would begin a binary number.
    let blanks = if op == BinaryOp::Remainder { [&b" "[..]; 2] } else { blanks };
    let sign = sign_of(op, context);
    // The blanks around a word belong to it.
    let blanks = if sign.starts_with(' ') { [&b""[..]; 2] } else { blanks };
    out.extend_from_slice(blanks[0]);
    out.extend_from_slice(sign.as_bytes());
    out.extend_from_slice(blanks[1]);
    write_side(op, sides, 1, context, out)
}

/// The sign of an operator, as the target spells it.
fn sign_of(op: BinaryOp, context: &StatementContext<'_>) -> &'static str {
    let usual = || OPERATORS.iter().find(|(_, known)| *known == op).map_or("", |(sign, _)| sign);
    context.target.and_then(|target| target.sign(op)).unwrap_or_else(usual)
}

/// Appends a remainder as `a - a / b * b`, for targets without an operator for it.
fn write_remainder(
    sides: &[Node<'_>; 2],
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    let [left, right] = sides.clone();
    let whole = Node::binary(BinaryOp::Divide, left.clone(), right.clone());
    let multiple = Node::binary(BinaryOp::Multiply, whole, right);
    parenthesise(&Node::binary(BinaryOp::Subtract, left, multiple), context, out)
}

/// Appends one side of an operation, in parentheses unless all assemblers agree without.
fn write_side(
    op: BinaryOp,
    sides: &[Node<'_>; 2],
    at: usize,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    let node = &sides[at];
    if StatementContext::needs_portable_operand(op, at) && !context.is_portable(node) {
        out.push(b'(');
        write_apart(node, context, out)?;
        out.extend_from_slice(sign_of(BinaryOp::And, context).as_bytes());
        out.extend_from_slice(context.number(&Number::new(0xFFFF, 16)).as_bytes());
        out.push(b')');
        return Ok(());
    }
    match node {
        Node::Unary(Unary::Plus, inner) => write_apart(inner, context, out),
        Node::Unary(Unary::Negate, inner) if at == 0 && is_sum(op) => {
            out.extend_from_slice(b"0-");
            write_apart(inner, context, out)
        }
        Node::Binary(inner, ..) if stays_together(op, *inner, at) => write(node, context, out),
        _ => write_apart(node, context, out),
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

/// Appends an immediate operand so that it does not begin with a parenthesis, as addresses do.
pub(super) fn write_operand(
    node: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    let node = if let Node::Group(_) = node { node.without_parentheses() } else { node };
    let mut text = Vec::new();
    write(node, context, &mut text)?;
    let weak = matches!(node, Node::Binary(op, ..) if !is_product(*op) && !is_sum(*op));
    let (open, close): (&[u8], &[u8]) = match (text.first(), weak) {
        (Some(b'('), true) => (b"0+(", b")"),
        (Some(b'('), false) => (b"0+", b""),
        _ => (b"", b""),
    };
    for part in [open, &text, close] {
        out.extend_from_slice(part);
    }
    Ok(())
}

/// Appends the displacement of an index register, with its sign.
pub(super) fn write_displacement(
    node: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    let node = node.without_parentheses();
    let exact =
        || node.exact_value(&mut |name| context.names.value_facts(name, context.scope).value);
    // If it contains a forward reference, pasmo evaluates a negative displacement with 16 bits, and
    // pasmo and GNU as take -128..127 only.
    if let Some(value) = context.target.and_then(|_| exact())
        && node.constant().is_none()
        && !(0..128).contains(&value)
    {
        out.extend_from_slice(format!("{:+}", value as i8).as_bytes());
        return Ok(());
    }
    if let Some(value) = node.constant() {
        let byte = match value {
            -256..=255 | 0xFF00..=0xFFFF => value as i8,
            _ => return context.unconverted("the displacement does not fit in a byte"),
        };
        let written = match node {
            Node::Unary(Unary::Negate, inner) if byte < 0 => Some((b'-', &**inner)),
            _ if byte >= 0 => Some((b'+', node)),
            _ => None,
        };
        if let Some((sign, Node::Number(number))) = written
            && u32::from(number.value) == i32::from(byte).unsigned_abs()
        {
            out.push(sign);
            return write(&Node::Number(*number), context, out);
        }
        out.extend_from_slice(format!("{byte:+}").as_bytes());
        return Ok(());
    }
    match node {
        Node::Unary(Unary::Negate, inner) => {
            out.push(b'-');
            write_apart(inner, context, out)
        }
        // In 16 bits this would be a large positive number, which pasmo rejects as out of range.
        Node::Binary(BinaryOp::Subtract, sides, _) if sides[0].constant() == Some(0) => {
            out.push(b'-');
            write_apart(&sides[1], context, out)
        }
        Node::Binary(op, ..) if is_sum(*op) || is_product(*op) => {
            out.push(b'+');
            write(node, context, out)
        }
        _ => {
            out.push(b'+');
            write_apart(node, context, out)
        }
    }
}
