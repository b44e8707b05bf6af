//! Parses expressions: what both dialects have in common.

use tdlasm::syntax::zilog::is_symbol;
use tdlasm::syntax::{Cursor, lex};

use super::expr::Node;
use super::options::Dialect;
use super::program::{ConvertResult, Unconverted};

/// Expressions with more operators, parentheses and operands than this are kept.
const MAX_NODES: usize = 200;
/// The highest rank of TDL's operators.
pub(super) const LOOSEST: u8 = 7;

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
        Dialect::Zilog => is_symbol(byte) || b"'\"-~+($%".contains(&byte),
    };
    if !cursor.peek().is_some_and(begins) {
        return Ok(None);
    }
    ExprParser { cursor, from, radix, prefix: None, nodes: 0 }.expression().map(Some)
}

pub(super) struct ExprParser<'c, 't> {
    pub(super) cursor: &'c mut Cursor<'t>,
    from: Dialect,
    pub(super) radix: Option<u8>,
    /// The radix of the next number or parenthesis in TDL.
    pub(super) prefix: Option<u8>,
    nodes: usize,
}

impl<'t> ExprParser<'_, 't> {
    pub(super) fn here(&self) -> usize {
        self.cursor.offset() as usize
    }

    /// Returns `Err` with a reason at the cursor.
    pub(super) fn fail<T>(&self, message: &'static str) -> ConvertResult<T> {
        Unconverted::fail(self.here(), message)
    }

    fn expression(&mut self) -> ConvertResult<Node<'t>> {
        match self.from {
            Dialect::Tdl => self.level(LOOSEST),
            Dialect::Zilog => self.zilog_expression(),
        }
    }

    pub(super) fn operand(&mut self) -> ConvertResult<Node<'t>> {
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
}
