//! Writes values into fields, and reports values that do not fit.

use super::assembler::Assembler;
use super::code_buffer::{CodePos, CodeReloc, CodeRun, Field, kind_of};
use super::input::StatementPlace;
use super::options::Notation;
use super::pass::Pass;
use super::value::Value;
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::module::LineRow;
use crate::source::Span;

/// The offsets out of reach that ZASM accepts, over 130 bytes and back by 254; it writes their low
/// bytes.
const ACCEPTED_TOO_FAR: [i32; 2] = [128, -256];

impl Assembler<'_> {
    /// Writes a value into a field. Only words can be relocated; ZASM marks other fields. In PASM
    /// bytes can be relative to externals.
    pub(super) fn set_field(&mut self, pos: CodePos, field: Field, value: Value, span: Span) {
        let is_byte = matches!(field, Field::Byte | Field::Displacement);
        if is_byte && self.is_pasm() && !value.is_absolute() && value.base.external().is_some() {
            return self.code.relocs.push(CodeReloc { pos, value, is_byte });
        }
        if !value.is_absolute() && !matches!(field, Field::Word | Field::Relative(_)) {
            let message = "a relocatable value does not fit a field of 8 bits";
            let help = "only absolute code has the bytes of an address: assemble with --pabs";
            self.error_with_help(DiagnosticCode::Relocation, span, message, help);
        }
        match field {
            Field::Word if value.is_absolute() => {
                let [low, high] = value.number.to_le_bytes();
                *self.code.byte(pos, 0) = low;
                *self.code.byte(pos, 1) = high;
            }
            Field::Word => self.code.relocs.push(CodeReloc { pos, value, is_byte }),
            Field::Relative(here) => self.set_relative(pos, here, value, span),
            Field::Byte => self.set_byte(pos, value.number, span),
            Field::Displacement => self.set_displacement(pos, value.number, span),
            Field::Bits => self.set_bits(pos, value.number, span),
        }
    }

    fn set_byte(&mut self, pos: CodePos, number: u16, span: Span) {
        if !matches!(number >> 8, 0 | 0xFF) {
            let message =
                format!("{number:04X}H does not fit a byte; only {:02X}H is used", number & 0xFF);
            let mut diagnostic = Diagnostic::new(DiagnosticCode::Truncated, span, message);
            let help = match self.sources.slice(span) {
                [b'\'' | b'"', ..] => "a byte is one character; .ASCII writes texts",
                _ => "a byte is -256..255; .WORD writes 16 bits, and LXI loads them",
            };
            diagnostic = diagnostic.help(help);
            self.report(diagnostic);
        }
        *self.code.byte(pos, 0) = number as u8;
    }

    fn set_displacement(&mut self, pos: CodePos, number: u16, span: Span) {
        if (0x80..0x100).contains(&number) {
            let message =
                format!("the displacement {number} reaches backwards, as {}", number as u8 as i8);
            self.error(DiagnosticCode::Displacement, span, message);
        }
        self.set_byte(pos, number, span);
    }

    fn set_bits(&mut self, pos: CodePos, number: u16, span: Span) {
        // ZASM checks that the number fits a byte, and then the low byte.
        let count = usize::from(!matches!(number >> 8, 0 | 0xFF)) + usize::from(number as u8 > 7);
        if count > 0 {
            let message = format!("{number} is not in 0..7; {} is used", number & 7);
            let mut diagnostic = Diagnostic::new(DiagnosticCode::Truncated, span, message);
            if number & !0x38 == 0 {
                let help = format!("RST takes the number of the restart: RST {}", number / 8);
                diagnostic = diagnostic.help(help);
            }
            self.sink.add_counted(diagnostic, count);
        }
        *self.code.byte(pos, 0) |= (number as u8 & 7) << 3;
    }

    fn set_relative(&mut self, pos: CodePos, here: Value, target: Value, span: Span) {
        let crosses_sections = here.is_absolute() != target.is_absolute()
            || (!here.is_absolute() && here.base != target.base);
        if crosses_sections {
            let message = "a relative jump cannot leave its section; use the absolute jump";
            self.error(DiagnosticCode::Relocation, span, message);
        }
        let distance = target.number.wrapping_sub(here.number) as i16;
        let offset = i32::from(distance) - 2;
        *self.code.byte(pos, 0) = offset as u8;
        if ACCEPTED_TOO_FAR.contains(&offset) && self.options.notation == Notation::Tdl {
            let taken = offset as u8 as i8;
            let message =
                format!("the target is {distance} bytes away, but the offset becomes {taken}");
            let help = "ZASM accepts this; the absolute jump has no such limit";
            self.error_with_help(DiagnosticCode::TooFar, span, message, help);
        } else if i8::try_from(offset).is_err() {
            *self.code.byte(pos, 0) = 0xFE;
            let message =
                format!("the target is {distance} bytes away; a relative jump reaches -126..129");
            let help = "the absolute jump has no such limit";
            self.error_with_help(DiagnosticCode::Range, span, message, help);
        }
    }

    /// Writes a field at the location counter; the first pass leaves it 0.
    pub(super) fn emit(&mut self, field: Field, value: Value, span: Span) {
        let pos = self.code.write(&[0; 2][..field.size()]);
        if self.pass == Pass::Second {
            self.set_field(pos, field, value, span);
        }
    }

    /// Adds a row to the line table, unless the bytes are in an external area.
    pub(super) fn add_row(&mut self, place: StatementPlace, pos: CodePos, size: u32) {
        let CodeRun { base, start: run_start, .. } = self.code.runs[pos.run as usize];
        let Some(section) = kind_of(base, self.code.absolute_prog) else { return };
        let file = self.lines.file_index(&place.file_line(&self.sources).0.name);
        self.lines.rows.push(LineRow {
            section,
            is_code: self.recorder.statement.clocks.is_some(),
            offset: run_start.wrapping_add(pos.at as u16),
            size,
            file,
            line: place.lines + 1,
        });
    }
}
