//! Instructions in Zilog's notation.

use super::super::assembler::Assembler;
use super::super::instruction::{self, encode};
use super::super::options::Cpu;
use super::super::value::Value;
use super::{Operand, operands, value};
use crate::diag::DiagnosticCode;
use crate::isa::zilog::{Bound, Given, Selected, forms, pattern, select};
use crate::isa::{Prefix, Slot};
use crate::syntax::Cursor;
use crate::syntax::zilog;

/// An operand as it is written, and the value in it.
struct Read<'t> {
    given: Given<'t>,
    value: Option<Value>,
    operand: Operand<'t>,
}

/// The T-states of a prefix.
const PREFIX_CLOCKS: u8 = 4;
/// The highest address of a restart.
const LAST_RESTART: u16 = 0x38;

pub(super) fn instruction(asm: &mut Assembler<'_>, word: &[u8], cursor: &mut Cursor<'_>) {
    let mut read = Vec::new();
    for operand in operands(cursor) {
        match read_operand(asm, operand) {
            Some(operand) => read.push(operand),
            None => return,
        }
    }
    let given: Vec<Given<'_>> = read.iter().map(|read| read.given).collect();
    match select(word, &given) {
        Some(selected) => write(asm, &selected, &read),
        None => report_mismatch(asm, word),
    }
}

fn read_operand<'t>(asm: &mut Assembler<'_>, operand: Operand<'t>) -> Option<Read<'t>> {
    let (mut given, text) = zilog::operand(operand.text);
    let Some(text) = text else { return Some(Read { given, value: None, operand }) };
    let operand = operand.part(text);
    let value = value(asm, operand)?;
    if let Given::Value(number) = &mut given {
        *number = value.is_absolute().then_some(value.number);
    }
    Some(Read { given, value: Some(value), operand })
}

fn report_mismatch(asm: &mut Assembler<'_>, word: &[u8]) {
    let name = String::from_utf8_lossy(word).to_ascii_uppercase();
    let message = format!("{name} does not take these operands");
    let patterns: Vec<String> = forms(word).iter().map(|form| pattern(form)).collect();
    let help = format!("its forms are {}", patterns.join(" | "));
    asm.error_with_help(DiagnosticCode::Operand, asm.statement.operator, message, help);
}

fn write(asm: &mut Assembler<'_>, selected: &Selected, read: &[Read<'_>]) {
    let Selected { form, half, copy, .. } = *selected;
    if asm.options.cpu == Some(Cpu::Z180) && (selected.is_beyond_tdl() || form.traps_on_z180()) {
        let message = format!("a Z180 traps this form of {}", form.zilog);
        asm.operator_error(DiagnosticCode::Z180Trap, message);
    }
    let mut operands = selected.operands.map(|bound| match bound {
        None => instruction::Operand::default(),
        Some(bound) => bound_operand(bound, read),
    });
    if form.slots[0] == Slot::Restart {
        operands[0].value = operands[0].value.map(|value| restart(asm, value));
    }
    let before = asm.code.checkpoint();
    if let Some(prefix) = half {
        asm.code.write(&[if prefix == Prefix::X { 0xDD } else { 0xFD }]);
    }
    encode::encode(asm, form, &operands);
    if let (Some(_), Some(clocks)) = (half, &mut asm.recorder.statement.clocks) {
        clocks.taken += PREFIX_CLOCKS;
        clocks.not_taken += PREFIX_CLOCKS;
    }
    if let (Some(register), Some((pos, count))) = (copy, asm.code.written_since(before)) {
        let opcode = asm.code.byte(pos, count - 1);
        *opcode = *opcode & !7 | register.value();
    }
}

fn bound_operand(bound: Bound, read: &[Read<'_>]) -> instruction::Operand {
    let part = |index: usize| (read[index].value, read[index].operand.span());
    match bound {
        Bound::Register(register) => instruction::Operand::register(Some(register), <_>::default()),
        Bound::Index(prefix, index) => {
            let (value, span) = index.map_or((Some(Value::absolute(0)), <_>::default()), part);
            instruction::Operand { index: Some(prefix), value, span, ..<_>::default() }
        }
        Bound::Value(index) => {
            let (value, span) = part(index);
            instruction::Operand { value, span, ..<_>::default() }
        }
    }
}

/// Returns the number of a restart, which Zilog's notation has as its address.
fn restart(asm: &mut Assembler<'_>, address: Value) -> Value {
    let number = address.number;
    if address.is_absolute() && number.is_multiple_of(8) && number <= LAST_RESTART {
        return Value::absolute(number / 8);
    }
    let message = "RST takes an address: 0, 8, 10H, 18H, 20H, 28H, 30H or 38H";
    asm.operator_error(DiagnosticCode::Operand, message);
    Value::absolute(0)
}
