//! Parses the directives of Zilog's dialect that have a counterpart.

use std::borrow::Cow;

use tdlasm::syntax::expr::BinaryOp;
use tdlasm::syntax::lex;

use super::super::expr::Node;
use super::super::program::{
    Body, CURRENT_ADDRESS_IN_LIST, ConvertResult, Item, Spaced, Unconverted,
};
use super::super::source_scan::file_name;
use super::super::zilog_expr::{self, is_plain};
use super::StatementParser;

impl<'t> StatementParser<'t, '_> {
    pub(super) fn directive(&mut self, word: &[u8], at: usize) -> ConvertResult<Body<'t>> {
        match word.to_ascii_uppercase().as_slice() {
            b"DB" | b"DEFB" | b"DEFM" => self.bytes(),
            b"DW" | b"DEFW" => self.words(),
            b"DS" | b"DEFS" => self.value().map(reserve),
            b"ORG" => self.value().map(Body::Origin),
            b"END" if self.ifs == 0 && self.mode.depth == 0 => {
                Ok(Body::End(zilog_expr::read(&mut self.cursor)?))
            }
            b"INCLUDE" => self.include(),
            b"EXTERN" => self.symbols().map(Body::External),
            b"GLOBAL" | b"PUBLIC" => self.symbols().map(Body::Global),
            [b'.', ..] => Unconverted::fail(at, "directives with a period stay as they are"),
            _ => Unconverted::fail(
                at,
                "this is not an instruction or directive with a counterpart; a label needs a colon",
            ),
        }
    }

    pub(super) fn value(&mut self) -> ConvertResult<Node<'t>> {
        let at = self.here();
        let node = zilog_expr::read(&mut self.cursor)?;
        node.map_or_else(|| Unconverted::fail(at, "a value is missing here"), Ok)
    }

    fn list<T>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> ConvertResult<T>,
        has_here: impl Fn(&T) -> bool,
    ) -> ConvertResult<Vec<Spaced<'t, T>>> {
        let mut list = Vec::new();
        loop {
            let blanks = self.cursor.take(lex::blanks).unwrap_or_default();
            let at = self.here();
            let item = element(self)?;
            if !list.is_empty() && has_here(&item) {
                return Unconverted::fail(at, CURRENT_ADDRESS_IN_LIST);
            }
            list.push(Spaced { blanks, item });
            if !self.cursor.eat_behind_blanks(b',') {
                return Ok(list);
            }
        }
    }

    fn words(&mut self) -> ConvertResult<Body<'t>> {
        self.list(Self::value, Node::has_current_address).map(Body::Words)
    }

    fn bytes(&mut self) -> ConvertResult<Body<'t>> {
        let has_here =
            |item: &Item<'t>| matches!(item, Item::Value(node) if node.has_current_address());
        self.list(Self::item, has_here).map(Body::Bytes)
    }

    fn symbols(&mut self) -> ConvertResult<Vec<Spaced<'t, &'t [u8]>>> {
        let symbol = |parser: &mut Self| match parser.word() {
            (b"", range) => Unconverted::fail(range.start, "a symbol is missing"),
            (word, _) => Ok(word),
        };
        self.list(symbol, |_| false)
    }

    /// Reads a text if a comma or the end follows it, else an expression.
    fn item(&mut self) -> ConvertResult<Item<'t>> {
        let before = self.cursor.clone();
        if let Some(quote @ (b'\'' | b'"')) = self.cursor.peek() {
            let rest = self.cursor.rest();
            let length = memchr::memchr3(quote, b'\n', b'\r', &rest[1..]).unwrap_or(rest.len() - 1);
            let text = &rest[1..=length];
            if rest.get(length + 1) == Some(&quote) {
                self.cursor.advance(length + 2);
                let behind = self.cursor.clone();
                self.cursor.skip_blanks();
                let ends = self.cursor.at_statement_end() || self.cursor.peek() == Some(b',');
                self.cursor = behind;
                if ends && !text.is_empty() && text.iter().copied().all(is_plain) {
                    return Ok(Item::Text(Cow::Borrowed(text)));
                }
            }
            self.cursor = before;
        }
        self.value().map(Item::Value)
    }

    fn include(&mut self) -> ConvertResult<Body<'t>> {
        self.cursor.skip_blanks();
        let at = self.here();
        let rest = self.cursor.rest();
        let length = memchr::memchr3(b'\n', b'\r', b';', rest).unwrap_or(rest.len());
        let operand = rest[..length].trim_ascii_end();
        self.cursor.advance(operand.len());
        let name = file_name(operand);
        if name.is_empty() || name.iter().any(|byte| matches!(byte, b'"' | b'\'')) {
            return Unconverted::fail(at, "this is not a file name");
        }
        if self.scan.inserted_radix {
            self.mode.radix = None;
        }
        Ok(Body::Insert(name))
    }
}

/// Reserves bytes, or words if the size is a multiplication by two.
fn reserve(size: Node<'_>) -> Body<'_> {
    match size {
        Node::Binary(BinaryOp::Multiply, sides, _) if sides[1].constant() == Some(2) => {
            let [count, _] = *sides;
            Body::Reserve(2, count.without_parentheses().clone())
        }
        size => Body::Reserve(1, size),
    }
}
