//! Parses instructions in Zilog's mnemonics: operands, and the form whose template they match.

use tdlasm::isa::{Form, Prefix, Register, Slot};
use tdlasm::syntax::expr::BinaryOp;

use super::super::expr::{Node, Unary};
use super::super::program::{Body, ConvertResult, Operand, Spaced, Unconverted};
use super::super::zilog_expr::SIGN_DISAGREEMENT;
use super::StatementParser;
use crate::mnemonics::{self, ZILOG_PAIRS, ZilogOperand};

#[derive(Debug, Clone)]
enum Given<'t> {
    /// A register or condition.
    Word(&'t [u8]),
    /// One in parentheses.
    Indirect(&'t [u8]),
    Index(Prefix, Node<'t>),
    /// A value in parentheses.
    Memory(Node<'t>),
    Value(Node<'t>),
}

impl<'t> StatementParser<'t, '_> {
    pub(super) fn zilog_instruction(
        &mut self,
        word: &[u8],
        forms: &[&'static Form],
    ) -> ConvertResult<Body<'t>> {
        let at = self.here();
        let mut operands = self.zilog_operands()?;
        normalise(&word.to_ascii_uppercase(), &mut operands);
        for form in forms {
            if let Some(fitting) = fit(form, &operands) {
                return Ok(Body::Instruction(form, fitting));
            }
        }
        Unconverted::fail(at, "TDL has no instruction for these operands")
    }

    fn zilog_operands(&mut self) -> ConvertResult<Vec<Spaced<'t, Given<'t>>>> {
        let before = self.cursor.clone();
        self.cursor.skip_blanks();
        let is_end = self.cursor.at_statement_end();
        self.cursor = before;
        if is_end { Ok(Vec::new()) } else { self.list(Self::zilog_operand, |_| false) }
    }

    fn zilog_operand(&mut self) -> ConvertResult<Given<'t>> {
        let before = self.cursor.clone();
        let in_parentheses = self.cursor.eat(b'(');
        self.cursor.skip_blanks();
        let (word, _) = self.word();
        if mnemonics::is_zilog_operand(word) {
            return if in_parentheses { self.indirect(word) } else { Ok(self.register(word)) };
        }
        self.cursor = before;
        Ok(match self.value()? {
            Node::Group(inner) => Given::Memory(*inner),
            node => Given::Value(node),
        })
    }

    /// A register or condition; AF may have a prime.
    fn register(&mut self, word: &'t [u8]) -> Given<'t> {
        let primed = word.eq_ignore_ascii_case(b"AF") && self.cursor.eat(b'\'');
        Given::Word(if primed { b"AF'" } else { word })
    }

    /// Reads the rest of an operand after an open parenthesis and a register.
    fn indirect(&mut self, word: &'t [u8]) -> ConvertResult<Given<'t>> {
        self.cursor.skip_blanks();
        let prefix = index_prefix(word);
        let at = self.here();
        let given = match (prefix, self.cursor.peek()) {
            (Some(prefix), Some(b'+')) => {
                self.cursor.advance(1);
                Given::Index(prefix, self.value()?)
            }
            (Some(prefix), Some(b'-')) => {
                self.cursor.advance(1);
                let node = self.value()?;
                if matches!(&node, Node::Binary(op, ..) if *op != BinaryOp::Multiply) {
                    return Unconverted::fail(at, SIGN_DISAGREEMENT);
                }
                Given::Index(prefix, Node::Unary(Unary::Negate, Box::new(node)))
            }
            _ => Given::Indirect(word),
        };
        self.cursor.skip_blanks();
        if self.cursor.eat(b')') { Ok(given) } else { self.fail("a parenthesis should close here") }
    }
}

fn index_prefix(word: &[u8]) -> Option<Prefix> {
    match word.to_ascii_uppercase().as_slice() {
        b"IX" => Some(Prefix::X),
        b"IY" => Some(Prefix::Y),
        _ => None,
    }
}

/// Replaces alternative spellings by the one in the table.
fn normalise(mnemonic: &[u8], operands: &mut Vec<Spaced<'_, Given<'_>>>) {
    let is = |operand: &Spaced<'_, Given<'_>>, name: &str| match operand.item {
        Given::Word(word) => word.eq_ignore_ascii_case(name.as_bytes()),
        _ => false,
    };
    let plain = |item| Spaced { blanks: &b""[..], item };
    match (mnemonic, operands.len()) {
        (b"ADD" | b"ADC" | b"SBC", 1) => operands.insert(0, plain(Given::Word(b"A"))),
        (b"SUB" | b"AND" | b"OR" | b"XOR" | b"CP", 2) if is(&operands[0], "A") => {
            operands.remove(0);
        }
        (b"IN", 1) => operands.insert(0, plain(Given::Word(b"F"))),
        (b"EX", 2) if is(&operands[0], "AF") && is(&operands[1], "AF") => {
            operands[1].item = Given::Word(b"AF'");
        }
        (b"JP", 1) => {
            if let Given::Word(word @ ([b'H' | b'h', _] | [b'I' | b'i', _])) = operands[0].item {
                operands[0].item = Given::Indirect(word);
            }
        }
        _ => {}
    }
}

/// The operands in the order of TDL, if they fit the form's template.
fn fit<'t>(form: &Form, given: &[Spaced<'t, Given<'t>>]) -> Option<Vec<Spaced<'t, Operand<'t>>>> {
    if mnemonics::zilog_operands(form).count() != given.len() {
        return None;
    }
    let mut operands: [Option<Spaced<'t, Operand<'t>>>; 2] = [None, None];
    for (token, given) in mnemonics::zilog_operands(form).zip(given) {
        match token {
            ZilogOperand::Placeholder { number, inside } => {
                let item = bind(form.slots[number], inside, &given.item)?;
                operands[number] = Some(Spaced { blanks: given.blanks, item });
            }
            ZilogOperand::Literal(word) if is_literal(word, &given.item) => {}
            ZilogOperand::Literal(_) => return None,
        }
    }
    for (operand, slot) in operands.iter_mut().zip(form.slots) {
        // The two undocumented forms with M have no operand for it in Zilog's dialect.
        if matches!(slot, Slot::SourceMem | Slot::DestMem) && operand.is_none() {
            *operand = Some(Spaced { blanks: b"", item: Operand::Register(Register::M) });
        }
    }
    Some(operands.into_iter().flatten().collect())
}

fn is_literal(token: &str, given: &Given<'_>) -> bool {
    match given {
        Given::Word(word) => word.eq_ignore_ascii_case(token.as_bytes()),
        Given::Indirect(word) => {
            let inner = token.strip_prefix('(').and_then(|token| token.strip_suffix(')'));
            inner.is_some_and(|inner| word.eq_ignore_ascii_case(inner.as_bytes()))
        }
        Given::Value(Node::Number(number)) => token.parse() == Ok(number.value),
        _ => false,
    }
}

/// Converts an operand to the kind that the slot requires.
fn bind<'t>(slot: Slot, inside: bool, given: &Given<'t>) -> Option<Operand<'t>> {
    match (slot, given) {
        (Slot::SourceMem | Slot::DestMem, Given::Indirect(word)) => {
            word.eq_ignore_ascii_case(b"HL").then_some(Operand::Register(Register::M))
        }
        (Slot::Index, Given::Index(prefix, node)) => Some(Operand::Index(*prefix, node.clone())),
        (Slot::Index, Given::Indirect(word)) => {
            Some(Operand::Index(index_prefix(word)?, Node::decimal(0)))
        }
        (Slot::Pointer, Given::Indirect(word)) if inside => register(slot, word),
        (Slot::Byte | Slot::Word, Given::Memory(node)) if inside => {
            Some(Operand::Value(node.clone()))
        }
        (Slot::Restart, Given::Value(node)) => Some(Operand::Value(restart_number(node))),
        (Slot::Byte | Slot::Word | Slot::Relative | Slot::Bit, Given::Value(node)) if !inside => {
            Some(Operand::Value(node.clone()))
        }
        (_, Given::Word(word)) if !inside => register(slot, word),
        _ => None,
    }
}

/// Returns the register in TDL, where pairs have one letter instead of two.
fn register<'t>(slot: Slot, word: &[u8]) -> Option<Operand<'t>> {
    let register = match (slot, word) {
        (Slot::Source | Slot::Dest, [_]) => mnemonics::tdl_register(word)?,
        (Slot::Source | Slot::Dest, _) => return None,
        _ => {
            let mut pairs = ZILOG_PAIRS.iter();
            pairs.find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()))?.1
        }
    };
    register.bits(slot).map(|_| Operand::Register(register))
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
