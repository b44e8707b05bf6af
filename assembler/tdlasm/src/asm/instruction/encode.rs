//! The bytes of an instruction whose operands were read.

use smallvec::SmallVec;

use super::super::assembler::Assembler;
use super::super::code_buffer::Field;
use super::Operand;
use crate::diag::DiagnosticCode;
use crate::isa::{Form, Prefix, Register, Slot};
use crate::source::Span;

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
    let prefix = match last.and_then(|one| one.index) {
        Some(Prefix::X) => &[0xDD, 0][..],
        Some(Prefix::Y) => &[0xFD, 0],
        Some(_) => &[0, 0],
        None => &[0],
    };
    if both {
        // Both displacements are checked, but the second one replaces the first.
        let before = asm.code.checkpoint();
        emit_field(asm, first, Field::Displacement);
        asm.code.roll_back(before);
    }
    let pos = asm.code.write(prefix);
    if let Some(last) = last {
        // Errors in the displacement are reported first.
        emit_field(asm, last, Field::Displacement);
    }
    let message = format!("{} does not take these operands together", form.mnemonic);
    let operands = Span::new(first.span.start, second.span.end);
    asm.error(DiagnosticCode::Operand, operands, message);
    let bits = if both { 0x06 | asm.sink.shown_flags_in_row() as u8 } else { 0x36 };
    *asm.code.byte(pos, prefix.len() as u32 - 1) = form.opcode | bits;
}

pub(in super::super) fn encode(asm: &mut Assembler<'_>, form: &Form, operands: &[Operand; 2]) {
    asm.recorder.statement.clocks = Some(form.clocks);
    let (mut opcode, index) = opcode_and_prefix(form, operands);
    if operands[1].missing {
        // Without a source operand ZASM writes the number of the error here.
        opcode = opcode & 0x38 | 1;
    }
    let mut bytes = SmallVec::<[u8; 4]>::new();
    match index.unwrap_or(form.prefix) {
        Prefix::X => bytes.push(0xDD),
        Prefix::Y => bytes.push(0xFD),
        Prefix::Ed => bytes.push(0xED),
        // ZASM writes 0 as the prefix of an invalid index register.
        Prefix::None if index.is_some() => bytes.push(0),
        Prefix::Cb | Prefix::None => {}
    }
    if form.prefix == Prefix::Cb {
        bytes.push(0xCB);
        if let Some(operand) = operands.iter().find(|one| one.index.is_some()) {
            asm.code.write(&bytes);
            emit_field(asm, operand, Field::Displacement);
            bytes.clear();
        }
        bytes.push(opcode);
        return write_opcode(asm, form, operands, &bytes);
    }
    bytes.push(opcode);
    write_opcode(asm, form, operands, &bytes);
    let here = asm.statement.location;
    for (slot, operand) in form.slots.iter().zip(operands) {
        let field = match slot {
            Slot::Index => Field::Displacement,
            Slot::Byte => Field::Byte,
            Slot::Word => Field::Word,
            Slot::Relative => Field::Relative(here),
            _ => continue,
        };
        emit_field(asm, operand, field);
    }
}

/// Writes the field of an operand, unless the operand is missing.
fn emit_field(asm: &mut Assembler<'_>, operand: &Operand, field: Field) {
    let Some(value) = operand.value else { return };
    asm.emit(field, value, operand.span);
}

/// Writes the bytes up to the opcode, which can contain a bit or restart number.
fn write_opcode(asm: &mut Assembler<'_>, form: &Form, operands: &[Operand; 2], bytes: &[u8]) {
    let mut pos = asm.code.write(bytes);
    pos.at += bytes.len() as u32 - 1;
    if matches!(form.slots[0], Slot::Bit | Slot::Restart)
        && let Some(value) = operands[0].value
    {
        asm.set_field(pos, Field::Bits, value, operands[0].span);
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
