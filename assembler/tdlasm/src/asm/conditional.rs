//! Conditional assembly: `.IFx argument,[true text] [false text]`, and the form on one line.
//!
//! Text that is assembled is read statement by statement, so that brackets in comments and strings
//! have no effect. In text that is skipped every bracket counts.

use super::assembler::Assembler;
use super::pass::Pass;
use super::slips;
use super::statement_end::skip_to_next_block;
use super::statement_end::{StatementEnd, StatementResult};
use crate::diag::DiagnosticCode;
use crate::references::ReferenceRole;
use crate::source::Span;
use crate::syntax::directive::Test;
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

pub(super) fn conditional(
    asm: &mut Assembler<'_>,
    test: Test,
    wanted: bool,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    let holds = evaluate_test(asm, test, cursor)? == wanted;
    if !condition_comma(asm, cursor) {
        asm.next_line(cursor);
        return Ok(StatementEnd::LineDone);
    }
    cursor.skip_blanks();
    if cursor.at_statement_end() {
        let message = "a text in brackets or a statement is missing after the comma";
        let help = "the [ must be on the line of the condition";
        asm.error_with_help(DiagnosticCode::Operand, cursor.here(), message, help);
        return Ok(StatementEnd::CheckRest);
    }
    if cursor.peek() == Some(b'[') {
        enter_blocks(asm, holds, cursor);
    } else if !holds {
        asm.next_line(cursor);
    }
    Ok(StatementEnd::LineDone)
}

/// Skips the comma after the argument. Without one the line is ignored.
fn condition_comma(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> bool {
    cursor.skip_blanks();
    if cursor.eat(b',') {
        return true;
    }
    let message = "a comma is missing after the condition";
    let help = "the form is .IFN VALUE,[ and a closing ] instead of .ENDIF";
    asm.error_with_help(DiagnosticCode::Operand, cursor.here(), message, help);
    let comma = memchr::memchr(b',', cursor.rest_of_statement());
    cursor.advance(comma.map_or(0, |at| at + 1));
    comma.is_some()
}

fn evaluate_test(
    asm: &mut Assembler<'_>,
    test: Test,
    cursor: &mut Cursor<'_>,
) -> StatementResult<bool> {
    Ok(match test {
        Test::Zero => number(asm, cursor)? == 0,
        Test::Positive => number(asm, cursor)? > 0,
        Test::Negative => number(asm, cursor)? < 0,
        Test::FirstPass => asm.pass == Pass::First,
        Test::Defined => is_defined(asm, cursor),
        Test::Blank => is_blank_text(asm, cursor),
        Test::Identical => are_identical(asm, cursor),
    })
}

/// Reads a signed number; a blank argument counts as zero.
fn number(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> StatementResult<i16> {
    cursor.skip_blanks();
    if cursor.peek() == Some(b',') {
        return Ok(0);
    }
    let expr = asm.parse_expression(cursor);
    let value = asm.evaluate(&expr)?;
    slips::lint_comparison(asm, &expr);
    if !value.is_absolute() {
        let message = "a condition must be a constant, but this value is relocatable";
        asm.error(DiagnosticCode::Operand, expr.span, message);
    }
    Ok(value.number as i16)
}

fn is_defined(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> bool {
    cursor.skip_blanks();
    let rest = cursor.rest();
    let length = rest.iter().take_while(|byte| lex::is_symbol(**byte)).count();
    let word = &rest[..length];
    cursor.advance(length);
    // An empty word or a number is never defined.
    if word.first().is_none_or(u8::is_ascii_digit) {
        return false;
    }
    if word == b"." {
        return true;
    }
    let name = asm.names.intern(word);
    let at = cursor.since(cursor.offset() - word.len() as u32);
    asm.recorder.reference(name, at, ReferenceRole::Use);
    let entry = asm.names[name];
    entry.symbol.is_defined()
        || entry.built_in.is_some()
        || entry.operator.is_some()
        || entry.macro_index.is_some()
}

/// A missing text is blank.
fn is_blank_text(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> bool {
    cursor.skip_blanks();
    if cursor.peek() == Some(b',') {
        return true;
    }
    let Some(text) = text_argument(asm, cursor) else { return true };
    asm.sources.slice(text).iter().all(|byte| lex::is_blank(*byte))
}

/// Compares two texts. Trailing blanks are ignored, leading ones are not.
fn are_identical(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> bool {
    let one = text_argument(asm, cursor);
    cursor.skip_blanks();
    // A missing text differs from every other, even an empty one.
    let left_out = cursor.peek() == Some(b',');
    let other = if left_out { None } else { text_argument(asm, cursor) };
    let (Some(one), Some(other)) = (one, other) else { return false };
    let trimmed = |span| {
        let text = asm.sources.slice(span);
        let blank = text.iter().rev().take_while(|byte| lex::is_blank(**byte)).count();
        &text[..text.len() - blank]
    };
    trimmed(one) == trimmed(other)
}

/// Reads a text in brackets or between equal delimiters. Returns its span without them.
fn text_argument(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> Option<Span> {
    cursor.skip_blanks();
    let start = cursor.offset();
    let end = match cursor.peek() {
        // Brackets do not nest here.
        Some(b'[') if asm.is_pasm() => asm.closing_bracket(cursor),
        Some(b'[') => memchr::memchr(b']', cursor.rest()).map(|length| start + length as u32),
        // PASM takes a text without delimiters.
        Some(byte) if asm.is_pasm() && lex::is_symbol(byte) => {
            let rest = cursor.rest_of_statement();
            let length = memchr::memchr(b',', rest).unwrap_or(rest.len());
            cursor.advance(length);
            return Some(Span::new(start, start + length as u32));
        }
        Some(byte) if !matches!(byte, b'\n' | b'\r' | b';') => {
            cursor.take_lines(lex::delimited_text).map(|_| cursor.offset() - 1)
        }
        _ => None,
    };
    let Some(end) = end else {
        let message = "a text in brackets or quotes is missing or not closed";
        asm.error(DiagnosticCode::Unterminated, cursor.here(), message);
        return None;
    };
    cursor.move_to(end + 1);
    Some(Span::new(start + 1, end))
}

/// Enters the block for the condition. The cursor is at the `[` of the true block.
fn enter_blocks(asm: &mut Assembler<'_>, holds: bool, cursor: &mut Cursor<'_>) {
    if holds {
        cursor.advance(1);
        return asm.input.open_block(cursor.offset() - 1);
    }
    if !asm.skip_block(cursor) {
        return;
    }
    let mut ahead = cursor.clone();
    skip_to_next_block(&mut ahead);
    // Uses a copy of the cursor: what follows a skipped block without a second one is a separate
    // statement, in which blanks and line ends are significant.
    if ahead.peek() == Some(b'[') {
        let gap = Span::new(cursor.offset(), ahead.offset());
        *cursor = ahead;
        cursor.advance(1);
        asm.input.open_block(cursor.offset() - 1);
        if asm.spans_lines(gap) {
            asm.sink.next_row();
        }
    }
}
