//! Reads the statements of source in Zilog's mnemonics.

use std::ops::Range;

use rustc_hash::FxHashMap;
use tdlasm::isa::Slot;
use tdlasm::isa::zilog::{Bound, Given, is_operand, select};
use tdlasm::syntax::Cursor;
use tdlasm::syntax::expr::BinaryOp;
use tdlasm::syntax::zilog::{directive_of, operand, quoted, split_operands};

use super::super::expr::Node;
use super::super::expr_tree;
use super::super::options::Dialect;
use super::super::program::{Body, ConvertResult, Operand, Spaced, Unconverted};
use super::StatementParser;
use crate::mnemonics::{self, ZilogDirective, is_plain, is_zilog_mnemonic};
use crate::statement::{StatementParts, line_end};

/// An operand as the choice of the form sees it, and the value in it.
type Read<'t> = (Given<'t>, Option<Node<'t>>);

impl<'t> StatementParser<'t, '_> {
    pub(super) fn zilog_body(
        &mut self,
        parts: &StatementParts,
        word: &'t [u8],
    ) -> ConvertResult<Body<'t>> {
        let at = parts.operator.start;
        let directive = mnemonics::zilog_directive(word);
        if let Some(ZilogDirective::Constant | ZilogDirective::Variable) = directive
            && !parts.assigned.is_empty()
        {
            let fixed = directive == Some(ZilogDirective::Constant);
            return self.zilog_assignment(&parts.assigned, fixed);
        }
        if is_zilog_mnemonic(word) {
            return self.zilog_instruction(word);
        }
        match directive {
            Some(ZilogDirective::Bytes) => self.bytes(),
            Some(ZilogDirective::Words) => self.words(),
            Some(ZilogDirective::Reserve) => self.value().map(reserve),
            Some(ZilogDirective::Origin) => self.value().map(Body::Origin),
            Some(ZilogDirective::End) if self.ifs == 0 && self.depth == 0 => {
                self.optional_value().map(Body::End)
            }
            Some(ZilogDirective::Include) => self.insert(),
            Some(ZilogDirective::External) => self.symbols().map(Body::External),
            Some(ZilogDirective::Global) => self.symbols().map(Body::Global),
            _ if word.starts_with(b".") => {
                Unconverted::fail(at, "directives with a period stay as they are")
            }
            _ => {
                Unconverted::fail(at, "this is not an instruction or directive with a counterpart")
            }
        }
    }

    fn zilog_assignment(&mut self, name: &Range<usize>, fixed: bool) -> ConvertResult<Body<'t>> {
        let symbol = self.label(name);
        if is_operand(symbol.name) || self.scan.is_redefined(symbol.name) {
            return Unconverted::fail(symbol.at, "this name cannot be given a value");
        }
        Ok(Body::Assign { symbol, fixed, value: self.value()? })
    }

    /// Reads a text in quotes, if a comma or the end follows it.
    pub(super) fn quoted_text(&mut self) -> Option<&'t [u8]> {
        if self.from != Dialect::Zilog {
            return None;
        }
        let rest = self.cursor.rest();
        let (bytes, length) = quoted(rest)?;
        let text = &rest[1..length - 1];
        let is_whole = matches!(rest[length..].trim_ascii_start().first(), None | Some(b','));
        // Escapes and doubled quotes are not the same for all assemblers.
        let is_plain = bytes == text && text.iter().copied().all(is_plain);
        if text.is_empty() || !is_whole || !is_plain {
            return None;
        }
        self.cursor.advance(length);
        Some(text)
    }

    fn zilog_instruction(&mut self, word: &[u8]) -> ConvertResult<Body<'t>> {
        let at = self.here();
        let operands = self.zilog_operands()?;
        let given: Vec<Given<'_>> = operands.iter().map(|operand| operand.item.0).collect();
        match select(word, &given).filter(|selected| !selected.is_beyond_tdl()) {
            Some(selected) => {
                let bound = selected.operands.into_iter().zip(selected.form.slots);
                let bound =
                    bound.filter_map(|(bound, slot)| Some(bound_operand(bound?, slot, &operands)));
                Ok(Body::Instruction(selected.form, bound.collect()))
            }
            None => Unconverted::fail(at, "TDL has no instruction for these operands"),
        }
    }

    fn zilog_operands(&mut self) -> ConvertResult<Vec<Spaced<'t, Read<'t>>>> {
        let code = self.cursor.rest();
        let start = self.here();
        self.cursor.advance(code.len());
        let read = |(at, length): (usize, usize)| {
            let part = &code[at..at + length];
            let item = part.trim_ascii();
            let blanks = &part[..part.len() - part.trim_ascii_start().len()];
            let end = start + at + blanks.len() + item.len();
            Ok(Spaced { blanks, item: self.zilog_operand(item, end)? })
        };
        split_operands(code, false).into_iter().map(read).collect()
    }

    /// Reads an operand whose text ends at `end`.
    fn zilog_operand(&self, text: &'t [u8], end: usize) -> ConvertResult<Read<'t>> {
        let (given, value) = operand(text);
        let Some(value) = value else { return Ok((given, None)) };
        let behind = text.as_ptr_range().end as usize - value.as_ptr_range().end as usize;
        let mut cursor = Cursor::new(value, (end - behind) as u32);
        let node = expr_tree::read(&mut cursor, self.from, self.radix)?;
        let at = cursor.offset() as usize;
        let node = node.ok_or_else(|| Unconverted::new(at, "a value is missing here"))?;
        cursor.skip_blanks();
        if !cursor.rest().is_empty() {
            let message = "unexpected text behind this operand";
            return Unconverted::fail(cursor.offset() as usize, message);
        }
        let given = match (given, &node) {
            (Given::Value(_), Node::Number(number)) => Given::Value(Some(number.value)),
            _ => given,
        };
        Ok((given, Some(node)))
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

/// The ends of the first and of the last line of each macro and repetition, which are copied
/// unchanged.
pub(super) fn blocks(text: &[u8]) -> FxHashMap<usize, usize> {
    let mut open = Vec::new();
    let mut blocks = FxHashMap::default();
    let mut start = 0;
    while start < text.len() {
        let end = line_end(text, start);
        match directive_of(&text[start..end]) {
            Some((ZilogDirective::EndMacro, _)) => {
                blocks.extend(open.pop().map(|first| (first, end)));
            }
            Some((ZilogDirective::Macro | ZilogDirective::Repeat(_), _)) => open.push(end),
            _ => {}
        }
        start = end + 1;
    }
    blocks
}

/// The operand of a form, with the blanks before the one that it is read from.
fn bound_operand<'t>(
    bound: Bound,
    slot: Slot,
    read: &[Spaced<'t, Read<'t>>],
) -> Spaced<'t, Operand<'t>> {
    let value = |index: usize| read[index].item.1.clone().unwrap_or(Node::decimal(0));
    let (item, index) = match bound {
        Bound::Register(register) => (Operand::Register(register), None),
        Bound::Index(prefix, None) => (Operand::Index(prefix, Node::decimal(0)), None),
        Bound::Index(prefix, Some(index)) => (Operand::Index(prefix, value(index)), Some(index)),
        Bound::Value(index) if slot == Slot::Restart => {
            (Operand::Value(restart_number(&value(index))), Some(index))
        }
        Bound::Value(index) => (Operand::Value(value(index)), Some(index)),
    };
    Spaced { blanks: index.map_or(&b""[..], |index| read[index].blanks), item }
}

/// Converts the operand of RST, an address in Zilog's dialect and an eighth of it in TDL.
fn restart_number<'t>(node: &Node<'t>) -> Node<'t> {
    if let Some(address @ 0..=0x38) = node.constant()
        && address % 8 == 0
    {
        return Node::decimal(address as u16 / 8);
    }
    match node {
        Node::Binary(BinaryOp::Multiply, sides, _) if sides[1].constant() == Some(8) => {
            sides[0].without_parentheses().clone()
        }
        _ => Node::binary(BinaryOp::Divide, node.clone(), Node::decimal(8)),
    }
}

#[cfg(test)]
mod tests {
    use super::blocks;

    #[test]
    fn blocks_may_be_nested_and_unclosed_ones_are_ignored() {
        let text = b"M1: MACRO A\n REPT 3\n ENDM ;\n endm\n IRP X\n";
        let mut found: Vec<(usize, usize)> = blocks(text).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, [(11, 33), (19, 27)]);
    }
}
