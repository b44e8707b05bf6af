//! Writes statements in Zilog's mnemonics.

use tdlasm::isa::zilog::{PAIRS, Token, spelling, tokens};
use tdlasm::isa::{Form, Prefix, Register, Slot, Status};
use tdlasm::syntax::expr::BinaryOp;

use super::super::expr::{Node, Number};
use super::super::options::Target;
use super::super::program::{ConvertResult, Item, Operand, Spaced};
use super::StatementWriter;
use crate::mnemonics::{ZilogDirective, is_plain};

impl StatementWriter<'_> {
    pub(super) fn assignment(&self, fixed: bool) -> ConvertResult<ZilogDirective> {
        let has_variables = self.target.is_none_or(Target::has_variables);
        match (fixed, has_variables, self.assigned.is_only) {
            (true, ..) | (_, false, true) => Ok(ZilogDirective::Constant),
            (false, true, _) => Ok(ZilogDirective::Variable),
            (false, false, false) => self
                .unconverted(format!("{} has no symbol with several values", self.target_name())),
        }
    }

    pub(super) fn assigned_value(&mut self, value: &Node<'_>) -> ConvertResult<()> {
        if self.assigned.is_cyclic {
            let message = "the value depends on the symbol itself, which only TDL allows";
            return self.unconverted(message);
        }
        if !self.assigned.looks_ahead || self.target.is_none_or(Target::looks_ahead) {
            return self.zilog_expr(value);
        }
        match self.exact_value(value) {
            // TDL counts modulo 65536.
            Some(number) => self.zilog_expr(&Node::decimal((number & 0xFFFF) as u16)),
            None => self.unconverted(format!(
                "{} may give later symbols a wrong value here; define them above",
                self.target_name()
            )),
        }
    }

    /// Writes the new origin, as a distance if the target's output has no gaps.
    pub(super) fn origin(&mut self, value: &Node<'_>) -> ConvertResult<ZilogDirective> {
        if self.placed && self.target.is_some_and(Target::is_gapless) {
            self.zilog_expr(&Node::binary(BinaryOp::Subtract, value.clone(), Node::Here))?;
            return Ok(ZilogDirective::Reserve);
        }
        self.zilog_expr(value)?;
        Ok(ZilogDirective::Origin)
    }

    /// Writes an expression that does not begin with a quote unless it is a single character, or a
    /// text in quotes, of which bytes that would need an escape become numbers. In ASxxxx, quotes
    /// have a single character.
    pub(super) fn zilog_byte(&mut self, item: &Item<'_>) -> ConvertResult<()> {
        let text = match item {
            Item::Value(node) => {
                let start = self.out.len();
                self.zilog_expr(node)?;
                if self.out[start..].starts_with(b"'") && !node.is_atom() {
                    self.out.insert(start, b'(');
                    self.push(b")");
                }
                return Ok(());
            }
            Item::Text(text) => text,
        };
        let is_single = self.is_asxxxx();
        let quotable = |byte: u8| byte < 0x80 && is_plain(byte) && byte != b'\'';
        let same_quotes = |byte: &u8, next: &u8| !is_single && quotable(*byte) && quotable(*next);
        for (at, chunk) in text.chunk_by(same_quotes).enumerate() {
            if at > 0 {
                self.push(b",");
            }
            match quotable(chunk[0]) {
                true => self.push([b"'", chunk, b"'"].concat()),
                false => self.zilog_number(&Number::new(chunk[0].into(), 16)),
            }
        }
        Ok(())
    }

    pub(super) fn zilog_instruction(
        &mut self,
        form: &Form,
        operands: &[Spaced<'_, Operand<'_>>],
    ) -> ConvertResult<&'static str> {
        let takes_all = self.target.is_none_or(Target::takes_undocumented);
        if form.status == Status::Undocumented && !takes_all {
            let name = self.target_name();
            return self.unconverted(format!("{name} lacks this undocumented instruction"));
        }
        let (mnemonic, _) = spelling(form);
        for (at, token) in tokens(form).enumerate() {
            if at > 0 {
                self.push(b",");
            }
            let (number, inside) = match token {
                Token::Literal(word) => {
                    self.word(word);
                    continue;
                }
                Token::Placeholder { number, inside } => (number, inside),
            };
            let Some(Spaced { blanks, item }) = operands.get(number) else { continue };
            if at > 0 && number == 1 {
                self.push(blanks);
            }
            let slot = form.slots[number];
            // Jumps take an address; all else without parentheses is a number there.
            let is_number = matches!(slot, Slot::Byte | Slot::Word)
                && !inside
                && !matches!(mnemonic, "JP" | "CALL");
            self.push(if inside { "(" } else { "" });
            self.push(if is_number && self.is_asxxxx() { "#" } else { "" });
            self.zilog_operand(item, slot, inside)?;
            self.push(if inside { ")" } else { "" });
        }
        Ok(mnemonic)
    }

    fn zilog_operand(
        &mut self,
        operand: &Operand<'_>,
        slot: Slot,
        inside: bool,
    ) -> ConvertResult<()> {
        match operand {
            Operand::Register(register) => {
                self.word(register_name(*register, slot));
                Ok(())
            }
            Operand::Index(prefix, displacement) => {
                let is_after = self.is_asxxxx();
                if is_after {
                    self.displacement(displacement)?;
                }
                self.word(if *prefix == Prefix::Y { "(IY" } else { "(IX" });
                if !is_after {
                    self.displacement(displacement)?;
                }
                self.push(b")");
                Ok(())
            }
            Operand::Value(node) => match slot {
                Slot::Relative
                    if self.target == Some(Target::Gas) && self.exact_value(node).is_some() =>
                {
                    let message =
                        "GNU as does not accept a number as the target of a relative jump";
                    self.unconverted(message)
                }
                Slot::Bit => match self.exact_value(node) {
                    Some(number) if !(0..8).contains(&number) => {
                        self.zilog_expr(&Node::decimal((number & 7) as u16))
                    }
                    _ => self.zilog_immediate(node),
                },
                Slot::Restart => self.restart(node),
                _ if inside => self.zilog_expr(node.without_parentheses()),
                _ => self.zilog_immediate(node),
            },
        }
    }

    fn restart(&mut self, node: &Node<'_>) -> ConvertResult<()> {
        match node.constant() {
            Some(number @ 0..=7) => {
                let mut address = Number::new(number as u16 * 8, 16);
                address.is_lowercase = self.is_lowercase;
                let start = self.out.len();
                self.zilog_number(&address);
                while self.out.len() < start + 3 {
                    self.out.insert(start, b'0');
                }
                Ok(())
            }
            Some(_) => self.unconverted("the restart number is not in 0 to 7"),
            None => {
                let number = node.without_parentheses().clone();
                let address = Node::binary(BinaryOp::Multiply, number, Node::decimal(8));
                self.zilog_immediate(&address)
            }
        }
    }
}

fn register_name(register: Register, slot: Slot) -> &'static str {
    let pair = PAIRS.iter().find(|(_, pair)| *pair == register);
    match (slot, pair) {
        (Slot::SourceMem | Slot::DestMem, _) => "(HL)",
        (Slot::Source | Slot::Dest, _) | (_, None) => register.name(),
        (_, Some((name, _))) => name,
    }
}
