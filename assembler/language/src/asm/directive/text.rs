//! Directives whose operand is a text for people.

use crate::diag::Code;
use crate::source::Span;
use crate::syntax::{Cursor, lex};

use super::super::statement::Ending;
use super::super::{Assembler, Pass, Step};

impl Assembler<'_> {
    /// A text that the assembly itself does not need.
    pub(super) fn skip_text(&mut self, cursor: &mut Cursor<'_>) -> Step<Ending> {
        self.text(cursor);
        Ok(Ending::Open)
    }

    /// `.PRNTX text`, which may stand under `.IF1` or `.IF2`; what both passes print is printed
    /// once.
    pub(super) fn print(&mut self, cursor: &mut Cursor<'_>) -> Step<Ending> {
        let text = self.text(cursor);
        if !(self.pass == Pass::Second && self.console.messages.contains(&text)) {
            self.console.messages.push(text);
        }
        Ok(Ending::Open)
    }

    /// `.ERROR text`.
    pub(super) fn user_error(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step<Ending> {
        let text = self.text(cursor);
        let message = if text.is_empty() { "the source reports an error".into() } else { text };
        self.error(Code::User, span, message);
        Ok(Ending::Open)
    }

    /// Reads a delimited text, or none.
    pub(in super::super) fn text(&mut self, cursor: &mut Cursor<'_>) -> String {
        cursor.skip_blanks();
        if cursor.at_statement_end() {
            return String::new();
        }
        let start = cursor.here();
        let Some(text) = cursor.take(lex::delimited_text) else {
            self.error(Code::Unterminated, start, "the text that begins here is not closed");
            cursor.skip_to_line_end();
            return String::new();
        };
        String::from_utf8_lossy(text).into_owned()
    }
}
