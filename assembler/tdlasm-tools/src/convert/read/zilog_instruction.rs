//! Parses instructions in Zilog's mnemonics to the forms of the instruction table.

use tdlasm::isa::Slot;
use tdlasm::isa::zilog::{Bound, Given, index_prefix, is_operand, select};
use tdlasm::syntax::expr::BinaryOp;

use super::super::expr::{Node, Unary};
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
                    bound.filter_map(|(bound, slot)| Some(operand(bound?, slot, &operands)));
                Ok(Body::Instruction(selected.form, bound.collect()))
            }
            None => Unconverted::fail(at, "TDL has no instruction for these operands"),
        }
    }

    fn zilog_operands(&mut self) -> ConvertResult<Vec<Spaced<'t, Read<'t>>>> {
        let before = self.cursor.clone();
        self.cursor.skip_blanks();
        let is_end = self.cursor.at_statement_end();
        self.cursor = before;
        if is_end { Ok(Vec::new()) } else { self.list(Self::zilog_operand, |_| false) }
    }

    fn zilog_operand(&mut self) -> ConvertResult<Read<'t>> {
        let before = self.cursor.clone();
        let in_parentheses = self.cursor.eat(b'(');
        self.cursor.skip_blanks();
        let (word, _) = self.word();
        if is_operand(word) {
            return match in_parentheses {
                true => self.indirect(word),
                false => Ok((Given::Word(self.register(word)), None)),
            };
        }
        self.cursor = before;
        Ok(match self.value()? {
            Node::Group(inner) => (Given::Memory, Some(*inner)),
            node => {
                let number = match &node {
                    Node::Number(number) => Some(number.value),
                    _ => None,
                };
                (Given::Value(number), Some(node))
            }
        })
    }

    /// A register or condition; AF may have a prime.
    fn register(&mut self, word: &'t [u8]) -> &'t [u8] {
        let primed = word.eq_ignore_ascii_case(b"AF") && self.cursor.eat(b'\'');
        if primed { b"AF'" } else { word }
    }

    /// Reads the rest of an operand after an open parenthesis and a register.
    fn indirect(&mut self, word: &'t [u8]) -> ConvertResult<Read<'t>> {
        self.cursor.skip_blanks();
        let prefix = index_prefix(word);
        let at = self.here();
        let read = match (prefix, self.cursor.peek()) {
            (Some(prefix), Some(b'+')) => {
                self.cursor.advance(1);
                (Given::Index(prefix), Some(self.value()?))
            }
            (Some(prefix), Some(b'-')) => {
                self.cursor.advance(1);
                let node = self.value()?;
                if matches!(&node, Node::Binary(op, ..) if *op != BinaryOp::Multiply) {
                    return Unconverted::fail(at, SIGN_DISAGREEMENT);
                }
                (Given::Index(prefix), Some(Node::Unary(Unary::Negate, Box::new(node))))
            }
            _ => (Given::Indirect(word), None),
        };
        self.cursor.skip_blanks();
        if self.cursor.eat(b')') { Ok(read) } else { self.fail("a parenthesis should close here") }
    }
}

/// The operand of a form, with the blanks before the one that it is read from.
fn operand<'t>(bound: Bound, slot: Slot, read: &[Spaced<'t, Read<'t>>]) -> Spaced<'t, Operand<'t>> {
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
