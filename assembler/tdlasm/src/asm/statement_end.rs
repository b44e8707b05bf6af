//! The ends of statements and of bracketed blocks.

use super::assembler::Assembler;
use super::name_table::NameId;
use super::slips;
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::source::Span;
use crate::syntax::{Cursor, lex};

/// Why a statement was abandoned.
pub(super) enum StatementAbort {
    /// An operand contains a macro call at this offset: its text must be inserted first.
    Expand(NameId, u32),
    /// Assembly cannot continue.
    Stop,
}

pub(super) type StatementResult<T = ()> = Result<T, StatementAbort>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementEnd {
    /// The rest of the line must be checked.
    CheckRest,
    /// The rest of the line must be checked; anything left is an error in the list.
    CheckList,
    /// The line has been consumed, or continues in another text.
    LineDone,
}

impl Assembler<'_> {
    /// Checks that only a comment follows, and moves to the next line. A `]` that closes a block is
    /// accepted; anything else is reported with `code` and ignored.
    pub(super) fn end_statement(&mut self, code: DiagnosticCode, cursor: &mut Cursor<'_>) {
        self.skip_continued_line(cursor);
        cursor.skip_blanks();
        if !cursor.at_statement_end() {
            self.skip_rest(code, cursor);
        }
        self.next_line(cursor);
        if self.code.wrapped && !self.module.wrap_reported {
            self.report_wrap(cursor);
        }
    }

    /// Reports what follows a statement, except for brackets that close blocks.
    fn skip_rest(&mut self, code: DiagnosticCode, cursor: &mut Cursor<'_>) {
        loop {
            cursor.skip_blanks();
            if cursor.at_statement_end() {
                break;
            }
            if cursor.peek() == Some(b']') && self.input.in_block() {
                cursor.advance(1);
                self.close_block(cursor);
                continue;
            }
            match code {
                DiagnosticCode::TrailingText => slips::report_trailing_text(self, cursor),
                _ => {
                    let message = "a comma or an operator is missing here";
                    self.error(code, cursor.gap(), message);
                }
            }
            break;
        }
    }

    fn report_wrap(&mut self, cursor: &Cursor<'_>) {
        self.module.wrap_reported = true;
        let at = cursor.since(cursor.offset().saturating_sub(1));
        let message = "the location counter passed FFFFH and continued at 0";
        self.error(DiagnosticCode::Wrap, at, message);
    }

    /// Skips the next line if a parenthesis of this one is open: ZASM takes the line end as the
    /// missing parenthesis, and the line as the rest of the statement.
    fn skip_continued_line(&mut self, cursor: &mut Cursor<'_>) {
        if !std::mem::take(&mut self.statement.continues) || !cursor.at_statement_end() {
            return;
        }
        self.next_line(cursor);
        if !cursor.rest().is_empty() {
            let message =
                "this line is ignored, since the parenthesis in the line above is not closed";
            let at = Span::new(cursor.offset(), cursor.offset());
            self.error(DiagnosticCode::Continued, at, message);
            cursor.skip_to_line_end();
        }
    }

    /// Moves to the next line, which is the next listing row.
    pub(super) fn next_line(&mut self, cursor: &mut Cursor<'_>) {
        cursor.skip_line();
        self.sink.next_row();
    }

    /// Returns the offset of the `]` that closes the `[` at the cursor.
    pub(super) fn closing_bracket(&self, cursor: &Cursor<'_>) -> Option<u32> {
        let source = self.sources.source_at(cursor.offset());
        source.closing_bracket(cursor.offset() - source.base).map(|close| close + source.base)
    }

    /// Skips a block that is not assembled. Returns `false` after reporting that it is not closed.
    pub(super) fn skip_block(&mut self, cursor: &mut Cursor<'_>) -> bool {
        match self.closing_bracket(cursor) {
            Some(close) => {
                let start = cursor.offset();
                cursor.move_to(close + 1);
                // The block was skipped by counting brackets alone. A bracket in a comment may have
                // ended it too early, which only this warning would show.
                self.warn_of_brackets(Span::new(start + 1, close));
                if self.spans_lines(cursor.since(start)) {
                    let bytes = self.code.count_since(self.statement.start);
                    self.recorder.skipped_block(start, bytes);
                    self.sink.next_row();
                }
                true
            }
            None => {
                self.unclosed(cursor);
                false
            }
        }
    }

    /// Warns of a bracket in a comment or string of a text that is skipped by counting brackets.
    /// Macro texts were checked at their definition.
    pub(super) fn warn_of_brackets(&mut self, text: Span) {
        if self.input.macro_depth() > 0 {
            return;
        }
        if let Some(at) = unmatched_bracket(self.sources.slice(text)) {
            let start = text.start + at as u32;
            let message = "a bracket in a comment or quote counts here and can end the text early";
            let diagnostic =
                Diagnostic::new(DiagnosticCode::Bracket, Span::new(start, start + 1), message);
            let help = "leave it out, or put the matching bracket into the same comment";
            self.report(diagnostic.help(help));
        }
    }

    pub(super) fn spans_lines(&self, span: Span) -> bool {
        memchr::memchr2(b'\n', b'\r', self.sources.slice(span)).is_some()
    }

    /// Reports a bracket that is not closed, and skips the rest of the text.
    pub(super) fn unclosed(&mut self, cursor: &mut Cursor<'_>) {
        self.error(DiagnosticCode::Unterminated, cursor.here(), "this bracket is not closed");
        cursor.advance_lines(cursor.rest().len());
        // No `.END` can follow, so its absence is not reported.
        self.input.ended = true;
    }

    /// Closes the current block after its `]`, and skips the block for the opposite condition if
    /// there is one. Returns `true` in that case.
    pub(super) fn close_block(&mut self, cursor: &mut Cursor<'_>) -> bool {
        if self.input.closes_nothing() {
            let at = cursor.since(cursor.offset().saturating_sub(1));
            let message = "this bracket is unmatched; it is ignored, as in ZASM";
            self.error(DiagnosticCode::Surplus, at, message);
        }
        self.input.close_block();
        let mut ahead = cursor.clone();
        skip_to_next_block(&mut ahead);
        let skips = ahead.peek() == Some(b'[');
        if skips {
            *cursor = ahead;
            self.skip_block(cursor);
        }
        skips
    }

    pub(super) fn unclosed_text(&mut self, start: Span) {
        let message = "the text that begins here is not closed";
        let first = self.sources.slice(start).first().copied().unwrap_or_default();
        let help = slips::unclosed_text_help(first);
        self.error_with_help(DiagnosticCode::Unterminated, start, message, help);
    }

    /// Reads a delimited text; empty if there is none.
    pub(super) fn text(&mut self, cursor: &mut Cursor<'_>) -> String {
        cursor.skip_blanks();
        if cursor.at_statement_end() {
            return String::new();
        }
        let start = cursor.here();
        let Some(text) = cursor.take_lines(lex::delimited_text) else {
            self.unclosed_text(start);
            cursor.skip_to_line_end();
            return String::new();
        };
        String::from_utf8_lossy(text).into_owned()
    }
}

