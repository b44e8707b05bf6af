//! Parses instructions in Zilog's mnemonics: operands, and the form whose template they match.

use tdlasm::isa::{Form, Prefix, Register, Slot};
use tdlasm::syntax::expr::BinaryOp;
use tdlasm::syntax::lex;

use super::super::expr::{Node, Unary};
use super::super::mnemonics;
use super::super::program::{Body, ConvertResult, Operand, Spaced, Unconverted};
use super::StatementParser;

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
    pub(super) fn instruction(
        &mut self,
        word: &[u8],
        forms: &[&'static Form],
    ) -> ConvertResult<Body<'t>> {
        let at = self.here();
        let mut operands = self.operands()?;
        normalise(&word.to_ascii_uppercase(), &mut operands);
        for form in forms {
            if let Some(fitting) = fit(form, &operands) {
                return Ok(Body::Instruction(form, fitting));
            }
        }
        Unconverted::fail(at, "TDL has no instruction for these operands")
    }

    fn operands(&mut self) -> ConvertResult<Vec<Spaced<'t, Given<'t>>>> {
        let mut list = Vec::new();
        let before = self.cursor.clone();
        self.cursor.skip_blanks();
        if self.cursor.at_statement_end() {
            self.cursor = before;
            return Ok(list);
        }
        loop {
            let blanks = self.cursor.take(lex::blanks).unwrap_or_default();
            list.push(Spaced { blanks, item: self.operand()? });
            if !self.cursor.eat_behind_blanks(b',') {
                return Ok(list);
            }
        }
    }

    fn operand(&mut self) -> ConvertResult<Given<'t>> {
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
                    return Unconverted::fail(
                        at,
                        "assemblers disagree how far the sign reaches; use parentheses",
                    );
                }
                Given::Index(prefix, Node::Unary(Unary::Negate, Box::new(node)))
            }
            _ => Given::Indirect(word),
        };
        self.cursor.skip_blanks();
        if self.cursor.eat(b')') {
            Ok(given)
        } else {
            Unconverted::fail(self.here(), "a parenthesis should close here")
        }
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
    let pattern = mnemonics::zilog_form(form).1;
    let tokens: Vec<&str> = pattern.split(',').filter(|token| !token.is_empty()).collect();
    if tokens.len() != given.len() {
        return None;
    }
    let mut operands: [Option<Spaced<'t, Operand<'t>>>; 2] = [None, None];
    for (token, given) in tokens.iter().zip(given) {
        match placeholder(token) {
            Some((at, inside)) => {
                let item = bind(form.slots[at], inside, &given.item)?;
                operands[at] = Some(Spaced { blanks: given.blanks, item });
            }
            None if is_literal(token, &given.item) => {}
            None => return None,
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

/// The number of the operand that a template's token stands for; whether in parentheses.
fn placeholder(token: &str) -> Option<(usize, bool)> {
    match token {
        "{0}" => Some((0, false)),
        "{1}" => Some((1, false)),
        "({0})" => Some((0, true)),
        "({1})" => Some((1, true)),
        _ => None,
    }
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
    let single = matches!(slot, Slot::Source | Slot::Dest);
    let register = match word.to_ascii_uppercase().as_slice() {
        b"BC" => Register::B,
        b"DE" => Register::D,
        b"HL" => Register::H,
        b"SP" => Register::Sp,
        b"AF" => Register::Psw,
        b"IX" => Register::X,
        b"IY" => Register::Y,
        [letter] if single => mnemonics::tdl_register(&[*letter])?,
        _ => return None,
    };
    (single == (word.len() == 1) && register.bits(slot).is_some())
        .then_some(Operand::Register(register))
}

/// Converts the operand of RST, an address in Zilog's dialect and an eighth of it in TDL.
fn restart_number<'t>(node: &Node<'t>) -> Node<'t> {
    if let (Some(address @ 0..=0x38), true) =
        (node.constant(), node.constant().is_some_and(|n| n % 8 == 0))
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
