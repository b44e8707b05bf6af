//! Parses instructions in Zilog's mnemonics to the forms of the instruction table.

use tdlasm::isa::Slot;
use tdlasm::isa::zilog::{Bound, Given, select};
use tdlasm::syntax::Cursor;
use tdlasm::syntax::expr::BinaryOp;
use tdlasm::syntax::zilog::{code_length, operand, split_operands};

use super::super::expr::{Node, Unary};
use super::super::expr_parser;
use super::super::program::{Body, ConvertResult, Operand, Spaced, Unconverted};
use super::super::zilog_expr::SIGN_DISAGREEMENT;
use super::StatementParser;

/// An operand as the choice of the form sees it, and the value in it.
type Read<'t> = (Given<'t>, Option<Node<'t>>);

impl<'t> StatementParser<'t, '_> {
    pub(super) fn zilog_instruction(&mut self, word: &[u8]) -> ConvertResult<Body<'t>> {
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
        let text = self.cursor.rest();
        let start = self.here();
        let code = text[..code_length(text)].trim_ascii_end();
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
        let at = cursor.offset() as usize;
        let is_negative = matches!(given, Given::Index(_)) && cursor.eat(b'-');
        if !is_negative && matches!(given, Given::Index(_)) {
            cursor.advance(1);
        }
        let node = expr_parser::read(&mut cursor, self.from, self.radix)?;
        let node = node.ok_or_else(|| Unconverted::new(at, "a value is missing here"))?;
        cursor.skip_blanks();
        if !cursor.rest().is_empty() {
            let message = "unexpected text behind this operand";
            return Unconverted::fail(cursor.offset() as usize, message);
        }
        Ok(match (given, node) {
            (_, Node::Binary(op, ..)) if is_negative && op != BinaryOp::Multiply => {
                return Unconverted::fail(at, SIGN_DISAGREEMENT);
            }
            (_, node) if is_negative => (given, Some(Node::Unary(Unary::Negate, Box::new(node)))),
            (Given::Value(_), Node::Number(number)) => {
                (Given::Value(Some(number.value)), Some(Node::Number(number)))
            }
            (_, node) => (given, Some(node)),
        })
    }
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
