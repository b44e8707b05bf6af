//! Writes statements in TDL's mnemonics.

use tdlasm::isa::Prefix;
use tdlasm::syntax::directive::{Directive, TextTerminator};

use super::super::expr::Node;
use super::super::program::{Body, ConvertResult, Item, Operand, Spaced};
use super::StatementWriter;

/// The delimiters that a text may get.
const DELIMITERS: &[u8] = b"\"'/|!~^*+=";

impl StatementWriter<'_> {
    /// Writes the operands; returns the operator.
    pub(super) fn tdl_statement(&mut self, body: &Body<'_>) -> ConvertResult<&'static str> {
        let directive = match body {
            Body::Instruction(form, operands) => {
                self.list(operands, Self::tdl_operand)?;
                return Ok(form.mnemonic);
            }
            Body::Assign { fixed, value, .. } => {
                self.tdl_expr(value)?;
                // A forward reference has no value in TDL's first pass, so == would report a change.
                return Ok(if *fixed && !self.assigned.looks_ahead { "==" } else { "=" });
            }
            Body::Bytes(items) if items.iter().any(|item| is_long(&item.item)) => {
                let zero = items.last().is_some_and(|last| is_zero(&last.item));
                self.tdl_texts(&items[..items.len() - usize::from(zero)])?;
                Directive::Text(if zero { TextTerminator::Zero } else { TextTerminator::Plain })
            }
            Body::Bytes(items) => {
                self.list(items, Self::tdl_byte)?;
                Directive::Byte
            }
            Body::Words(nodes) => {
                self.list(nodes, Self::tdl_expr)?;
                Directive::Word
            }
            Body::Reserve(unit, size) => {
                self.tdl_expr(size)?;
                Directive::Reserve(*unit)
            }
            Body::Origin(value) => {
                self.tdl_expr(value)?;
                Directive::Location
            }
            Body::End(start) => {
                start.iter().try_for_each(|start| self.tdl_expr(start))?;
                Directive::End
            }
            Body::Insert(name) => {
                self.push(name);
                Directive::Insert
            }
            Body::External(names) => {
                self.list(names, Self::symbol)?;
                Directive::External
            }
            Body::Global(names) => {
                self.list(names, Self::symbol)?;
                Directive::Internal
            }
            Body::Nothing | Body::AlreadyTarget | Body::CommentOut | Body::LeftAsIs(_) => {
                return Ok("");
            }
        };
        let named = Directive::NAMES.iter().find(|(_, one)| *one == directive);
        Ok(named.map_or("", |(name, _)| name))
    }

    fn tdl_operand(&mut self, operand: &Operand<'_>) -> ConvertResult<()> {
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

/// Returns `true` if a text is not a single character.
fn is_long(item: &Item<'_>) -> bool {
    matches!(item, Item::Text(text) if text.len() != 1)
}
