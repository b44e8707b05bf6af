//! Writes values into fields, and reports values that do not fit.

use super::assembler::Assembler;
use super::code_buffer::{CodePos, CodeRun, Field, kind_of};
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
    /// Writes a field at the location counter.
    pub(super) fn emit(&mut self, field: Field, value: Value, span: Span) {
        let [low, high] = self.field_number(0, field, value, span).to_le_bytes();
        self.code.write(&[low, high][..field.size()]);
    }

    /// Returns the contents of a field, which begins `at` bytes behind the location counter. Only
    /// words can be relocated; ZASM marks other fields. In PASM bytes can be relative to externals.
    pub(super) fn field_number(
        &mut self,
        at: usize,
        field: Field,
        value: Value,
        span: Span,
    ) -> u16 {
        if self.pass == Pass::First {
            return 0;
        }
        let is_byte = matches!(field, Field::Byte | Field::Displacement);
        let is_external = || value.base.external().is_some();
        let is_relocated = !value.is_absolute()
            && (field == Field::Word || is_byte && self.is_pasm() && is_external());
        if is_relocated {
            self.code.relocate(at, value, is_byte);
            return 0;
        }
        if !value.is_absolute() && !matches!(field, Field::Relative(_)) {
            let message = "a relocatable value does not fit a field of 8 bits";
            let help = "only absolute code has the bytes of an address: assemble with --pabs";
            self.error_with_help(DiagnosticCode::Relocation, span, message, help);
        }
        match field {
            Field::Word => {}
            Field::Relative(here) => return self.relative_offset(here, value, span),
            Field::Byte => self.check_byte(value.number, span),
            Field::Displacement => self.check_displacement(value.number, span),
            Field::Bits => return self.bits(value.number, span),
        }
        value.number
    }

    fn check_byte(&mut self, number: u16, span: Span) {
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
    }

    fn check_displacement(&mut self, number: u16, span: Span) {
        if (0x80..0x100).contains(&number) {
            let message =
                format!("the displacement {number} reaches backwards, as {}", number as u8 as i8);
            self.error(DiagnosticCode::Displacement, span, message);
        }
        self.check_byte(number, span);
    }

    /// Returns a number of three bits at its place in an opcode.
    fn bits(&mut self, number: u16, span: Span) -> u16 {
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
        (number & 7) << 3
    }

    /// Returns the operand of a relative jump at `here`.
    fn relative_offset(&mut self, here: Value, target: Value, span: Span) -> u16 {
        let crosses_sections = here.is_absolute() != target.is_absolute()
            || (!here.is_absolute() && here.base != target.base);
        if crosses_sections {
            let message = "a relative jump cannot leave its section; use the absolute jump";
            self.error(DiagnosticCode::Relocation, span, message);
        }
        let distance = target.number.wrapping_sub(here.number) as i16;
        let offset = i32::from(distance) - 2;
        if ACCEPTED_TOO_FAR.contains(&offset) && self.options.notation == Notation::Tdl {
            let taken = offset as u8 as i8;
            let message =
                format!("the target is {distance} bytes away, but the offset becomes {taken}");
            let help = "ZASM accepts this; the absolute jump has no such limit";
            self.error_with_help(DiagnosticCode::TooFar, span, message, help);
        } else if i8::try_from(offset).is_err() {
            let message =
                format!("the target is {distance} bytes away; a relative jump reaches -126..129");
            let help = "the absolute jump has no such limit";
            self.error_with_help(DiagnosticCode::Range, span, message, help);
            return 0xFE;
        }
        offset as u16
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
