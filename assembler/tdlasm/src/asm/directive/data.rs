//! Directives that write bytes: `.BYTE`, `.WORD`, texts, `.RAD40`, `.DATE` and `.TIME`.

use std::time::{Duration, UNIX_EPOCH};

use humantime::format_rfc3339_seconds;

use super::super::assembler::Assembler;
use super::super::code_buffer::{CodeCheckpoint, Field};
use super::super::slips;
use super::super::statement_end::{StatementEnd, StatementResult};
use super::misses_operand;
use crate::diag::DiagnosticCode;
use crate::listing::{BYTES_A_ROW, WORDS_A_ROW};
use crate::source::as_read;
use crate::syntax::directive::TextTerminator;
use crate::syntax::expr::Op;
use crate::syntax::{Cursor, lex};

/// The first second of the year 10000, counted from 1970.
const YEAR_10000: u64 = 253_402_300_800;

pub(super) fn write_values(
    asm: &mut Assembler<'_>,
    field: Field,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    cursor.skip_blanks();
    asm.recorder.statement.words = field == Field::Word;
    let before = asm.code.checkpoint();
    let a_row = if field == Field::Word { 2 * WORDS_A_ROW } else { BYTES_A_ROW };
    if cursor.at_statement_end() && !asm.input.has_macro_text {
        let message = "a value is missing, so nothing is assembled";
        asm.operator_error(DiagnosticCode::MissingOperand, message);
        return Ok(StatementEnd::CheckRest);
    }
    loop {
        let expr = asm.parse_expression(cursor);
        if expr.count == 0 {
            asm.error(DiagnosticCode::Expression, cursor.gap(), "a value is missing");
            if asm.input.has_macro_text && cursor.at_statement_end() {
                // After a macro without text ZASM still writes a value.
                asm.code.write(&[0; 2][..field.size()]);
            }
        } else if asm.operations(&expr).iter().all(|op| matches!(op, Op::Fault(..))) {
            asm.evaluate(&expr)?;
        } else {
            asm.recorder.byte(cursor.offset(), asm.code.count_since(before), a_row);
            asm.emit_expression(&expr, field)?;
        }
        if !cursor.eat(b',') && !skip_to_next(asm, cursor) {
            return Ok(StatementEnd::CheckList);
        }
    }
}

/// Writes the texts and `[expression]` bytes of `.ASCII`, `.ASCIZ` and `.ASCIS`.
pub(super) fn write_texts(
    asm: &mut Assembler<'_>,
    end: TextTerminator,
    cursor: &mut Cursor<'_>,
) -> StatementResult {
    let before = asm.code.checkpoint();
    let flags_before = asm.sink.flags();
    let mut lost = false;
    let mut broken = false;
    loop {
        cursor.skip_blanks();
        match cursor.peek() {
            None | Some(b'\n' | b'\r' | b';') => break,
            Some(b']') if asm.input.is_enclosed() => {
                cursor.advance(1);
                // PASM has no such fault.
                lost |= !asm.close_block(cursor) && !asm.is_pasm();
            }
            Some(b',') if asm.is_pasm() => cursor.advance(1),
            Some(b'[') => {
                lost = false;
                broken = !write_bracketed_byte(asm, cursor, before)?;
                if broken {
                    break;
                }
            }
            Some(_) => {
                lost = false;
                let written = asm.code.count_since(before);
                write_delimited(asm, cursor, written);
            }
        }
    }
    if lost {
        drop_last_byte(asm, end, before);
    }
    let Some((first, count)) = asm.code.written_since(before) else {
        if !lost && asm.sink.flags() == flags_before {
            let message = "the text is empty, so nothing is assembled";
            asm.operator_error(DiagnosticCode::Empty, message);
        }
        return Ok(());
    };
    let offset = cursor.offset();
    asm.recorder.byte(offset, count - 1, BYTES_A_ROW);
    match end {
        // ZASM writes no terminator after an error.
        _ if lost || broken => {}
        TextTerminator::Plain => {}
        TextTerminator::Zero => {
            asm.recorder.byte(offset, count, BYTES_A_ROW);
            asm.code.write(&[0]);
        }
        TextTerminator::Marked => *asm.code.byte(first, count - 1) |= 0x80,
    }
    Ok(())
}

