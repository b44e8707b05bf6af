//! Reads the statements of TDL source.

use std::borrow::Cow;
use std::ops::Range;

use tdlasm::isa::{Form, Prefix, Register, Slot};
use tdlasm::syntax::directive::{Directive, TextTerminator};
use tdlasm::syntax::expr::BinaryOp;
use tdlasm::syntax::lex;

use super::super::expr::{Node, Number};
use super::super::expr_tree;
use super::super::program::{Body, ConvertResult, Item, Operand, Spaced, Unconverted};
use super::{CURRENT_ADDRESS_IN_LIST, StatementParser};
use crate::mnemonics;
use crate::statement::StatementParts;

impl<'t> StatementParser<'t, '_> {
    pub(super) fn tdl_body(
        &mut self,
        parts: &StatementParts,
        word: &'t [u8],
    ) -> ConvertResult<Body<'t>> {
        let at = parts.operator.start;
        if !parts.assigned.is_empty() {
            return self.tdl_assignment(&parts.assigned, word);
        }
        let forms = mnemonics::tdl_forms(word);
        if !forms.is_empty() {
            return self.tdl_instruction(forms);
        }
        let Some(directive) = Directive::from_word(word) else {
            let message = "this is not an instruction or directive; a macro stays as it is";
            return Unconverted::fail(at, message);
        };
        match directive {
            Directive::Byte => self.bytes(),
            Directive::Word => self.words(),
            Directive::Text(end) => self.texts(at, end),
            Directive::Reserve(unit) => self.value().map(|value| Body::Reserve(unit, value)),
            Directive::Location => self.value().map(Body::Origin),
            Directive::End if self.depth == 0 => self.optional_value().map(Body::End),
            Directive::Insert => self.insert(),
            Directive::External => self.symbols().map(Body::External),
            Directive::Internal => self.symbols().map(Body::Global),
            Directive::Radix => {
                let message = "numbers are written with their radix; this line has no counterpart";
                Unconverted::fail(at, message)
            }
            // Any other is copied unchanged, and reported.
            _ => Unconverted::fail(at, "this directive has no counterpart"),
        }
    }

    fn tdl_assignment(&mut self, name: &Range<usize>, sign: &[u8]) -> ConvertResult<Body<'t>> {
        let fixed = match sign {
            b"=" => false,
            b"==" => true,
            _ if sign.contains(&b'\\') => {
                let message = "a value from the console has no counterpart";
                return Unconverted::fail(name.start, message);
            }
            _ => {
                let message = "exporting by =: has no counterpart; use .INTERN";
                return Unconverted::fail(name.start, message);
            }
        };
        let symbol = self.label(name);
        if mnemonics::tdl_register(symbol.name).is_some() || self.scan.is_redefined(symbol.name) {
            return Unconverted::fail(symbol.at, "this name cannot be given a value");
        }
        let fixed = fixed || !self.scan.is_variable(symbol.name);
        Ok(Body::Assign { symbol, fixed, value: self.value()? })
    }

    /// Replaces names of registers and instructions, which have values in TDL only, by numbers.
    pub(super) fn settled(&self, node: Node<'t>) -> ConvertResult<Node<'t>> {
        let at = self.here();
        let settle = |node| self.settled(node);
        Ok(match node {
            Node::Name(name) => {
                if mnemonics::is_section(name) {
                    return Unconverted::fail(at, "sections have no counterpart");
                }
                if self.scan.is_external(name) && mnemonics::tdl_register(name).is_none() {
                    return Ok(node);
                }
                if Directive::from_word(name).is_some() && !self.scan.is_defined(name) {
                    // A directive has no opcode; its value is 0.
                    return Ok(Node::Number(Number::new(0, 10)));
                }
                let register =
                    mnemonics::tdl_register(name).map(|register| register.value().into());
                let opcode = mnemonics::tdl_forms(name).first().map(Form::value);
                if opcode.is_some() && self.scan.is_defined(name) {
                    return Unconverted::fail(at, "an instruction's name that is a symbol too");
                }
                match register.or(opcode) {
                    Some(value) => {
                        Node::Number(Number::new(value, if value < 10 { 10 } else { 16 }))
                    }
                    None => node,
                }
            }
            Node::Unary(op, inner) => Node::Unary(op, Box::new(settle(*inner)?)),
            Node::Group(inner) => Node::Group(Box::new(settle(*inner)?)),
            Node::Binary(op, sides, blanks) => {
                let [left, right] = *sides;
                Node::Binary(op, Box::new([settle(left)?, settle(right)?]), blanks)
            }
            atom => atom,
        })
    }

    /// Texts and bytes in brackets.
    fn texts(&mut self, at: usize, end: TextTerminator) -> ConvertResult<Body<'t>> {
        let mut items = Vec::new();
        loop {
            self.cursor.skip_blanks();
            if self.cursor.at_statement_end() {
                break;
            }
            let item = self.text()?;
            if !items.is_empty() && item.has_current_address() {
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

    /// Reads a text, or a byte in brackets.
    fn text(&mut self) -> ConvertResult<Item<'t>> {
        if self.cursor.eat(b'[') {
            let value = self.value()?;
            return match self.cursor.eat_behind_blanks(b']') {
                true => Ok(Item::Value(value)),
                false => self.fail("a bracket is not closed"),
            };
        }
        let at = self.here();
        match self.cursor.take(lex::delimited_text) {
            None => Unconverted::fail(at, "the text that begins here is not closed"),
            Some(text) if memchr::memchr2(b'\n', b'\r', text).is_some() => {
                Unconverted::fail(at, "a text of several lines has no counterpart")
            }
            Some(text) => Ok(Item::Text(text.into())),
        }
    }

    fn tdl_instruction(&mut self, forms: &'static [Form]) -> ConvertResult<Body<'t>> {
        let at = self.here();
        let operands = match forms[0].arity() {
            0 => Vec::new(),
            _ => self.list(Self::tdl_operand, |_| false)?,
        };
        let fits = |form: &&Form| {
            let mut pairs = operands.iter().zip(form.slots);
            operands.len() == form.arity() && pairs.all(|(operand, slot)| operand.item.fits(slot))
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
        let node = expr_tree::read(&mut self.cursor, self.from, self.radix)?
            .ok_or_else(|| Unconverted::new(at, "an operand is missing"))?;
        if self.cursor.eat_behind_blanks(b'(') {
            return Ok(Operand::Index(self.index_register()?, self.settled(node)?));
        }
        Ok(Operand::Value(node))
    }

    fn index_register(&mut self) -> ConvertResult<Prefix> {
        let at = self.here();
        self.cursor.skip_blanks();
        let name = self.cursor.take(lex::symbol).unwrap_or_default();
        let register = mnemonics::tdl_register(name);
        match register.filter(|_| self.cursor.eat_behind_blanks(b')')) {
            Some(Register::X) => Ok(Prefix::X),
            Some(Register::Y) => Ok(Prefix::Y),
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

fn mark_last(items: &mut Vec<Item<'_>>) {
    let last = match items.pop() {
        Some(Item::Text(text)) => {
            let (last, others) = text.split_last().unwrap_or((&0, b""));
            if !others.is_empty() {
                items.push(Item::Text(others.to_vec().into()));
            }
            Node::character(*last)
        }
        Some(Item::Value(node)) => node,
        None => return,
    };
    let mark = Node::Number(Number::new(0x80, 16));
    items.push(Item::Value(Node::binary(BinaryOp::Or, mark, last)));
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
