//! The bytes of an instruction whose operands were read.

use smallvec::SmallVec;

use super::super::assembler::Assembler;
use super::super::code_buffer::Field;
use super::Operand;
use crate::diag::DiagnosticCode;
use crate::isa::{Form, Prefix, Register, Slot};
use crate::source::Span;

/// The bytes of an instruction before they are written.
type InstructionBytes = SmallVec<[u8; 4]>;

/// Assembles operands that no form accepts together.
pub(super) fn encode_mismatched(asm: &mut Assembler<'_>, form: &Form, operands: &[Operand; 2]) {
    let bits = match (form.slots[0], operands[0].register) {
        (Slot::Pointer, Some(register)) => register.value() << 3,
        (Slot::Dest, _) => return encode_memory_to_memory(asm, form, operands),
        _ => 0,
    };
    asm.code.write(&[form.opcode | bits]);
}

/// Assembles a move from memory to memory: ZASM writes the opcode of HLT, with the prefix and
/// displacement of the last index register. After a second index register the number of the
/// error replaces the first register, as long as the row shows its flag.
fn encode_memory_to_memory(asm: &mut Assembler<'_>, form: &Form, operands: &[Operand; 2]) {
    let [first, second] = operands;
    let last = [second, first].into_iter().find(|one| one.index.is_some());
    let both = first.index.is_some() && second.index.is_some();
    let mut bytes = InstructionBytes::from_slice(match last.and_then(|one| one.index) {
        Some(Prefix::X) => &[0xDD, 0][..],
        Some(Prefix::Y) => &[0xFD, 0],
        Some(_) => &[0, 0],
        None => &[0],
    });
    let opcode = bytes.len() - 1;
    if both {
        // Both displacements are checked, but the second one replaces the first.
        let before = asm.code.checkpoint();
        append_field(asm, &mut bytes, first, Field::Displacement);
        asm.code.roll_back(before);
        bytes.truncate(opcode + 1);
    }
    if let Some(last) = last {
        // Errors in the displacement are reported first.
        append_field(asm, &mut bytes, last, Field::Displacement);
    }
    let message = format!("{} does not take these operands together", form.mnemonic);
    let operands = Span::new(first.span.start, second.span.end);
    asm.error(DiagnosticCode::Operand, operands, message);
    let bits = if both { 0x06 | asm.sink.shown_flags_in_row() as u8 } else { 0x36 };
    bytes[opcode] = form.opcode | bits;
    asm.code.write(&bytes);
}

pub(in super::super) fn encode(asm: &mut Assembler<'_>, form: &Form, operands: &[Operand; 2]) {
    asm.recorder.statement.clocks = Some(form.clocks);
    let (mut opcode, index) = opcode_and_prefix(form, operands);
    if operands[1].missing {
        // Without a source operand ZASM writes the number of the error here.
        opcode = opcode & 0x38 | 1;
    }
    let mut bytes = InstructionBytes::new();
    match index.unwrap_or(form.prefix) {
        Prefix::X => bytes.push(0xDD),
        Prefix::Y => bytes.push(0xFD),
        Prefix::Ed => bytes.push(0xED),
        // ZASM writes 0 as the prefix of an invalid index register.
        Prefix::None if index.is_some() => bytes.push(0),
        Prefix::Cb | Prefix::None => {}
    }
    let is_cb = form.prefix == Prefix::Cb;
    if is_cb {
        bytes.push(0xCB);
        // The only field, which is before the opcode.
        if let Some(operand) = operands.iter().find(|one| one.index.is_some()) {
            append_field(asm, &mut bytes, operand, Field::Displacement);
        }
    }
    if matches!(form.slots[0], Slot::Bit | Slot::Restart)
        && let Some(value) = operands[0].value
    {
        opcode |= asm.field_number(0, Field::Bits, value, operands[0].span) as u8;
    }
    bytes.push(opcode);
    let here = asm.statement.location;
    for (slot, operand) in form.slots.iter().zip(operands).filter(|_| !is_cb) {
        let field = match slot {
            Slot::Index => Field::Displacement,
            Slot::Byte => Field::Byte,
            Slot::Word => Field::Word,
            Slot::Relative => Field::Relative(here),
            _ => continue,
        };
        append_field(asm, &mut bytes, operand, field);
    }
    asm.code.write(&bytes);
}

/// Appends the field of an operand, unless the operand is missing.
fn append_field(
    asm: &mut Assembler<'_>,
    bytes: &mut InstructionBytes,
    operand: &Operand,
    field: Field,
) {
    let Some(value) = operand.value else { return };
    let number = asm.field_number(bytes.len(), field, value, operand.span);
    bytes.push(number as u8);
    if field == Field::Word {
        bytes.push((number >> 8) as u8);
    }
}

/// Returns the opcode with its register bits, and the prefix of an index register.
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