/// Reproduces an error of ZASM, which loses the last byte of a text, and the terminator after
/// it, if nothing but the `]` of its block follows.
fn drop_last_byte(asm: &mut Assembler<'_>, end: TextTerminator, before: CodeCheckpoint) {
    if asm.code.written_since(before).is_none() {
        return;
    }
    asm.code.pop_byte();
    let message = match end {
        TextTerminator::Plain => "the last byte of this text is lost, as in ZASM",
        _ => "the last byte of this text and its end are lost, as in ZASM",
    };
    let help = "put the ] that closes the block on a line of its own";
    asm.error_with_help(DiagnosticCode::LostByte, asm.statement.operator, message, help);
}

/// Writes a delimited text, after `so_far` bytes of the same statement.
fn write_delimited(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>, so_far: u32) {
    let start = cursor.here();
    match cursor.take_lines(lex::delimited_text) {
        Some(text) => {
            slips::lint_text(asm, start, text, cursor.peek());
            asm.recorder.text(start.start + 1, text, so_far);
            asm.code.write(&as_read(text));
            asm.update_place(cursor);
        }
        None => {
            asm.unclosed_text(start);
            cursor.advance_lines(cursor.rest().len());
            asm.input.ended = true;
        }
    }
}

/// Writes `[expression]`. Returns `false` if the bracket is not closed, which ends the texts.
fn write_bracketed_byte(
    asm: &mut Assembler<'_>,
    cursor: &mut Cursor<'_>,
    first: CodeCheckpoint,
) -> StatementResult<bool> {
    let open = cursor.here();
    let before = asm.code.checkpoint();
    cursor.advance(1);
    let expr = asm.parse_expression(cursor);
    if expr.count == 0 {
        asm.error(DiagnosticCode::Expression, cursor.gap(), "a value is missing");
    } else {
        let written = asm.code.count_since(first);
        let previous = written.saturating_sub(1);
        asm.recorder.byte(cursor.offset(), previous, BYTES_A_ROW);
        asm.emit_expression(&expr, Field::Byte)?;
    }
    let closed = cursor.eat(b']');
    if !closed {
        asm.code.roll_back(before);
        asm.error(DiagnosticCode::Expression, open, "this bracket is not closed");
    }
    Ok(closed)
}

/// Writes two words for each symbol, with three characters of the 40-character set in each,
/// high byte first.
pub(super) fn rad40(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> StatementEnd {
    if misses_operand(asm, cursor, "a symbol is missing") {
        return StatementEnd::CheckRest;
    }
    let before = asm.code.checkpoint();
    loop {
        cursor.skip_blanks();
        let Some(word) = cursor.take(lex::symbol) else {
            asm.operator_error(DiagnosticCode::Operand, "a symbol is missing");
            return StatementEnd::CheckRest;
        };
        let end = cursor.offset();
        cursor.skip_blanks();
        let packed = lex::packed(word);
        for half in [packed / 40u32.pow(3), packed % 40u32.pow(3)] {
            asm.recorder.byte(end, asm.code.count_since(before), BYTES_A_ROW);
            asm.code.write(&(half as u16).to_be_bytes());
        }
        if !cursor.eat(b',') && !skip_to_next(asm, cursor) {
            return StatementEnd::CheckList;
        }
    }
}

/// Skips to the next item of a list, reporting anything before the comma.
fn skip_to_next(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> bool {
    while cursor.peek() == Some(b']') && asm.input.in_block() {
        cursor.advance(1);
        asm.close_block(cursor);
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
    asm.error(DiagnosticCode::Expression, cursor.gap(), "a comma is missing here");
    cursor.advance(at + 1);
    true
}

/// Writes month, day and year of the build (`.DATE`), or blanks.
pub(super) fn write_date(asm: &mut Assembler<'_>) {
    write_build_time(asm, |time| format!("{}/{}/{}", &time[5..7], &time[8..10], &time[2..4]));
}

/// Writes hour, minute and second of the build in UTC (`.TIME`), or blanks.
pub(super) fn write_time(asm: &mut Assembler<'_>) {
    write_build_time(asm, |time| time[11..19].to_owned());
}

/// Writes what `part` takes of the time of the build, such as `2024-12-31T23:59:59Z`.
fn write_build_time(asm: &mut Assembler<'_>, part: fn(&str) -> String) {
    // Later years have more digits.
    let seconds = asm.options.build_time.filter(|seconds| *seconds < YEAR_10000);
    let time = seconds.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    let text = |time| part(&format_rfc3339_seconds(time).to_string());
    let text = time.map_or(" ".repeat(8), text);
    asm.recorder.byte(asm.statement.operator.end, BYTES_A_ROW, BYTES_A_ROW);
    asm.code.write(text.as_bytes());
}
