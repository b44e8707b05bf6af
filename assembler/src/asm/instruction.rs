//! Instructions: operands, the choice of the form, the bytes.

use crate::diag::{Code, Diagnostic};
use crate::isa::{FORMS, Form, Prefix, Register, Slot};
use crate::source::Span;
use crate::syntax::expr::{Intern, Op};
use crate::syntax::{Cursor, lex};

use super::names::{Special, State};
use super::output::Field;
use super::{Assembler, Step};

/// An operand as far as the choice of the form depends on it; its expression is in the buffers.
#[derive(Debug, Clone, Copy, Default)]
struct Operand {
    register: Option<Register>,
    index: Option<Prefix>,
    present: bool,
}

impl Operand {
    fn fits(&self, slot: Slot) -> bool {
        match slot {
            Slot::None => !self.present,
            Slot::Index => self.index.is_some(),
            Slot::Byte | Slot::Word | Slot::Relative | Slot::Bit | Slot::Restart => {
                self.present && self.index.is_none()
            }
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
    pub(super) fn instruction(&mut self, first: u16, span: Span, cursor: &mut Cursor<'_>) -> Step {
        let first = &FORMS[usize::from(first)..];
        let arity = first[0].arity();
        let mut operands = [Operand::default(); 2];
        for (at, operand) in operands.iter_mut().enumerate().take(arity) {
            cursor.skip_blanks();
            if at > 0 && !cursor.eat(b',') {
                break;
            }
            *operand = self.operand(at, cursor);
            if !operand.present {
                break;
            }
        }
        let forms = first.iter().take_while(|form| form.mnemonic == first[0].mnemonic);
        match forms.clone().find(|form| (0..2).all(|at| operands[at].fits(form.slots[at]))) {
            Some(form) => self.encode(form, &operands, span),
            None => {
                self.flag_expansion(&operands)?;
                self.report_operands(forms, &operands, span);
                cursor.skip_to_line_end();
                Ok(())
            }
        }
    }

    /// A macro among the operands goes before any complaint about them.
    fn flag_expansion(&mut self, operands: &[Operand; 2]) -> Step {
        for (at, operand) in operands.iter().enumerate() {
            if operand.present {
                self.evaluate(at)?;
            }
        }
        Ok(())
    }

    fn operand(&mut self, which: usize, cursor: &mut Cursor<'_>) -> Operand {
        self.parse_expression(which, cursor);
        let expr = &self.operands[which];
        let mut operand = Operand { present: !expr.ops.is_empty(), ..Operand::default() };
        operand.register = match expr.ops[..] {
            [Op::Symbol(name, _)] => match self.names[name].special {
                Some(Special::Register(register)) => Some(register),
                _ => self.numeric_register(name),
            },
            [Op::Number(number)] => Register::from_number(number),
            _ => None,
        };
        if cursor.peek() == Some(b'(') {
            operand.present = true;
            operand.index = Some(self.index_register(cursor));
        }
        operand
    }

    /// A symbol that stands for the number of a register.
    fn numeric_register(&self, name: u32) -> Option<Register> {
        match self.names[name].state {
            State::Value(value) if value.is_absolute() => Register::from_number(value.number),
            _ => None,
        }
    }

    fn index_register(&mut self, cursor: &mut Cursor<'_>) -> Prefix {
        let start = cursor.offset();
        cursor.advance(1);
        cursor.skip_blanks();
        let name = cursor.take(lex::symbol).map(|word| self.names.intern(word));
        let special = name.and_then(|name| self.names[name].special);
        cursor.skip_blanks();
        let closed = cursor.eat(b')');
        match special {
            Some(Special::Register(Register::X)) if closed => Prefix::X,
            Some(Special::Register(Register::Y)) if closed => Prefix::Y,
            _ => {
                let message = "only X or Y can stand in index parentheses";
                self.error(Code::Index, cursor.since(start), message);
                Prefix::X
            }
        }
    }

    fn report_operands<'f>(
        &mut self,
        forms: impl Iterator<Item = &'f Form>,
        operands: &[Operand; 2],
        span: Span,
    ) {
        let forms: Vec<&Form> = forms.collect();
        let mnemonic = forms[0].mnemonic;
        let count = operands.iter().filter(|operand| operand.present).count();
        let wanted = forms[0].arity();
        let (span, message) = if count < wanted {
            (
                span,
                format!("{mnemonic} needs {wanted} operand{}", if wanted == 1 { "" } else { "s" }),
            )
        } else {
            let at = (0..count)
                .find(|at| !forms.iter().any(|form| operands[*at].fits(form.slots[*at])))
                .unwrap_or(count - 1);
            (self.operands[at].span, format!("{mnemonic} does not take this operand"))
        };
        let shown: Vec<String> = forms.iter().map(|form| form.pattern()).collect();
        let mut diagnostic = Diagnostic::new(Code::Operand, span, message);
        diagnostic = if matches!(
            operands.iter().find_map(|o| o.register),
            Some(Register::X | Register::Y)
        ) {
            diagnostic.help("the byte at an index register is written with its displacement: 0(X)")
        } else {
            diagnostic.help(format!("its forms are {}", shown.join(" | ")))
        };
        self.report(diagnostic);
    }

    fn encode(&mut self, form: &Form, operands: &[Operand; 2], span: Span) -> Step {
        self.line.clocks = Some(form.clocks);
        if self.intel_only && form.z80_only {
            self.error(Code::Intel, span, format!("the 8080 has no {}", form.mnemonic));
        }
        let (opcode, index) = opcode_and_prefix(form, operands);
        let mut bytes = Bytes::default();
        match index.unwrap_or(form.prefix) {
            Prefix::X => bytes.push(0xDD),
            Prefix::Y => bytes.push(0xFD),
            Prefix::Ed => bytes.push(0xED),
            Prefix::Cb | Prefix::None => {}
        }
        let here = self.here;
        if form.prefix == Prefix::Cb {
            bytes.push(0xCB);
            if let (Some(_), Some(at)) = (index, slot_of(form, Slot::Index)) {
                self.output.write(&bytes.bytes[..bytes.len]);
                self.emit_operand(at, Field::Displacement)?;
                bytes.len = 0;
            }
            bytes.push(opcode);
            return self.write_opcode(form, &bytes);
        }
        bytes.push(opcode);
        self.write_opcode(form, &bytes)?;
        for (at, slot) in form.slots.iter().enumerate() {
            let field = match slot {
                Slot::Index => Field::Displacement,
                Slot::Byte => Field::Byte,
                Slot::Word => Field::Word,
                Slot::Relative => Field::Relative(here),
                _ => continue,
            };
            self.emit_operand(at, field)?;
        }
        Ok(())
    }

    /// Writes the bytes up to the opcode, and into it a bit or restart number.
    fn write_opcode(&mut self, form: &Form, bytes: &Bytes) -> Step {
        let mut site = self.output.write(&bytes.bytes[..bytes.len]);
        site.at += bytes.len as u32 - 1;
        if matches!(form.slots[0], Slot::Bit | Slot::Restart) {
            let (evaluated, span) = (self.evaluate(0)?, self.operands[0].span);
            self.fill(site, Field::Bits, evaluated, span);
        }
        Ok(())
    }
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
