//! Directives whose operand is a text for the reader of the source or the console.

use super::super::pass::{Pass, StatementEnd, StatementResult};
use super::reader::DirectiveReader;
use crate::diag::DiagnosticCode;
use crate::source::Span;
use crate::syntax::Cursor;

impl DirectiveReader<'_, '_> {
    /// Skips a text, for `.REMARK`.
    pub(super) fn skip_text(&mut self, cursor: &mut Cursor<'_>) -> StatementResult<StatementEnd> {
        self.asm.text(cursor);
        Ok(StatementEnd::Open)
    }

    /// Executes `.PRNTX text`; a text that both passes print (`.IF1`) is printed once.
    pub(super) fn print(&mut self, cursor: &mut Cursor<'_>) -> StatementResult<StatementEnd> {
        let text = self.asm.text(cursor);
        if !(self.asm.module.context.pass == Pass::Second
            && self.asm.console.messages.contains(&text))
        {
            self.asm.console.messages.push(text);
        }
        Ok(StatementEnd::Open)
    }

    /// Executes `.ERROR text`.
    pub(super) fn user_error(
        &mut self,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        let text = self.asm.text(cursor);
        let message = if text.is_empty() { "the source reports an error".into() } else { text };
        self.asm.error(DiagnosticCode::User, span, message);
        Ok(StatementEnd::Open)
    }
}
