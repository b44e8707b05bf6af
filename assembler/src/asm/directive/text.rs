//! Directives whose operand is a text for people.

use crate::diag::Code;
use crate::source::Span;
use crate::syntax::{Cursor, lex};

use super::super::{Assembler, Step};

impl Assembler<'_> {
    /// A text that the assembly itself does not need.
    pub(super) fn skip_text(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.text(cursor);
        Ok(())
    }

    /// `.PRNTX text`, which may stand under `.IF1` or `.IF2`; what both passes print is printed once.
    pub(super) fn print(&mut self, cursor: &mut Cursor<'_>) -> Step {
        let text = self.text(cursor);
        if !(self.pass.is_second() && self.messages.contains(&text)) {
            self.messages.push(text);
        }
        Ok(())
    }

    /// `.ERROR text`.
    pub(super) fn user_error(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step {
        let text = self.text(cursor);
        let message = if text.is_empty() { "the source reports an error".into() } else { text };
        self.error(Code::User, span, message);
        Ok(())
    }

    pub(super) fn text(&mut self, cursor: &mut Cursor<'_>) -> String {
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
