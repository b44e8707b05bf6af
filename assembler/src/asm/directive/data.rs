//! Directives that write bytes: `.BYTE`, `.WORD`, the texts, `.RAD40`, `.DATE` and `.TIME`.

use crate::calendar::civil_date;
use crate::diag::Code;
use crate::source::Span;
use crate::syntax::lex::RADIX40;
use crate::syntax::{Cursor, lex};

use super::super::output::Field;
use super::super::{Assembler, Step};
use super::TextEnd;

impl Assembler<'_> {
    /// A list of expressions, each of which becomes one field.
    pub(super) fn values(&mut self, field: Field, span: Span, cursor: &mut Cursor<'_>) -> Step {
        cursor.skip_blanks();
        if cursor.at_statement_end() {
            self.error(Code::Expression, span, "a value is missing");
            return Ok(());
        }
        self.line.words = field == Field::Word;
        loop {
            self.parse_expression(0, cursor);
            if self.operands[0].ops.is_empty() {
                self.error(Code::Expression, cursor.here(), "a value is missing");
            } else {
                self.emit_operand(0, field)?;
            }
            if !cursor.eat(b',') {
                break;
            }
        }
        if !cursor.at_statement_end() {
            self.error(Code::Expression, cursor.here(), "a comma or an operator is missing here");
            cursor.skip_to_line_end();
        }
        Ok(())
    }

    /// `.ASCII` and its kin: delimited texts and `[expression]` bytes.
    pub(super) fn texts(&mut self, end: TextEnd, span: Span, cursor: &mut Cursor<'_>) -> Step {
        let (before, complaints) = (self.output.mark(), self.diagnostics.len());
        loop {
            cursor.skip_blanks();
            match cursor.peek() {
                None | Some(b'\n' | b'\r' | b';') => break,
                Some(b'[') => self.bracketed_byte(cursor)?,
                Some(_) => self.delimited(cursor),
            }
        }
        let Some((first, count)) = self.output.written_since(before) else {
            if self.diagnostics.len() > complaints {
                return Ok(());
            }
            self.error(Code::Empty, span, "the text is empty, so nothing is assembled");
            return Ok(());
        };
        match end {
            TextEnd::Plain => {}
            TextEnd::Zero => {
                self.output.write(&[0]);
            }
            TextEnd::Marked => self.mark_last(first, count),
        }
        Ok(())
    }

    fn delimited(&mut self, cursor: &mut Cursor<'_>) {
        let start = cursor.here();
        match cursor.take(lex::delimited_text) {
            Some(text) => {
                self.output.write(text);
            }
            None => {
                self.error(Code::Unterminated, start, "the text that begins here is not closed");
                cursor.skip_to_line_end();
            }
        }
    }

    fn bracketed_byte(&mut self, cursor: &mut Cursor<'_>) -> Step {
        let open = cursor.here();
        cursor.advance(1);
        self.parse_expression(0, cursor);
        if self.operands[0].ops.is_empty() {
            self.error(Code::Expression, cursor.here(), "a value is missing");
        } else {
            self.emit_operand(0, Field::Byte)?;
        }
        if !cursor.eat(b']') {
            self.error(Code::Unterminated, open, "this bracket is not closed");
            cursor.skip_to_line_end();
        }
        Ok(())
    }

    /// Sets the top bit of the last byte, or has it set when the byte becomes known.
    fn mark_last(&mut self, first: super::super::output::Site, count: u32) {
        let site = super::super::output::Site { run: first.run, at: first.at + count - 1 };
        *self.output.byte(site, 0) |= 0x80;
        if let Some(fixup) = self.output.fixups.last_mut()
            && fixup.site == site
        {
            fixup.field = Field::MarkedByte;
        }
    }

    /// Two words a symbol, three characters of the 40-character set in each, high byte first.
    pub(super) fn rad40(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step {
        loop {
            cursor.skip_blanks();
            let start = cursor.offset();
            let word = cursor.rest();
            let length = word.iter().take_while(|byte| lex::is_symbol(**byte)).count();
            cursor.advance(length);
            if length == 0 {
                self.error(Code::Operand, span, "a symbol is missing");
                return Ok(());
            }
            if length > 6 {
                self.error(Code::Truncated, cursor.since(start), "only six characters are kept");
            }
            let code = |at: usize| {
                word[..length].get(at).map_or(0, |byte| u16::from(RADIX40[usize::from(*byte)]))
            };
            for half in [0, 3] {
                let packed = (code(half) * 40 + code(half + 1)) * 40 + code(half + 2);
                self.output.write(&packed.to_be_bytes());
            }
            cursor.skip_blanks();
            if !cursor.eat(b',') {
                return Ok(());
            }
        }
    }

    /// `.DATE`: month, day and year of the build, from `SOURCE_DATE_EPOCH`, or blanks.
    pub(super) fn write_date(&mut self) -> Step {
        let text = self.options.build_time.map_or("        ".into(), |seconds| {
            let (year, month, day) = civil_date(seconds / 86400);
            format!("{month:02}/{day:02}/{:02}", year % 100)
        });
        self.output.write(text.as_bytes());
        Ok(())
    }

    /// `.TIME`: hour, minute and second of the build in UTC, or blanks.
    pub(super) fn write_time(&mut self) -> Step {
        let text = self.options.build_time.map_or("        ".into(), |seconds| {
            let within = seconds % 86400;
            format!("{:02}:{:02}:{:02}", within / 3600, within / 60 % 60, within % 60)
        });
        self.output.write(text.as_bytes());
        Ok(())
    }
}
