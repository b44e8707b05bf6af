//! Directives that write bytes: `.BYTE`, `.WORD`, the texts, `.RAD40`, `.DATE` and `.TIME`.

use crate::calendar::civil_date;
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::lex::RADIX40;
use crate::syntax::{Cursor, lex};

use super::super::output::{Field, Mark};
use super::super::statement::Ending;
use super::super::{Assembler, Step};
use super::TextEnd;

impl Assembler<'_> {
    /// A list of expressions, each of which becomes one field.
    pub(super) fn values(
        &mut self,
        field: Field,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step<Ending> {
        cursor.skip_blanks();
        self.record.line.words = field == Field::Word;
        if cursor.at_statement_end() && !self.input.spliced {
            self.error(Code::Short, span, "a value is missing, so nothing is assembled");
            return Ok(Ending::Open);
        }
        loop {
            self.parse_expression(0, cursor);
            if self.operands[0].ops.is_empty() {
                self.error(Code::Expression, cursor.here(), "a value is missing");
                if self.input.spliced && cursor.at_statement_end() {
                    // Behind a macro without text the original assembles a value nevertheless.
                    self.emission.output.write(&[0; 2][..field.size()]);
                }
            } else if self.operands[0].is_empty() {
                self.evaluate(0)?;
            } else {
                self.emit_operand(0, field)?;
            }
            if !cursor.eat(b',') && !self.skip_to_next(cursor) {
                return Ok(Ending::List);
            }
        }
    }

    /// `.ASCII` and its kin: delimited texts and `[expression]` bytes.
    pub(super) fn texts(
        &mut self,
        end: TextEnd,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step<Ending> {
        let before = self.emission.output.mark();
        let complaints = self.reports.mark();
        let mut lost = false;
        let mut broken = false;
        loop {
            cursor.skip_blanks();
            match cursor.peek() {
                None | Some(b'\n' | b'\r' | b';') => break,
                Some(b']') if self.input.is_enclosed() => {
                    cursor.advance(1);
                    if !self.close_block(cursor) {
                        lost = true;
                        self.lose_last(end, before, span);
                    }
                }
                Some(b'[') => {
                    broken = !self.bracketed_byte(cursor)?;
                    if broken {
                        break;
                    }
                }
                Some(_) => {
                    let written = self.emission.output.written_since(before);
                    self.delimited(cursor, written.map_or(0, |(_, count)| count));
                }
            }
        }
        let Some((first, count)) = self.emission.output.written_since(before) else {
            if !lost && !self.reports.raised_since(complaints) {
                self.error(Code::Empty, span, "the text is empty, so nothing is assembled");
            }
            return Ok(Ending::Open);
        };
        match end {
            // The original makes no end after a fault.
            _ if lost || broken => {}
            TextEnd::Plain => {}
            TextEnd::Zero => {
                self.emission.output.write(&[0]);
            }
            TextEnd::Marked => self.mark_last(first, count),
        }
        Ok(Ending::Open)
    }

    /// The original loses the last byte of a text right before the `]` that ends its block, and the
    /// zero or the mark after it.
    fn lose_last(&mut self, end: TextEnd, before: Mark, span: Span) {
        if self.emission.output.written_since(before).is_none() {
            return;
        }
        self.emission.output.take_back();
        let message = match end {
            TextEnd::Plain => "the last byte of this text is lost, as on the original",
            _ => "the last byte of this text and its end are lost, as on the original",
        };
        let help = "put the ] that closes the block on a line of its own";
        self.report(Diagnostic::new(Code::LostByte, span, message).help(help));
    }

    /// Writes a delimited text, after `so_far` bytes of the same statement.
    fn delimited(&mut self, cursor: &mut Cursor<'_>, so_far: u32) {
        let start = cursor.here();
        match cursor.take(lex::delimited_text) {
            Some(text) => {
                self.note_breaks(start.start + 1, text, so_far);
                self.emission.output.write(text);
            }
            None => {
                self.error(Code::Unterminated, start, "the text that begins here is not closed");
                cursor.advance(cursor.rest().len());
                self.input.ended = true;
            }
        }
    }

    /// Writes `[expression]`; `false` if the bracket is not closed, which ends the texts.
    fn bracketed_byte(&mut self, cursor: &mut Cursor<'_>) -> Step<bool> {
        let open = cursor.here();
        let before = self.emission.output.mark();
        cursor.advance(1);
        self.parse_expression(0, cursor);
        if self.operands[0].ops.is_empty() {
            self.error(Code::Expression, cursor.here(), "a value is missing");
        } else {
            self.emit_operand(0, Field::Byte)?;
        }
        let closed = cursor.eat(b']');
        if !closed {
            self.emission.output.rewind(before);
            // The second of two passes reports what is wrong with the value, too.
            self.reports.wants_two = true;
            self.error(Code::Expression, open, "this bracket is not closed");
        }
        Ok(closed)
    }

    /// Sets the top bit of the last byte, or has it set when the byte becomes known.
    fn mark_last(&mut self, first: super::super::output::Site, count: u32) {
        let site = super::super::output::Site { run: first.run, at: first.at + count - 1 };
        *self.emission.output.byte(site, 0) |= 0x80;
        if let Some(fixup) = self.emission.output.fixups.last_mut()
            && fixup.site == site
        {
            fixup.field = Field::MarkedByte;
        }
    }

    /// Two words a symbol, three characters of the 40-character set in each, high byte first.
    pub(super) fn rad40(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step<Ending> {
        cursor.skip_blanks();
        if cursor.at_statement_end() {
            self.error(Code::Short, span, "a symbol is missing");
            return Ok(Ending::Open);
        }
        loop {
            cursor.skip_blanks();
            let Some(word) = cursor.take(lex::symbol) else {
                self.error(Code::Operand, span, "a symbol is missing");
                return Ok(Ending::Open);
            };
            let code = |at: usize| {
                word[..word.len().min(6)]
                    .get(at)
                    .map_or(0, |byte| u16::from(RADIX40[usize::from(*byte)]))
            };
            for half in [0, 3] {
                let packed = (code(half) * 40 + code(half + 1)) * 40 + code(half + 2);
                self.emission.output.write(&packed.to_be_bytes());
            }
            cursor.skip_blanks();
            if !cursor.eat(b',') && !self.skip_to_next(cursor) {
                return Ok(Ending::List);
            }
        }
    }

    /// Moves past the next comma of the line, before which something stands that is no part of a
    /// list.
    fn skip_to_next(&mut self, cursor: &mut Cursor<'_>) -> bool {
        while cursor.peek() == Some(b']') && self.input.in_block() {
            cursor.advance(1);
            self.close_block(cursor);
            cursor.skip_blanks();
        }
        if cursor.at_statement_end() {
            return false;
        }
        // The search ends at the first comma: a list of many faults takes time for its length only.
        let ends = |byte: &u8| matches!(byte, b',' | b';' | b'\n' | b'\r');
        let Some(at) = cursor.rest().iter().position(ends) else { return false };
        if cursor.rest()[at] != b',' {
            return false;
        }
        self.error(Code::Expression, cursor.here(), "a comma is missing here");
        cursor.advance(at + 1);
        true
    }

    /// `.DATE`: month, day and year of the build, from `SOURCE_DATE_EPOCH`, or blanks.
    pub(super) fn write_date(&mut self) -> Step<Ending> {
        let text = self.options.build_time.map_or("        ".into(), |seconds| {
            let (year, month, day) = civil_date(seconds / 86400);
            format!("{month:02}/{day:02}/{:02}", year % 100)
        });
        self.emission.output.write(text.as_bytes());
        Ok(Ending::Open)
    }

    /// `.TIME`: hour, minute and second of the build in UTC, or blanks.
    pub(super) fn write_time(&mut self) -> Step<Ending> {
        let text = self.options.build_time.map_or("        ".into(), |seconds| {
            let within = seconds % 86400;
            format!("{:02}:{:02}:{:02}", within / 3600, within / 60 % 60, within % 60)
        });
        self.emission.output.write(text.as_bytes());
        Ok(Ending::Open)
    }
}
