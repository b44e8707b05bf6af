//! Reads the directives of TDL source that have a counterpart.

use std::borrow::Cow;

use tdlasm::syntax::directive::TextTerminator;
use tdlasm::syntax::expr::BinaryOp;
use tdlasm::syntax::lex;

use super::super::expr::{Node, Number};
use super::super::mnemonics;
use super::super::program::{
    Body, CURRENT_ADDRESS_IN_LIST, ConvertResult, Item, Spaced, Unconverted,
};
use super::StatementParser;

impl<'t> StatementParser<'t, '_> {
    /// A list of expressions.
    pub(super) fn words(&mut self) -> ConvertResult<Body<'t>> {
        let mut list = Vec::new();
        loop {
            let blanks = self.cursor.take(lex::blanks).unwrap_or_default();
            let node = self.value()?;
            if !list.is_empty() && node.has_current_address() {
                return Unconverted::fail(self.here(), CURRENT_ADDRESS_IN_LIST);
            }
            list.push(Spaced { blanks, item: node });
            if !self.cursor.eat_behind_blanks(b',') {
                return Ok(Body::Words(list));
            }
        }
    }

    pub(super) fn bytes(&mut self) -> ConvertResult<Body<'t>> {
        let Body::Words(list) = self.words()? else { return Ok(Body::Nothing) };
        let byte = |value: Spaced<'t, Node<'t>>| Spaced {
            blanks: value.blanks,
            item: Item::Value(value.item),
        };
        Ok(Body::Bytes(list.into_iter().map(byte).collect()))
    }

    /// Texts and bytes in brackets.
    pub(super) fn texts(&mut self, at: usize, end: TextTerminator) -> ConvertResult<Body<'t>> {
        let mut items = Vec::new();
        loop {
            let before = self.cursor.clone();
            self.cursor.skip_blanks();
            if self.cursor.at_statement_end() {
                self.cursor = before;
                break;
            }
            let item =
                if self.cursor.peek() == Some(b'[') { self.bracketed()? } else { self.text()? };
            if !items.is_empty() && matches!(&item, Item::Value(node) if node.has_current_address())
            {
                return Unconverted::fail(at, CURRENT_ADDRESS_IN_LIST);
            }
            if item != Item::Text(Cow::Borrowed(b"")) {
                items.push(item);
            }
        }
        match end {
            _ if items.is_empty() => return Unconverted::fail(at, "the text is empty"),
            TextTerminator::Zero => items.push(Item::Value(Node::decimal(0))),
            TextTerminator::Marked => mark_last(&mut items),
            TextTerminator::Plain => {}
        }
        let spaced = items.into_iter().map(|item| Spaced { blanks: &b""[..], item });
        Ok(Body::Bytes(spaced.collect()))
    }

    fn bracketed(&mut self) -> ConvertResult<Item<'t>> {
        self.cursor.advance(1);
        let value = self.value()?;
        self.cursor.skip_blanks();
        if self.cursor.eat(b']') {
            Ok(Item::Value(value))
        } else {
            Unconverted::fail(self.here(), "a bracket is not closed")
        }
    }

    fn text(&mut self) -> ConvertResult<Item<'t>> {
        let at = self.here();
        match self.cursor.take(lex::delimited_text) {
            Some(text) if memchr::memchr2(b'\n', b'\r', text).is_none() => {
                Ok(Item::Text(Cow::Borrowed(text)))
            }
            Some(_) => Unconverted::fail(at, "a text of several lines has no counterpart"),
            None => Unconverted::fail(at, "the text that begins here is not closed"),
        }
    }

    pub(super) fn insert(&mut self) -> ConvertResult<Body<'t>> {
        self.cursor.skip_blanks();
        let at = self.here();
        let rest = self.cursor.rest();
        let length = memchr::memchr3(b'\n', b'\r', b';', rest).unwrap_or(rest.len());
        let name = rest[..length].trim_ascii_end();
        self.cursor.advance(name.len());
        if name.is_empty() || name.contains(&b'"') {
            return Unconverted::fail(at, "this is not a file name that all assemblers accept");
        }
        if self.scan.inserted_radix {
            self.mode.radix = None;
        }
        Ok(Body::Insert(name))
    }

    pub(super) fn symbols(&mut self) -> ConvertResult<Vec<Spaced<'t, &'t [u8]>>> {
        let mut list = Vec::new();
        loop {
            let blanks = self.cursor.take(lex::blanks).unwrap_or_default();
            let at = self.here();
            let Some(item) = self.cursor.take(lex::symbol) else {
                return Unconverted::fail(at, "a symbol is missing");
            };
            if mnemonics::tdl_register(item).is_some() {
                return Unconverted::fail(at, "a register is not a symbol that modules can share");
            }
            list.push(Spaced { blanks, item });
            if !self.cursor.eat_behind_blanks(b',') {
                return Ok(list);
            }
        }
    }
}

fn mark_last(items: &mut Vec<Item<'_>>) {
    let last = match items.pop() {
        Some(Item::Text(text)) => {
            let (last, others) =
                text.split_last().map_or((0, &text[..0]), |(last, rest)| (*last, rest));
            if !others.is_empty() {
                items.push(Item::Text(others.to_vec().into()));
            }
            Node::character(last)
        }
        Some(Item::Value(node)) => node,
        None => return,
    };
    let mark = Node::Number(Number::new(0x80, 16));
    items.push(Item::Value(Node::binary(BinaryOp::Or, mark, last)));
}
