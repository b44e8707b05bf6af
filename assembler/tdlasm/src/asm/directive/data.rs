//! Directives that write bytes: `.BYTE`, `.WORD`, texts, `.RAD40`, `.DATE` and `.TIME`.

use super::super::code_buffer::{CodeCheckpoint, Field, FieldPos};
use super::super::directive_table::TextTerminator;
use super::super::pass::{StatementEnd, StatementResult};
use super::reader::DirectiveReader;
use crate::calendar::civil_date;
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::listing::{BYTES_A_ROW, WORDS_A_ROW};
use crate::source::Span;
use crate::syntax::lex::RADIX40;
use crate::syntax::{Cursor, lex};

impl DirectiveReader<'_, '_> {
    pub(super) fn write_values(
        &mut self,
        field: Field,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        cursor.skip_blanks();
        self.asm.module.context.recorder.line.words = field == Field::Word;
        let before = self.asm.module.code.output.checkpoint();
        let a_row = if field == Field::Word { 2 * WORDS_A_ROW } else { BYTES_A_ROW };
        if cursor.at_statement_end() && !self.asm.input.has_macro_text {
            self.asm.error(
                DiagnosticCode::MissingOperand,
                span,
                "a value is missing, so nothing is assembled",
            );
            return Ok(StatementEnd::Open);
        }
        loop {
            self.asm.module.parse_expression(0, cursor);
            if self.asm.module.operands[0].ops.is_empty() {
                self.asm.error(DiagnosticCode::Expression, cursor.gap(), "a value is missing");
                if self.asm.input.has_macro_text && cursor.at_statement_end() {
                    // After a macro without text ZASM still writes a value.
                    self.asm.module.code.output.write_short([0; 4], field.size());
                }
            } else if self.asm.module.operands[0].is_empty() {
                self.asm.module.evaluate(0)?;
            } else {
                self.record_byte(cursor, before, a_row);
                self.asm.module.emit_operand(0, field)?;
            }
            if !cursor.eat(b',') && !self.skip_to_next(cursor) {
                return Ok(StatementEnd::List);
            }
        }
    }

    /// Records that the next byte since `before` is written here.
    #[inline]
    fn record_byte(&mut self, cursor: &Cursor<'_>, before: CodeCheckpoint, bytes_a_row: u32) {
        if self.asm.module.context.options.listing {
            let written = self.asm.module.code.output.count_since(before);
            self.asm.module.context.record_byte(cursor.offset(), written, bytes_a_row);
        }
    }

    /// Writes the texts and `[expression]` bytes of `.ASCII`, `.ASCIZ` and `.ASCIS`.
    pub(super) fn write_texts(
        &mut self,
        end: TextTerminator,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        let before = self.asm.module.code.output.checkpoint();
        let flags_before = self.asm.module.context.sink.flags();
        let mut lost = false;
        let mut broken = false;
        loop {
            cursor.skip_blanks();
            match cursor.peek() {
                None | Some(b'\n' | b'\r' | b';') => break,
                Some(b']') if self.asm.input.is_enclosed() => {
                    cursor.advance(1);
                    lost |= !self.asm.close_block(cursor);
                }
                Some(b'[') => {
                    lost = false;
                    broken = !self.write_bracketed_byte(cursor, before)?;
                    if broken {
                        break;
                    }
                }
                Some(_) => {
                    lost = false;
                    let written = self.asm.module.code.output.count_since(before);
                    self.write_delimited(cursor, written);
                }
            }
        }
        if lost {
            self.drop_last_byte(end, before, span);
        }
        let Some((first, count)) = self.asm.module.code.output.written_since(before) else {
            if !lost && self.asm.module.context.sink.flags() == flags_before {
                self.asm.error(
                    DiagnosticCode::Empty,
                    span,
                    "the text is empty, so nothing is assembled",
                );
            }
            return Ok(StatementEnd::Open);
        };
        let offset = cursor.offset();
        self.asm.module.context.record_byte(offset, count - 1, BYTES_A_ROW);
        match end {
            // ZASM writes no terminator after an error.
            _ if lost || broken => {}
            TextTerminator::Plain => {}
            TextTerminator::Zero => {
                self.asm.module.context.record_byte(offset, count, BYTES_A_ROW);
                self.asm.module.code.output.write(&[0]);
            }
            TextTerminator::Marked => self.mark_last(first, count),
        }
        Ok(StatementEnd::Open)
    }

    /// Reproduces an error of ZASM, which loses the last byte of a text, and the terminator after
    /// it, if nothing but the `]` of its block follows.
    fn drop_last_byte(&mut self, end: TextTerminator, before: CodeCheckpoint, span: Span) {
        if self.asm.module.code.output.written_since(before).is_none() {
            return;
        }
        self.asm.module.code.output.pop_byte();
        let message = match end {
            TextTerminator::Plain => "the last byte of this text is lost, as in ZASM",
            _ => "the last byte of this text and its end are lost, as in ZASM",
        };
        let help = "put the ] that closes the block on a line of its own";
        self.asm.report(Diagnostic::new(DiagnosticCode::LostByte, span, message).help(help));
    }