/// Skips blanks, comments and empty lines between two blocks.
pub(super) fn skip_to_next_block(cursor: &mut Cursor<'_>) {
    loop {
        cursor.skip_blanks();
        match cursor.peek() {
            Some(b'\n' | b'\r' | b';') => cursor.skip_line(),
            _ => return,
        }
    }
}

/// Returns the offset of the first unmatched bracket in a comment or quoted text.
///
/// Text is skipped by counting brackets alone, so a bracket in a string or comment moves the end of
/// the skipped part, and the source means different things when it is assembled and when it is
/// skipped. Pairs within one comment do no harm.
fn unmatched_bracket(text: &[u8]) -> Option<usize> {
    lex::comments_and_quotes(text).find_map(|skipped| {
        let start = skipped.start;
        unmatched_in(&text[skipped]).map(|at| start + at)
    })
}

fn unmatched_in(text: &[u8]) -> Option<usize> {
    let mut open = Vec::new();
    for at in memchr::memchr2_iter(b'[', b']', text) {
        if text[at] == b'[' {
            open.push(at);
        } else if open.pop().is_none() {
            return Some(at);
        }
    }
    open.first().copied()
}

#[cfg(test)]
mod tests {
    use super::unmatched_bracket;

    #[test]
    fn only_unmatched_brackets_in_comments_and_quotes_are_found() {
        assert_eq!(unmatched_bracket(b" NOP ; see [1]\n .BYTE '['\n"), Some(23));
        assert_eq!(unmatched_bracket(b" NOP ; a ] here\n"), Some(9));
        assert_eq!(unmatched_bracket(b" .IFE 0,[ ; then\n NOP ]"), None);
        assert_eq!(unmatched_bracket(b" JR'CC [\n .ASCII '[x]'\n]"), None);
    }
}
