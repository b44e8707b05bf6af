//! Instructions: operands, the choice of the form, the bytes.
//!
//! Registers are numbers, as on the original: `MVI 7,5` is `MVI A,5`. A number that names no
//! register is reduced to one that does, and marked.

use crate::diag::{Code, Diagnostic};
use crate::isa::{FORMS, Form, Prefix, Register, Slot};
use crate::source::Span;
use crate::syntax::expr::{Intern, Op};
use crate::syntax::{Cursor, lex};

use super::eval::Evaluated;
use super::names::Special;
use super::output::Field;
use super::statement::Ending;
use super::value::Value;
use super::{Assembler, Interrupt, Step};

/// An operand: what the choice of the form depends on, and its value.
#[derive(Debug, Clone, Copy)]
struct Operand {
    register: Option<Register>,
    index: Option<Prefix>,
    /// The value of an immediate operand or a displacement.
    value: Option<Evaluated>,
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

    /// The register B, as which the original assembles one that is missing.
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

/// The bytes of an instruction as they come together.
#[derive(Debug, Default)]
struct Bytes {
    bytes: [u8; 4],
    len: usize,
}

impl Bytes {
    fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }
}

impl Assembler<'_> {
    /// Assembles the instruction whose forms begin at `first`.
    pub(super) fn instruction(
        &mut self,
        first: u16,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step<Ending> {
        let forms = &FORMS[usize::from(first)..];
        let plain = &forms[0];
        if self.emission.intel_only && plain.z80_only {
            self.report_intel(plain, span);
        }
        let mut operands = [Operand::none(); 2];
        self.read_operands(&mut operands, plain, span, cursor)?;
        let fits = |form: &Form| (0..2).all(|at| operands[at].fits(form.slots[at]));
        // Most take the first form, which costs no comparison of mnemonics.
        let mut others = forms[1..].iter().take_while(|form| form.mnemonic == plain.mnemonic);
        let form = if fits(plain) { Some(plain) } else { others.find(|form| fits(form)) };
        match form {
            Some(form) => self.encode(form, &operands),
            None => self.encode_odd(plain, &operands, span),
        }
        Ok(Ending::Open)
    }

    fn report_intel(&mut self, form: &Form, span: Span) {
        self.error(Code::Intel, span, format!("the 8080 has no {}", form.mnemonic));
    }

    /// Reads the operands that the instruction has in all its forms.
    fn read_operands(
        &mut self,
        operands: &mut [Operand; 2],
        form: &Form,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step {
        let [first, second] = form.slots;
        operands[0] = match first {
            Slot::None => return Ok(()),
            Slot::Byte | Slot::Word | Slot::Relative => self.immediate(0, span, false, cursor)?,
            Slot::Bit | Slot::Restart => self.small_number(form, span, cursor)?,
            Slot::Source | Slot::SourceMem | Slot::Dest | Slot::DestMem | Slot::Index => {
                // The port instructions take no index register.
                let indexed = form.prefix != Prefix::Ed;
                self.byte_register(0, indexed, form, span, cursor)?
            }
            pair => self.pair(pair, form, span, cursor)?,
        };
        operands[1] = match second {
            Slot::None => return Ok(()),
            Slot::Byte | Slot::Word => self.second_immediate(span, cursor)?,
            _ if form.slots[0] == Slot::Bit => self.bit_register(form, span, cursor)?,
            _ => match self.comma(Code::Operand, form, span, cursor) {
                true => self.byte_register(1, true, form, span, cursor)?,
                false => Operand::missing_register(span),
            },
        };
        Ok(())
    }

    /// Whether the operands end here.
    fn at_end(&self, cursor: &mut Cursor<'_>) -> bool {
        cursor.skip_blanks();
        cursor.at_statement_end() || (cursor.peek() == Some(b']') && self.input.in_block())
    }

    /// Reads an operand that becomes a field of its own. A missing one leaves the field out.
    fn immediate(
        &mut self,
        which: usize,
        span: Span,
        after_comma: bool,
        cursor: &mut Cursor<'_>,
    ) -> Step<Operand> {
        if self.at_end(cursor) {
            if after_comma || self.input.spliced {
                self.error(Code::Operand, cursor.here(), "an operand is missing here");
            }
            // A macro without text in the place of the operand is no operand, but not a missing
            // one.
            if self.input.spliced {
                let value = Some(Evaluated::Known(Value::default()));
                return Ok(Operand { value, span, ..Operand::none() });
            }
            let message = "an operand is missing, and so is its field in the code";
            self.error(Code::Short, span, message);
            return Ok(Operand::none());
        }
        self.parse_expression(which, cursor);
        let value = self.evaluate(which)?;
        Ok(Operand { value: Some(value), span: self.operands[which].span, ..Operand::none() })
    }

    fn second_immediate(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step<Operand> {
        cursor.skip_blanks();
        if self.at_end(cursor) {
            self.error(Code::Short, span, "an operand is missing, and so is its field in the code");
            return Ok(Operand::none());
        }
        match self.skip_comma(cursor) {
            true => self.immediate(1, span, true, cursor),
            false => Ok(Operand::none()),
        }
    }

    /// Moves past the comma between the operands.
    fn comma(&mut self, code: Code, form: &Form, span: Span, cursor: &mut Cursor<'_>) -> bool {
        if self.at_end(cursor) {
            self.missing_operand(code, form, span);
            return false;
        }
        self.skip_comma(cursor)
    }

    /// Moves past the next comma of the line; anything before it is a fault.
    fn skip_comma(&mut self, cursor: &mut Cursor<'_>) -> bool {
        if cursor.eat(b',') {
            return true;
        }
        self.error(Code::Operand, cursor.here(), "a comma is missing here");
        let line = cursor.rest();
        let length = line.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b';'));
        let length = length.unwrap_or(line.len());
        let found = memchr::memchr(b',', &line[..length]);
        cursor.advance(found.map_or(length, |at| at + 1));
        found.is_some()
    }

    fn missing_operand(&mut self, code: Code, form: &Form, span: Span) {
        let wanted = form.arity();
        let plural = if wanted == 1 { "" } else { "s" };
        let message = format!("{} needs {wanted} operand{plural}", form.mnemonic);
        let help = format!("its forms are {}", patterns(form.mnemonic));
        self.report(Diagnostic::new(code, span, message).help(help));
    }

    /// Reads an 8-bit register, or the byte at an index register.
    fn byte_register(
        &mut self,
        which: usize,
        indexed: bool,
        form: &Form,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step<Operand> {
        if self.at_end(cursor) {
            self.missing_operand(Code::Operand, form, span);
            return Ok(Operand::missing_register(span));
        }
        if let Some((register, span)) = self.plain_register(cursor) {
            return Ok(Operand::register(Some(register), span));
        }
        self.parse_expression(which, cursor);
        let span = self.operands[which].span;
        let value = self.evaluate(which)?;
        if indexed && cursor.peek() == Some(b'(') {
            let index = Some(self.index_register(cursor));
            return Ok(Operand { index, value: Some(value), span, ..Operand::none() });
        }
        let Evaluated::Known(value) = value else { return Err(Interrupt::TwoPasses) };
        self.warn_index_without_displacement(which, form);
        let number = self.register_number(value, form, span);
        Ok(Operand::register(Register::from_number(number & 7), span))
    }

    /// Reads a register of one letter that stands alone, without the detour over its number.
    #[inline]
    fn plain_register(&self, cursor: &mut Cursor<'_>) -> Option<(Register, Span)> {
        let register = self.naming.names.register(cursor.peek()?)?;
        let start = cursor.offset();
        let mut behind = cursor.clone();
        behind.advance(1);
        behind.skip_blanks();
        let alone = behind.at_statement_end() || behind.peek() == Some(b',');
        let indexes = matches!(register, Register::X | Register::Y);
        if !alone || indexes || self.notes() {
            return None;
        }
        *cursor = behind;
        Some((register, Span::new(start, start + 1)))
    }

    /// Marks a number that is no register's. Returns it without what is beyond a byte.
    fn register_number(&mut self, value: Value, form: &Form, span: Span) -> u16 {
        if !value.is_absolute() {
            let message = "a register is meant here, but this value moves with a section";
            self.error(Code::Relocation, span, message);
        } else if value.number > 7 {
            let message = format!("{:04X}H is no register", value.number);
            let help = format!("its forms are {}", patterns(form.mnemonic));
            self.report(Diagnostic::new(Code::NoRegister, span, message).help(help));
        }
        value.number & 0xFF
    }

    /// `(X)` is the number 4 in parentheses, that is H.
    fn warn_index_without_displacement(&mut self, which: usize, form: &Form) {
        let expr = &self.operands[which];
        let [Op::Symbol(name, _)] = expr.ops[..] else { return };
        let special = self.naming.names[name].special;
        let Some(Special::Register(register @ (Register::X | Register::Y))) = special else {
            return;
        };
        let name = register.name();
        let message = format!("{} takes {name} for the register H here", form.mnemonic);
        let help = format!("the byte at an index register has its displacement: 0({name})");
        let diagnostic = Diagnostic::new(Code::IndexAsNumber, expr.span, message);
        let span = expr.span;
        self.report(diagnostic.help(help).fix(span, format!("0({name})")));
    }

    /// Reads a register in index parentheses.
    fn index_register(&mut self, cursor: &mut Cursor<'_>) -> Prefix {
        let start = cursor.offset();
        cursor.advance(1);
        cursor.skip_blanks();
        if self.emission.intel_only {
            self.error(Code::Intel, cursor.since(start), "the 8080 has no index registers");
        }
        let inside = cursor.clone();
        let name = cursor.take(lex::symbol).map(|word| self.naming.names.intern(word));
        let special = name.and_then(|name| self.naming.names[name].special);
        cursor.skip_blanks();
        let closed = cursor.peek() == Some(b')');
        let prefix = match special {
            Some(Special::Register(Register::X)) if closed => Prefix::X,
            Some(Special::Register(Register::Y)) if closed => Prefix::Y,
            _ => {
                let inner = match special {
                    Some(Special::Register(Register::X)) => Prefix::X,
                    Some(Special::Register(Register::Y)) => Prefix::Y,
                    _ => Prefix::None,
                };
                let message = "only X or Y can stand in index parentheses";
                self.error(Code::Index, cursor.since(start), message);
                // The original reads over the parenthesis only, so that the rest is left over.
                *cursor = inside;
                return inner;
            }
        };
        cursor.advance(1);
        cursor.skip_blanks();
        prefix
    }

    /// Reads a register pair.
    fn pair(
        &mut self,
        slot: Slot,
        form: &Form,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step<Operand> {
        if self.at_end(cursor) {
            self.missing_operand(Code::Operand, form, span);
            return Ok(Operand::register(Some(Register::B), span));
        }
        if let Some((register, span)) = self.plain_register(cursor) {
            return Ok(self.numbered_pair(register.value().into(), slot, form, span));
        }
        self.parse_expression(0, cursor);
        let span = self.operands[0].span;
        if let Some(register) = self.index_pair(form) {
            if self.emission.intel_only {
                self.error(Code::Intel, span, "the 8080 has no index registers");
            }
            return Ok(Operand::register(Some(register), span));
        }
        let value = self.evaluate_now(0)?;
        let number = self.register_number(value, form, span);
        Ok(self.numbered_pair(number, slot, form, span))
    }

    /// The pair that a number stands for at a slot.
    fn numbered_pair(&mut self, number: u16, slot: Slot, form: &Form, span: Span) -> Operand {
        let number = if number & !6 == 0 { number } else { self.no_pair(number, form, span) };
        let register = match (number & 6, slot) {
            (0, _) => Register::B,
            (2, _) => Register::D,
            (4, Slot::PairX) => Register::X,
            (4, Slot::PairY) => Register::Y,
            (_, Slot::Pointer) => return self.odd_pointer(number & 6, form, span),
            (4, _) => Register::H,
            (_, Slot::StackPair) => Register::Psw,
            _ => Register::Sp,
        };
        Operand::register(Some(register), span)
    }

    /// Marks a number that is no register pair's. The original goes on with the number of the error
    /// in its row, as long as the row has room for its letter.
    fn no_pair(&mut self, number: u16, form: &Form, span: Span) -> u16 {
        let message = format!("{number:02X}H is the number of no register pair here");
        let help = format!("its forms are {}", patterns(form.mnemonic));
        self.report(Diagnostic::new(Code::NoRegister, span, message).help(help));
        self.reports.shown_in_row().map_or(number, |errors| 2 * errors)
    }

    /// `LDAX H` and its like: the original assembles the opcode that the number gives, which is
    /// that of another instruction.
    fn odd_pointer(&mut self, number: u16, form: &Form, span: Span) -> Operand {
        let opcode = form.opcode | (number as u8) << 3;
        let message = format!("{} goes with B and D; this assembles {opcode:02X}H", form.mnemonic);
        let help = "use M for the byte at H and L";
        self.report(Diagnostic::new(Code::OddPointer, span, message).help(help));
        let register = if number == 4 { Register::H } else { Register::Sp };
        Operand::register(Some(register), span)
    }

    /// Returns X or Y if operand buffer 0 is one of them and the instruction has a form for it.
    fn index_pair(&self, form: &Form) -> Option<Register> {
        let name = self.operands[0].as_symbol()?;
        let Some(Special::Register(register @ (Register::X | Register::Y))) =
            self.naming.names[name].special
        else {
            return None;
        };
        let mut forms = FORMS.iter().filter(|one| one.mnemonic == form.mnemonic);
        forms.any(|one| one.slots[0] == Slot::IndexPair).then_some(register)
    }

    /// Reads the number of a bit or restart.
    fn small_number(&mut self, form: &Form, span: Span, cursor: &mut Cursor<'_>) -> Step<Operand> {
        if self.at_end(cursor) {
            self.missing_operand(Code::Operand, form, span);
            return Ok(Operand::none());
        }
        self.parse_expression(0, cursor);
        let value = self.evaluate(0)?;
        let span = self.operands[0].span;
        Ok(Operand { value: Some(value), span, ..Operand::none() })
    }

    /// Reads the register after a bit number. The original marks a missing one twice.
    fn bit_register(&mut self, form: &Form, span: Span, cursor: &mut Cursor<'_>) -> Step<Operand> {
        let found = self.comma(Code::Operand, form, span, cursor);
        if found && !self.at_end(cursor) {
            return self.byte_register(1, true, form, span, cursor);
        }
        self.missing_operand(Code::Operand, form, span);
        Ok(Operand::register(Some(Register::B), span))
    }

    /// Assembles operands that no form takes together.
    fn encode_odd(&mut self, form: &Form, operands: &[Operand; 2], span: Span) {
        let bits = match (form.slots[0], operands[0].register) {
            (Slot::Pointer, Some(register)) => register.value() << 3,
            (Slot::Dest, _) => return self.encode_memory_to_memory(form, operands, span),
            _ => 0,
        };
        self.emission.output.write(&[form.opcode | bits]);
    }

    /// From memory to memory: the original assembles the opcode of HLT, with the prefix and
    /// displacement of the last index register. After a second one the number of the error stands
    /// in the place of the first register, as long as the row has room for its letter.
    fn encode_memory_to_memory(&mut self, form: &Form, operands: &[Operand; 2], span: Span) {
        let [first, second] = operands;
        let last = [second, first].into_iter().find(|one| one.index.is_some());
        let prefix = match last.and_then(|one| one.index) {
            Some(Prefix::X) => &[0xDD, 0][..],
            Some(Prefix::Y) => &[0xFD, 0],
            Some(_) => &[0, 0],
            None => &[0],
        };
        let mut site = self.emission.output.write(prefix);
        if let Some(last) = last {
            // What the displacement raises comes first.
            self.emit_field(last, Field::Displacement);
        }
        let message = format!("{} does not take these operands together", form.mnemonic);
        self.error(Code::Operand, span, message);
        let both = first.index.is_some() && second.index.is_some();
        let number = self.reports.shown_in_row().filter(|_| both);
        let bits = number.map_or(0x36, |errors| 0x06 | errors as u8);
        site.at += prefix.len() as u32 - 1;
        *self.emission.output.byte(site, 0) = form.opcode | bits;
    }

    fn encode(&mut self, form: &Form, operands: &[Operand; 2]) {
        self.record.line.clocks = Some(form.clocks);
        let (mut opcode, index) = opcode_and_prefix(form, operands);
        if form.slots[0] == Slot::Dest && operands[1].missing {
            // Without a source the original has the error's number there, and nothing else.
            opcode = opcode & 0x38 | 1;
        }
        let mut bytes = Bytes::default();
        match index.unwrap_or(form.prefix) {
            Prefix::X => bytes.push(0xDD),
            Prefix::Y => bytes.push(0xFD),
            Prefix::Ed => bytes.push(0xED),
            // The original writes 0 for the prefix of an index register that is none.
            Prefix::None if index.is_some() => bytes.push(0),
            Prefix::Cb | Prefix::None => {}
        }
        if form.prefix == Prefix::Cb {
            bytes.push(0xCB);
            if let (Some(_), Some(at)) = (index, slot_of(form, Slot::Index)) {
                self.emission.output.write(&bytes.bytes[..bytes.len]);
                self.emit_field(&operands[at], Field::Displacement);
                bytes.len = 0;
            }
            bytes.push(opcode);
            return self.write_opcode(form, operands, &bytes);
        }
        bytes.push(opcode);
        self.write_opcode(form, operands, &bytes);
        let here = self.emission.here;
        for (slot, operand) in form.slots.iter().zip(operands) {
            let field = match slot {
                Slot::Index => Field::Displacement,
                Slot::Byte => Field::Byte,
                Slot::Word => Field::Word,
                Slot::Relative => Field::Relative(here),
                _ => continue,
            };
            self.emit_field(operand, field);
        }
    }

    /// Writes the field of an operand, unless the operand is missing.
    fn emit_field(&mut self, operand: &Operand, field: Field) {
        let Some(value) = operand.value else { return };
        let site = self.emission.output.write(&[0; 2][..field.size()]);
        self.fill(site, field, value, operand.span);
    }

    /// Writes the bytes up to the opcode, and into it a bit or restart number.
    fn write_opcode(&mut self, form: &Form, operands: &[Operand; 2], bytes: &Bytes) {
        let mut site = self.emission.output.write(&bytes.bytes[..bytes.len]);
        site.at += bytes.len as u32 - 1;
        if matches!(form.slots[0], Slot::Bit | Slot::Restart)
            && let Some(value) = operands[0].value
        {
            self.fill(site, Field::Bits, value, operands[0].span);
        }
    }
}

/// The forms of an instruction, as messages show them.
fn patterns(mnemonic: &str) -> String {
    let forms = FORMS.iter().filter(|form| form.mnemonic == mnemonic);
    let shown: Vec<String> = forms.map(Form::pattern).collect();
    shown.join(" | ")
}

fn slot_of(form: &Form, wanted: Slot) -> Option<usize> {
    form.slots.iter().position(|slot| *slot == wanted)
}

/// The opcode with its register bits, and the prefix that an index register brings.
fn opcode_and_prefix(form: &Form, operands: &[Operand; 2]) -> (u8, Option<Prefix>) {
    let mut opcode = form.opcode;
    let mut index = None;
    for (slot, operand) in form.slots.iter().zip(operands) {
        if let Some(bits) = operand.register.and_then(|register| register.bits(*slot)) {
            opcode |= bits;
        }
        index = match (slot, operand.register) {
            (Slot::Index, _) => operand.index,
            (Slot::IndexPair, Some(Register::X)) => Some(Prefix::X),
            (Slot::IndexPair, Some(Register::Y)) => Some(Prefix::Y),
            _ => index,
        };
    }
    (opcode, index)
}
