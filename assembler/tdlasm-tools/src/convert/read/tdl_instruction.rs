//! Parses the instructions of TDL source: operands, and the matching form.

use tdlasm::isa::{Form, Prefix, Register, Slot};
use tdlasm::syntax::lex;

use super::super::expr::Node;
use super::super::expr_parser;
use super::super::program::{Body, ConvertResult, Operand, Spaced, Unconverted};
use super::StatementParser;
use crate::mnemonics;

impl<'t> StatementParser<'t, '_> {
    pub(super) fn tdl_instruction(&mut self, forms: &'static [Form]) -> ConvertResult<Body<'t>> {
        let at = self.here();
        let mut operands = Vec::new();
        for number in 0..forms[0].arity() {
            let before = self.here();
            self.cursor.skip_blanks();
            if number > 0 && !self.cursor.eat(b',') {
                return Unconverted::fail(before, "an operand is missing");
            }
            let blanks = self.cursor.take(lex::blanks).unwrap_or_default();
            operands.push(Spaced { blanks, item: self.tdl_operand()? });
        }
        let fits = |form: &&Form| {
            operands.iter().zip(form.slots).all(|(operand, slot)| operand.item.fits(slot))
        };
        let Some(form) = forms.iter().find(fits) else {
            return Unconverted::fail(at, "the instruction does not take these operands");
        };
        let mut settled = Vec::new();
        for (operand, slot) in operands.into_iter().zip(form.slots) {
            let item = self.settled_operand(operand.item, slot)?;
            settled.push(Spaced { blanks: operand.blanks, item });
        }
        Ok(Body::Instruction(form, settled))
    }

    fn tdl_operand(&mut self) -> ConvertResult<Operand<'t>> {
        let at = self.here();
        let node = expr_parser::read(&mut self.cursor, self.from, self.radix)?;
        let before = self.cursor.clone();
        self.cursor.skip_blanks();
        if self.cursor.eat(b'(') {
            let prefix = self.index_register()?;
            let Some(node) = node else {
                return Unconverted::fail(at, "an index register needs a displacement");
            };
            return Ok(Operand::Index(prefix, self.settled(node)?));
        }
        self.cursor = before;
        node.map(Operand::Value).ok_or_else(|| Unconverted::new(at, "an operand is missing"))
    }

    fn index_register(&mut self) -> ConvertResult<Prefix> {
        let at = self.here();
        self.cursor.skip_blanks();
        let name = self.cursor.take(lex::symbol).unwrap_or_default();
        self.cursor.skip_blanks();
        match mnemonics::tdl_register(name) {
            Some(Register::X) if self.cursor.eat(b')') => Ok(Prefix::X),
            Some(Register::Y) if self.cursor.eat(b')') => Ok(Prefix::Y),
            _ => Unconverted::fail(at, "only X or Y can stand in index parentheses"),
        }
    }

    /// Converts an operand to the kind that the slot of the chosen form requires.
    fn settled_operand(&self, operand: Operand<'t>, slot: Slot) -> ConvertResult<Operand<'t>> {
        match operand {
            Operand::Value(node) if is_register_slot(slot) => {
                let register = register(&node).map(Operand::Register);
                register.ok_or_else(|| Unconverted::new(self.here(), "this is not a register"))
            }
            Operand::Value(node) => self.settled(node).map(Operand::Value),
            other => Ok(other),
        }
    }
}

impl Operand<'_> {
    fn fits(&self, slot: Slot) -> bool {
        match self {
            Operand::Index(..) => slot == Slot::Index,
            Operand::Register(register) => register.bits(slot).is_some(),
            Operand::Value(node) if is_register_slot(slot) => {
                register(node).is_some_and(|register| register.bits(slot).is_some())
            }
            Operand::Value(_) => slot != Slot::Index,
        }
    }
}

/// Returns the register that an expression names or has the number of.
fn register(node: &Node<'_>) -> Option<Register> {
    match node.without_parentheses() {
        Node::Name(name) => mnemonics::tdl_register(name),
        Node::Number(number) => Register::from_number(number.value),
        _ => None,
    }
}

fn is_register_slot(slot: Slot) -> bool {
    use Slot::{Bit, Byte, Index, None, Relative, Restart, Word};
    !matches!(slot, Bit | Byte | Index | None | Relative | Restart | Word)
}
