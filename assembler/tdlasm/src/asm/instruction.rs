//! Instructions: reads the operands and chooses the form.
//!
//! As in ZASM registers are numbers: `MVI 7,5` is `MVI A,5`. A number that names no register is an
//! error, and is reduced to one that does.

mod encode;

use super::input::InputStack;
use super::module_assembler::ModuleAssembler;
use super::name_table::BuiltIn;
use super::options::Cpu;
use super::pass::{StatementEnd, StatementResult};
use super::value::Value;
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::isa::{FORMS, Form, Prefix, Register, Slot};
use crate::source::Span;
use crate::syntax::expr::{Intern, Op};
use crate::syntax::{Cursor, lex};

/// An operand, with what the choice of the form depends on.
#[derive(Debug, Clone, Copy)]
struct Operand {
    register: Option<Register>,
    index: Option<Prefix>,
    /// The value of an immediate operand or a displacement.
    value: Option<Value>,
    span: Span,
    missing: bool,
}

impl Operand {
    fn none() -> Self {
        Self { register: None, index: None, value: None, span: Span::default(), missing: false }
    }

    fn register(register: Option<Register>, span: Span) -> Self {
        Self { register, span, ..Self::none() }
    }

    /// Returns the register B, which ZASM uses for a missing register.
    fn missing_register(span: Span) -> Self {
        Self { missing: true, ..Self::register(Some(Register::B), span) }
    }

    fn fits(&self, slot: Slot) -> bool {
        match slot {
            Slot::None => true,
            Slot::Index => self.index.is_some(),
            Slot::Byte | Slot::Word | Slot::Relative | Slot::Bit | Slot::Restart => true,
            _ => {
                self.index.is_none()
                    && self.register.is_some_and(|register| register.bits(slot).is_some())
            }
        }
    }
}

pub(super) struct InstructionReader<'s, 'a> {
    pub(super) module: &'s mut ModuleAssembler<'a>,
    pub(super) input: &'s InputStack<'a>,
}

impl InstructionReader<'_, '_> {
    /// Assembles the instruction whose forms begin at index `first`.
    pub(super) fn instruction(
        &mut self,
        first: u16,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        let forms = &FORMS[usize::from(first)..];
        let plain = &forms[0];
        if self.module.code.only_8080 && plain.z80_only {
            self.report_intel(plain, span);
        }
        let mut operands = [Operand::none(); 2];
        if plain.slots[0] != Slot::None {
            self.read_operands(&mut operands, plain, span, cursor)?;
        }
        let fits = |form: &Form| (0..2).all(|at| operands[at].fits(form.slots[at]));
        // Most instructions use the first form, which needs no comparison of mnemonics.
        let mut others = forms[1..].iter().take_while(|form| form.mnemonic == plain.mnemonic);
        let form = if fits(plain) { Some(plain) } else { others.find(|form| fits(form)) };
        match form {
            Some(form) => {
                if self.module.context.options.cpu == Some(Cpu::Z180) && form.traps_on_z180() {
                    let message = format!("a Z180 traps {}", form.pattern());
                    self.module.report(Diagnostic::new(DiagnosticCode::Z180Trap, span, message));
                }
                self.encode(form, &operands);
            }
            None => self.encode_mismatched(plain, &operands, span),
        }
        self.follow(form.unwrap_or(plain), operands[0].register, span);
        Ok(StatementEnd::Open)
    }

    fn report_intel(&mut self, form: &Form, span: Span) {
        self.module.error(
            DiagnosticCode::Intel,
            span,
            format!("the 8080 has no {}", form.mnemonic),
        );
    }

