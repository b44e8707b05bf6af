//! Values into fields that are already written, and what does not fit them.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

use super::Assembler;
use super::output::{Field, Site, WordReloc};
use super::value::Value;

/// The offset of a jump over 130 bytes: the original takes it, and assembles 80H.
const ACCEPTED_TOO_FAR: i32 = 128;

impl Assembler<'_> {
    /// Puts a value into a field that is already written. A value that moves goes into a word
    /// only; into another field the original puts its number, and marks it.
    pub(super) fn set_field(&mut self, site: Site, field: Field, value: Value, span: Span) {
        if !value.is_absolute() && !matches!(field, Field::Word | Field::Relative(_)) {
            let message = "a value that moves with a section does not fit a field of 8 bits";
            self.error(Code::Relocation, span, message);
        }
        match field {
            Field::Word if value.is_absolute() => {
                let [low, high] = value.number.to_le_bytes();
                *self.emission.output.byte(site, 0) = low;
                *self.emission.output.byte(site, 1) = high;
            }
            Field::Word => self.emission.output.relocs.push(WordReloc { site, value }),
            Field::Relative(here) => self.set_relative(site, here, value, span),
            Field::Byte => self.set_byte(site, value.number, span),
            Field::MarkedByte => {
                self.set_byte(site, value.number, span);
                *self.emission.output.byte(site, 0) |= 0x80;
            }
            Field::Displacement => self.set_displacement(site, value.number, span),
            Field::Bits => self.set_bits(site, value.number, span),
        }
    }

    fn set_byte(&mut self, site: Site, number: u16, span: Span) {
        if !matches!(number >> 8, 0 | 0xFF) {
            let message =
                format!("{number:04X}H does not fit a byte; only {:02X}H is used", number & 0xFF);
            self.error(Code::Truncated, span, message);
        }
        *self.emission.output.byte(site, 0) = number as u8;
    }

    fn set_displacement(&mut self, site: Site, number: u16, span: Span) {
        if (0x80..0x100).contains(&number) {
            let message =
                format!("the displacement {number} reaches backwards, as {}", number as u8 as i8);
            self.error(Code::Displacement, span, message);
        }
        self.set_byte(site, number, span);
    }

    fn set_bits(&mut self, site: Site, number: u16, span: Span) {
        // The original looks at the low byte, once the high one is that of a small number.
        if number > 7 && !(0xFF00..0xFF08).contains(&number) {
            let message = format!("{number} is not in 0..7; {} is used", number & 7);
            self.error(Code::Truncated, span, message);
        }
        *self.emission.output.byte(site, 0) |= (number as u8 & 7) << 3;
    }

    fn set_relative(&mut self, site: Site, here: Value, target: Value, span: Span) {
        let apart = here.is_absolute() != target.is_absolute()
            || (!here.is_absolute() && here.base != target.base);
        if apart {
            let message = "a relative jump stays in its section; use the absolute jump";
            self.error(Code::Relocation, span, message);
        }
        let distance = target.number.wrapping_sub(here.number) as i16;
        let offset = i32::from(distance) - 2;
        *self.emission.output.byte(site, 0) = offset as u8;
        if offset == ACCEPTED_TOO_FAR {
            let message =
                "the target is 130 bytes away: the offset is -128, so that the jump goes back";
            let help = "the original lets this pass; the absolute jump has no such limit";
            self.report(Diagnostic::new(Code::TooFar, span, message).help(help));
        } else if i8::try_from(offset).is_err() {
            *self.emission.output.byte(site, 0) = 0xFE;
            let message =
                format!("the target is {distance} bytes away; a relative jump reaches -126..129");
            let help = "the absolute jump has no such limit";
            self.report(Diagnostic::new(Code::Range, span, message).help(help));
        }
    }
}
