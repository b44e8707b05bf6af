//! Writes statements in TDL's mnemonics.

use tdlasm::isa::Prefix;
use tdlasm::syntax::directive::{Directive, TextTerminator};

use super::super::expr::Node;
use super::super::program::{ConvertResult, Item, Operand, Spaced};
use super::{StatementWriter, tdl_name};

/// The delimiters that a text may get.
const DELIMITERS: &[u8] = b"\"'/|!~^*+=";

impl StatementWriter<'_> {
    /// Writes bytes as expressions, or as texts if one is not a single character; returns the name
    /// of the directive.
    pub(super) fn tdl_bytes(
        &mut self,
        items: &[Spaced<'_, Item<'_>>],
    ) -> ConvertResult<&'static str> {
        let is_long = |item: &Item<'_>| matches!(item, Item::Text(text) if text.len() != 1);
        if !items.iter().any(|item| is_long(&item.item)) {
            self.list(items, Self::tdl_byte)?;
            return Ok(tdl_name(Directive::Byte));
        }
        let (texts, end) = match items.split_last() {
            Some((last, texts)) if is_zero(&last.item) => (texts, TextTerminator::Zero),
            _ => (items, TextTerminator::Plain),
        };
        self.tdl_texts(texts)?;
        Ok(tdl_name(Directive::Text(end)))
    }

    pub(super) fn tdl_operand(&mut self, operand: &Operand<'_>) -> ConvertResult<()> {
        match operand {
            Operand::Register(register) => self.word(register.name()),
            Operand::Index(prefix, displacement) => {
                self.tdl_expr(displacement)?;
                self.word(if *prefix == Prefix::Y { "(Y)" } else { "(X)" });
            }
            Operand::Value(node) => self.tdl_expr(node)?,
        }
        Ok(())
    }

    /// Writes an element of `.BYTE`; a text as the codes of its characters.
    fn tdl_byte(&mut self, item: &Item<'_>) -> ConvertResult<()> {
        match item {
            Item::Value(node) => self.tdl_expr(node),
            Item::Text(text) => {
                text.iter().try_for_each(|byte| self.tdl_expr(&Node::character(*byte)))
            }
        }
    }

    /// Writes the operands of `.ASCII`: texts between delimiters, and bytes in brackets.
    fn tdl_texts(&mut self, items: &[Spaced<'_, Item<'_>>]) -> ConvertResult<()> {
        for item in items {
            match &item.item {
                Item::Text(text) => {
                    let free = DELIMITERS.iter().find(|delimiter| !text.contains(delimiter));
                    let Some(delimiter) = free else {
                        return self.unconverted("the text leaves no character free to delimit it");
                    };
                    self.push([&[*delimiter], &text[..], &[*delimiter]].concat());
                }
                Item::Value(node) => {
                    self.push(b"[");
                    self.tdl_expr(node)?;
                    self.push(b"]");
                }
            }
        }
        Ok(())
    }
}

fn is_zero(item: &Item<'_>) -> bool {
    matches!(item, Item::Value(Node::Number(number)) if number.value == 0)
}