    /// Reads the operands, whose number is the same in all forms.
    fn read_operands(
        &mut self,
        operands: &mut [Operand; 2],
        form: &Form,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult {
        let [first, second] = form.slots;
        operands[0] = match first {
            Slot::Byte | Slot::Word | Slot::Relative => self.immediate(0, span, false, cursor)?,
            Slot::Bit | Slot::Restart => self.small_number(form, span, cursor)?,
            Slot::Source | Slot::SourceMem | Slot::Dest | Slot::DestMem | Slot::Index => {
                // Port instructions take no index register.
                let indexed = form.prefix != Prefix::Ed;
                self.byte_register(0, indexed, form, span, cursor)?
            }
            pair => self.pair(pair, form, span, cursor)?,
        };
        operands[1] = match second {
            Slot::None => return Ok(()),
            Slot::Byte | Slot::Word => self.second_immediate(span, cursor)?,
            _ if form.slots[0] == Slot::Bit => self.bit_register(form, span, cursor)?,
            _ => match self.comma(DiagnosticCode::Operand, form, span, cursor) {
                true => self.byte_register(1, true, form, span, cursor)?,
                false => Operand::missing_register(span),
            },
        };
        Ok(())
    }

    fn at_end(&self, cursor: &mut Cursor<'_>) -> bool {
        cursor.skip_blanks();
        cursor.at_statement_end() || (cursor.peek() == Some(b']') && self.input.in_block())
    }

    /// Reads an immediate operand. If it is missing, no field is written.
    fn immediate(
        &mut self,
        which: usize,
        span: Span,
        after_comma: bool,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<Operand> {
        if self.at_end(cursor) {
            if after_comma || self.input.has_macro_text {
                self.module.error(
                    DiagnosticCode::Operand,
                    cursor.gap(),
                    "an operand is missing here",
                );
            }
            // A macro without text is no operand, but does not count as missing.
            if self.input.has_macro_text {
                let value = Some(Value::default());
                return Ok(Operand { value, span, ..Operand::none() });
            }
            let message = "missing operand; its bytes are not written";
            self.module.error(DiagnosticCode::MissingOperand, span, message);
            return Ok(Operand::none());
        }
        self.module.parse_expression(which, cursor);
        let value = self.module.evaluate(which)?;
        self.lint_value(which, span);
        Ok(Operand {
            value: Some(value),
            span: self.module.operands[which].span,
            ..Operand::none()
        })
    }

    fn second_immediate(
        &mut self,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<Operand> {
        cursor.skip_blanks();
        if self.at_end(cursor) {
            self.module.error(
                DiagnosticCode::MissingOperand,
                span,
                "missing operand; its bytes are not written",
            );
            return Ok(Operand::none());
        }
        match self.skip_comma(cursor) {
            true => self.immediate(1, span, true, cursor),
            false => Ok(Operand::none()),
        }
    }

    /// Skips the comma between the operands.
    fn comma(
        &mut self,
        code: DiagnosticCode,
        form: &Form,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> bool {
        if self.at_end(cursor) {
            self.missing_operand(code, form, span);
            return false;
        }
        self.skip_comma(cursor)
    }

    /// Skips the next comma of the line; anything before it is an error.
    fn skip_comma(&mut self, cursor: &mut Cursor<'_>) -> bool {
        if cursor.eat(b',') {
            return true;
        }
        self.module.error(DiagnosticCode::Operand, cursor.gap(), "a comma is missing here");
        let line = cursor.rest();
        let length = line.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b';'));
        let length = length.unwrap_or(line.len());
        let found = memchr::memchr(b',', &line[..length]);
        cursor.advance(found.map_or(length, |at| at + 1));
        found.is_some()
    }

    fn missing_operand(&mut self, code: DiagnosticCode, form: &Form, span: Span) {
        let wanted = form.arity();
        let plural = if wanted == 1 { "" } else { "s" };
        let message = format!("{} needs {wanted} operand{plural}", form.mnemonic);
        let help = format!("its forms are {}", patterns(form.mnemonic));
        self.module.report(Diagnostic::new(code, span, message).help(help));
    }

    /// Reads an 8-bit register or an indexed byte.
    fn byte_register(
        &mut self,
        which: usize,
        indexed: bool,
        form: &Form,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<Operand> {
        if self.at_end(cursor) {
            self.missing_operand(DiagnosticCode::Operand, form, span);
            return Ok(Operand::missing_register(span));
        }
        self.module.parse_expression(which, cursor);
        let word = span;
        let span = self.module.operands[which].span;
        let value = self.module.evaluate(which)?;
        if indexed && cursor.peek() == Some(b'(') {
            let index = Some(self.index_register(cursor));
            return Ok(Operand { index, value: Some(value), span, ..Operand::none() });
        }
        self.warn_index_without_displacement(which, form);
        let number = self.register_number(value, form, word, span);
        let register = Register::from_number(number & 7);
        if number == value.number && number <= 7 {
            self.lint_number(which, register, word);
        }
        Ok(Operand::register(register, span))
    }

    /// Reports a number that is not a register's. Returns its low byte.
    fn register_number(&mut self, value: Value, form: &Form, word: Span, span: Span) -> u16 {
        if !value.is_absolute() {
            let message = "a register is expected here, but this value is relocatable";
            self.module.error(DiagnosticCode::Relocation, span, message);
        } else if value.number > 7 {
            let message = format!("{:04X}H is not the number of a register", value.number);
            let help = format!("its forms are {}", patterns(form.mnemonic));
            let diagnostic = Diagnostic::new(DiagnosticCode::NoRegister, span, message).help(help);
            let diagnostic = self.suggest_form(diagnostic, word, span, false);
            self.module.report(diagnostic);
        }
        value.number & 0xFF
    }

    /// Warns that `(X)` is the number of X in parentheses, which is 4, the number of H.
    fn warn_index_without_displacement(&mut self, which: usize, form: &Form) {
        let expr = &self.module.operands[which];
        let [Op::Symbol(name, _)] = expr.ops[..] else { return };
        let built_in = self.module.symbols.names[name].built_in;
        let Some(BuiltIn::Register(register @ (Register::X | Register::Y))) = built_in else {
            return;
        };
        let name = register.name();
        let message = format!("{} takes {name} for the register H here", form.mnemonic);
        let help = format!("the byte at an index register has its displacement: 0({name})");
        let diagnostic = Diagnostic::new(DiagnosticCode::IndexAsNumber, expr.span, message);
        let span = expr.span;
        self.module.report(diagnostic.help(help).fix(span, format!("0({name})")));
    }

    /// Reads an index register in parentheses.
    fn index_register(&mut self, cursor: &mut Cursor<'_>) -> Prefix {
        let start = cursor.offset();
        cursor.advance(1);
        cursor.skip_blanks();
        if self.module.code.only_8080 {
            self.module.error(
                DiagnosticCode::Intel,
                cursor.since(start),
                "the 8080 has no index registers",
            );
        }
        let inside = cursor.clone();
        let name = cursor.take(lex::symbol).map(|word| self.module.symbols.names.intern(word));
        let built_in = name.and_then(|name| self.module.symbols.names[name].built_in);
        cursor.skip_blanks();
        let closed = cursor.peek() == Some(b')');
        let prefix = match built_in {
            Some(BuiltIn::Register(Register::X)) if closed => Prefix::X,
            Some(BuiltIn::Register(Register::Y)) if closed => Prefix::Y,
            _ => {
                let inner = match built_in {
                    Some(BuiltIn::Register(Register::X)) => Prefix::X,
                    Some(BuiltIn::Register(Register::Y)) => Prefix::Y,
                    _ => Prefix::None,
                };
                let message = "only X or Y can stand in index parentheses";
                self.module.error(DiagnosticCode::Index, cursor.since(start), message);
                // ZASM skips only the parenthesis, so that the rest is left over.
                *cursor = inside;
                return inner;
            }
        };
        cursor.advance(1);
        cursor.skip_blanks();
        prefix
    }

    fn pair(
        &mut self,
        slot: Slot,
        form: &Form,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<Operand> {
        if self.at_end(cursor) {
            self.missing_operand(DiagnosticCode::Operand, form, span);
            return Ok(Operand::register(Some(Register::B), span));
        }
        self.module.parse_expression(0, cursor);
        let word = span;
        let span = self.module.operands[0].span;
        if let Some(register) = self.index_pair(form) {
            if self.module.code.only_8080 {
                self.module.error(DiagnosticCode::Intel, span, "the 8080 has no index registers");
            }
            return Ok(Operand::register(Some(register), span));
        }
        let value = self.module.evaluate(0)?;
        let number = self.register_number(value, form, word, span);
        let pair = self.numbered_pair(number, slot, form, span);
        if number & !6 == 0 {
            self.lint_number(0, pair.register, word);
            self.lint_pair(self.named_register(), pair.register, span);
        }
        Ok(pair)
    }

    fn numbered_pair(&mut self, number: u16, slot: Slot, form: &Form, span: Span) -> Operand {
        let number =
            if number & !6 == 0 { number } else { self.replace_invalid_pair(number, form, span) };
        let register = match (number & 6, slot) {
            (0, _) => Register::B,
            (2, _) => Register::D,
            (4, Slot::PairX) => Register::X,
            (4, Slot::PairY) => Register::Y,
            (_, Slot::Pointer) => return self.invalid_pointer(number & 6, form, span),
            (4, _) => Register::H,
            (_, Slot::StackPair) => Register::Psw,
            _ => Register::Sp,
        };
        Operand::register(Some(register), span)
    }

    /// Reports a number that is not a register pair's. ZASM continues with the number of the error
    /// in its row, as long as the row shows its flag.
    fn replace_invalid_pair(&mut self, number: u16, form: &Form, span: Span) -> u16 {
        let message = format!("this instruction does not take register pair {number:02X}H");
        let help = format!("its forms are {}", patterns(form.mnemonic));
        self.module.report(Diagnostic::new(DiagnosticCode::NoRegister, span, message).help(help));
        self.module.context.sink.flags_in_row().map_or(number, |errors| 2 * errors)
    }

    /// Handles `LDAX H` and the like: ZASM assembles the opcode that results from the number, which
    /// is that of another instruction.
    fn invalid_pointer(&mut self, number: u16, form: &Form, span: Span) -> Operand {
        let opcode = form.opcode | (number as u8) << 3;
        let message = format!("{} takes B and D; this assembles {opcode:02X}H", form.mnemonic);
        let help = "use M for the byte at H and L";
        self.module.report(Diagnostic::new(DiagnosticCode::OddPointer, span, message).help(help));
        let register = if number == 4 { Register::H } else { Register::Sp };
        Operand::register(Some(register), span)
    }

    /// Returns X or Y if operand buffer 0 is one of them and the instruction has a form for it.
    fn index_pair(&self, form: &Form) -> Option<Register> {
        let name = self.module.operands[0].as_symbol()?;
        let Some(BuiltIn::Register(register @ (Register::X | Register::Y))) =
            self.module.symbols.names[name].built_in
        else {
            return None;
        };
        let mut forms = FORMS.iter().filter(|one| one.mnemonic == form.mnemonic);
        forms.any(|one| one.slots[0] == Slot::IndexPair).then_some(register)
    }

    fn small_number(
        &mut self,
        form: &Form,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<Operand> {
        if self.at_end(cursor) {
            self.missing_operand(DiagnosticCode::Operand, form, span);
            return Ok(Operand::none());
        }
        self.module.parse_expression(0, cursor);
        let value = self.module.evaluate(0)?;
        let span = self.module.operands[0].span;
        Ok(Operand { value: Some(value), span, ..Operand::none() })
    }

    /// Reads the register after a bit number. ZASM marks a missing one twice.
    fn bit_register(
        &mut self,
        form: &Form,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<Operand> {
        let found = self.comma(DiagnosticCode::Operand, form, span, cursor);
        if found && !self.at_end(cursor) {
            return self.byte_register(1, true, form, span, cursor);
        }
        self.missing_operand(DiagnosticCode::Operand, form, span);
        Ok(Operand::register(Some(Register::B), span))
    }
}

/// Returns the forms of an instruction, for messages.
fn patterns(mnemonic: &str) -> String {
    let forms = FORMS.iter().filter(|form| form.mnemonic == mnemonic);
    let shown: Vec<String> = forms.map(Form::pattern).collect();
    shown.join(" | ")
}