    /// Writes a delimited text, after `so_far` bytes of the same statement.
    fn write_delimited(&mut self, cursor: &mut Cursor<'_>, so_far: u32) {
        let start = cursor.here();
        match cursor.take_lines(lex::delimited_text) {
            Some(text) => {
                self.asm.module.context.record_text(start.start + 1, text, so_far);
                self.asm.module.code.output.write(text);
                self.asm.update_place(cursor);
            }
            None => {
                self.asm.error(
                    DiagnosticCode::Unterminated,
                    start,
                    "the text that begins here is not closed",
                );
                cursor.advance_lines(cursor.rest().len());
                self.asm.input.ended = true;
            }
        }
    }

    /// Writes `[expression]`. Returns `false` if the bracket is not closed, which ends the texts.
    fn write_bracketed_byte(
        &mut self,
        cursor: &mut Cursor<'_>,
        first: CodeCheckpoint,
    ) -> StatementResult<bool> {
        let open = cursor.here();
        let before = self.asm.module.code.output.checkpoint();
        cursor.advance(1);
        self.asm.module.parse_expression(0, cursor);
        if self.asm.module.operands[0].ops.is_empty() {
            self.asm.error(DiagnosticCode::Expression, cursor.gap(), "a value is missing");
        } else {
            let written = self.asm.module.code.output.count_since(first);
            let previous = written.saturating_sub(1);
            self.asm.module.context.record_byte(cursor.offset(), previous, BYTES_A_ROW);
            self.asm.module.emit_operand(0, Field::Byte)?;
        }
        let closed = cursor.eat(b']');
        if !closed {
            self.asm.module.code.output.roll_back(before);
            self.asm.error(DiagnosticCode::Expression, open, "this bracket is not closed");
        }
        Ok(closed)
    }

    /// Sets the top bit of the last byte.
    fn mark_last(&mut self, first: FieldPos, count: u32) {
        let site = FieldPos { run: first.run, at: first.at + count - 1 };
        *self.asm.module.code.output.byte(site, 0) |= 0x80;
    }

    /// Writes two words for each symbol, with three characters of the 40-character set in each,
    /// high byte first.
    pub(super) fn rad40(
        &mut self,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        cursor.skip_blanks();
        if cursor.at_statement_end() {
            self.asm.error(DiagnosticCode::MissingOperand, span, "a symbol is missing");
            return Ok(StatementEnd::Open);
        }
        let before = self.asm.module.code.output.checkpoint();
        loop {
            cursor.skip_blanks();
            let Some(word) = cursor.take(lex::symbol) else {
                self.asm.error(DiagnosticCode::Operand, span, "a symbol is missing");
                return Ok(StatementEnd::Open);
            };
            let code = |at: usize| {
                word[..word.len().min(6)]
                    .get(at)
                    .map_or(0, |byte| u16::from(RADIX40[usize::from(*byte)]))
            };
            cursor.skip_blanks();
            for half in [0, 3] {
                self.record_byte(cursor, before, BYTES_A_ROW);
                let packed = (code(half) * 40 + code(half + 1)) * 40 + code(half + 2);
                self.asm.module.code.output.write(&packed.to_be_bytes());
            }
            if !cursor.eat(b',') && !self.skip_to_next(cursor) {
                return Ok(StatementEnd::List);
            }
        }
    }

    /// Skips to the next item of a list, reporting anything before the comma.
    fn skip_to_next(&mut self, cursor: &mut Cursor<'_>) -> bool {
        while cursor.peek() == Some(b']') && self.asm.input.in_block() {
            cursor.advance(1);
            self.asm.close_block(cursor);
            cursor.skip_blanks();
        }
        if cursor.at_statement_end() {
            return false;
        }
        // Stops at the first comma, so that a list with many errors takes linear time.
        let ends = |byte: &u8| matches!(byte, b',' | b';' | b'\n' | b'\r');
        let Some(at) = cursor.rest().iter().position(ends) else { return false };
        if cursor.rest()[at] != b',' {
            return false;
        }
        self.asm.error(DiagnosticCode::Expression, cursor.gap(), "a comma is missing here");
        cursor.advance(at + 1);
        true
    }

    /// Writes month, day and year of the build (`.DATE`), or blanks.
    pub(super) fn write_date(&mut self, span: Span) -> StatementResult<StatementEnd> {
        let text =
            self.asm.module.context.options.build_time.map_or("        ".into(), |seconds| {
                let (year, month, day) = civil_date(seconds / 86400);
                format!("{month:02}/{day:02}/{:02}", year % 100)
            });
        self.asm.module.context.record_byte(span.end, BYTES_A_ROW, BYTES_A_ROW);
        self.asm.module.code.output.write(text.as_bytes());
        Ok(StatementEnd::Open)
    }

    /// Writes hour, minute and second of the build in UTC (`.TIME`), or blanks.
    pub(super) fn write_time(&mut self, span: Span) -> StatementResult<StatementEnd> {
        let text =
            self.asm.module.context.options.build_time.map_or("        ".into(), |seconds| {
                let within = seconds % 86400;
                format!("{:02}:{:02}:{:02}", within / 3600, within / 60 % 60, within % 60)
            });
        self.asm.module.context.record_byte(span.end, BYTES_A_ROW, BYTES_A_ROW);
        self.asm.module.code.output.write(text.as_bytes());
        Ok(StatementEnd::Open)
    }
}
