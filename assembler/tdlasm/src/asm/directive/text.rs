//! Directives whose operand is a text for the reader of the source or the console.

use super::super::assembler::Assembler;
use super::super::pass::{Pass, StatementEnd, StatementResult};
use crate::diag::DiagnosticCode;
use crate::source::Span;
use crate::syntax::Cursor;

/// Skips a text, for `.REMARK`.
pub(super) fn skip_text(
    asm: &mut Assembler<'_>,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    asm.text(cursor);
    Ok(StatementEnd::Open)
}

/// Executes `.PRNTX text`; a text that both passes print (`.IF1`) is printed once.
pub(super) fn print(
    asm: &mut Assembler<'_>,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    let text = asm.text(cursor);
    if !(asm.pass == Pass::Second && asm.console.messages.contains(&text)) {
        asm.console.messages.push(text);
    }
    Ok(StatementEnd::Open)
}

/// Executes `.ERROR text`.
pub(super) fn user_error(
    asm: &mut Assembler<'_>,
    span: Span,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    let text = asm.text(cursor);
    let message = if text.is_empty() { "the source reports an error".into() } else { text };
    asm.error(DiagnosticCode::User, span, message);
    Ok(StatementEnd::Open)
}
