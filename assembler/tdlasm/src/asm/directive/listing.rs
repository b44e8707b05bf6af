//! Directives for the listing.

use super::super::assembler::Assembler;
use super::super::name_table::Operator;
use super::super::pass::{StatementEnd, StatementResult};
use crate::diag::DiagnosticCode;
use crate::listing::{ListingControl, ListingDirective};
use crate::syntax::directive::Directive;
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

/// The number of title characters that are printed.
const TITLE_KEPT: usize = 80;
/// The number of title characters that are accepted without an error.
const TITLE_ROOM: usize = 78;

/// Reads `.TITLE` or `.SBTTL`.
pub(super) fn heading(
    asm: &mut Assembler<'_>,
    directive: Directive,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    let text = title(asm, cursor);
    asm.control(match directive {
        Directive::Title => ListingControl::Title(text),
        _ => ListingControl::Subtitle(text),
    });
    Ok(StatementEnd::Open)
}

/// Reads a delimited text without its line ends. Each character for which a heading has no room
/// is reported, and after the last one that is printed the rest of the line is skipped, as in
/// ZASM.
fn title(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> String {
    cursor.skip_blanks();
    if matches!(cursor.peek(), None | Some(b';')) {
        return String::new();
    }
    if cursor.at_statement_end() {
        return title_below(asm, cursor);
    }
    let start = cursor.here();
    let close = cursor.peek();
    cursor.advance(1);
    let mut text = Vec::new();
    while let Some(byte) = cursor.peek() {
        let at = cursor.offset();
        cursor.advance_lines(1);
        if Some(byte) == close {
            return String::from_utf8_lossy(&text).into_owned();
        }
        if matches!(byte, b'\r' | b'\n') {
            continue;
        }
        text.push(byte);
        if text.len() > TITLE_ROOM {
            let message = "a title has room for 78 characters";
            asm.error(DiagnosticCode::Heading, cursor.since(at), message);
        }
        if text.len() == TITLE_KEPT {
            cursor.skip_to_line_end();
            return String::from_utf8_lossy(&text).into_owned();
        }
    }
    asm.error(DiagnosticCode::Unterminated, start, "the text that begins here is not closed");
    String::new()
}

/// Reads the next line as the title: the line end is the delimiter then.
fn title_below(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> String {
    cursor.skip_line();
    let line = cursor.rest();
    cursor.skip_to_line_end();
    let line = &line[..line.len() - cursor.rest().len()];
    if !line.trim_ascii().is_empty() {
        let message = "this line is used as the title, since the line above has none";
        asm.error(
            DiagnosticCode::LostLine,
            cursor.since(cursor.offset() - line.len() as u32),
            message,
        );
    }
    String::from_utf8_lossy(&line[..line.len().min(TITLE_KEPT)]).into_owned()
}

/// Executes a directive without operand. Another may follow `.SLIST` on its line.
pub(super) fn listing_directive(
    asm: &mut Assembler<'_>,
    directive: ListingDirective,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    let mut next = Some(directive);
    while let Some(directive) = next {
        asm.control(ListingControl::Directive(directive));
        next = if directive == ListingDirective::Save {
            next_listing_directive(asm, cursor)
        } else {
            None
        };
    }
    Ok(StatementEnd::Open)
}

/// Reads the next listing directive on the line, if there is one.
fn next_listing_directive(
    asm: &mut Assembler<'_>,
    cursor: &mut Cursor<'_>,
) -> Option<ListingDirective> {
    cursor.skip_blanks();
    let mut ahead = cursor.clone();
    let name = ahead.take(lex::symbol).map(|word| asm.names.intern(word))?;
    let Some(Operator::Directive(Directive::Listing(directive))) = asm.names[name].operator else {
        return None;
    };
    *cursor = ahead;
    Some(directive)
}
