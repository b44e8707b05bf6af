//! The arguments of macro calls.

use std::borrow::Cow;
use std::iter;

use super::assembler::Assembler;
use super::statement_end::StatementResult;
use crate::diag::DiagnosticCode;
use crate::source::Span;
use crate::syntax::Cursor;

/// The text that replaces a parameter.
#[derive(Debug, Clone)]
pub(super) struct Argument<'t> {
    pub(super) text: Cow<'t, [u8]>,
    /// Its position, if it is a part of the source.
    pub(super) place: Option<Span>,
}

impl<'t> Argument<'t> {
    /// Creates an argument that is no part of the source.
    pub(super) fn made(text: impl Into<Cow<'t, [u8]>>) -> Self {
        Self { text: text.into(), place: None }
    }
}

pub(super) fn arguments<'t>(
    asm: &mut Assembler<'_>,
    cursor: &mut Cursor<'t>,
) -> StatementResult<Vec<Argument<'t>>> {
    cursor.skip_blanks();
    let bracketed = cursor.eat(b'[');
    let mut arguments = Vec::new();
    let none = if bracketed { cursor.peek() == Some(b']') } else { cursor.at_statement_end() };
    if !none {
        argument_list(asm, cursor, bracketed, &mut arguments)?;
    }
    if bracketed && !cursor.eat(b']') {
        // ZASM ends the arguments at the end of the line, even without a closing bracket.
        cursor.skip_blanks();
    }
    Ok(arguments)
}

fn argument_list<'t>(
    asm: &mut Assembler<'_>,
    cursor: &mut Cursor<'t>,
    bracketed: bool,
    list: &mut Vec<Argument<'t>>,
) -> StatementResult {
    let mut plain = false;
    loop {
        if asm.is_pasm() {
            cursor.skip_blanks();
        }
        // ZASM looks for the closing bracket only after it has read an unquoted argument.
        let seeks = cursor.peek() != Some(b'(') && cursor.peek() != Some(b'\\');
        let bracket_not_checked = !plain;
        plain |= seeks;
        list.push(match cursor.eat(b'\\') {
            true => Argument::made(number_argument(asm, cursor, bracket_not_checked)?),
            false => text_of_argument(asm, cursor, bracketed),
        });
        if !cursor.eat(b',') {
            return Ok(());
        }
    }
}

fn text_of_argument<'t>(
    asm: &mut Assembler<'_>,
    cursor: &mut Cursor<'t>,
    bracketed: bool,
) -> Argument<'t> {
    if let Some(argument) = argument_in_parentheses(asm, cursor) {
        return argument;
    }
    let text = cursor.rest();
    // In the first call of a program, ZASM takes the bracket that closes a block as a part of it.
    let takes_bracket = asm.input.macro_calls == 0 && !asm.is_pasm();
    let length = argument_length(text, bracketed || asm.input.is_enclosed() && !takes_bracket);
    let place = Span::new(cursor.offset(), cursor.offset() + length as u32);
    cursor.advance(length);
    let mut argument = Argument { text: text[..length].into(), place: Some(place) };
    if asm.is_pasm() {
        let trimmed = text[..length].trim_ascii();
        let start = place.start + (length - text[..length].trim_ascii_start().len()) as u32;
        argument.text = trimmed.into();
        argument.place = Some(Span::new(start, start + trimmed.len() as u32));
    }
    argument
}

/// Reads an argument in parentheses, which are removed. It can span lines. Anything but a comma
/// after it ends the call.
fn argument_in_parentheses<'t>(
    asm: &mut Assembler<'_>,
    cursor: &mut Cursor<'t>,
) -> Option<Argument<'t>> {
    if cursor.peek() != Some(b'(') {
        return None;
    }
    let Some(length) = closing_parenthesis(cursor.rest()) else {
        let message = "the parenthesis that begins this argument is not closed";
        asm.error(DiagnosticCode::Unterminated, cursor.here(), message);
        cursor.advance_lines(cursor.rest().len());
        asm.input.ended = true;
        return Some(Argument::made(Vec::new()));
    };
    let text = &cursor.rest()[1..length];
    let start = cursor.offset() + 1;
    cursor.advance_lines(length + 1);
    cursor.skip_blanks();
    if memchr::memchr2(b'\n', b'\r', text).is_some() {
        asm.sink.next_row();
    }
    let place = Span::new(start, start + text.len() as u32);
    Some(Argument { text: text.into(), place: Some(place) })
}

/// Reads `\expression`, which is replaced by the digits of its value in the current radix.
/// Where ZASM does not look for the closing bracket, the text up to the next comma is a part of
/// the argument.
fn number_argument(
    asm: &mut Assembler<'_>,
    cursor: &mut Cursor<'_>,
    bracket_not_checked: bool,
) -> StatementResult<Vec<u8>> {
    let expr = asm.parse_expression(cursor);
    if expr.count == 0 {
        asm.error(DiagnosticCode::Expression, cursor.gap(), "a value is missing; 0 is used");
    }
    let value = asm.evaluate(&expr)?;
    if !value.is_absolute() {
        let message = "the argument must be a constant, but this value is relocatable";
        asm.error(DiagnosticCode::Relocation, expr.span, message);
    }
    let mut text = in_radix(value.number, asm.module.radix);
    if bracket_not_checked && cursor.peek() == Some(b']') {
        text.extend_from_slice(&text_of_argument(asm, cursor, false).text);
    }
    Ok(text)
}

/// Returns the index of the parenthesis that closes the one at the start.
pub(super) fn closing_parenthesis(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    text.iter().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// Returns the length of an argument: up to a comma, comment, line end or closing bracket.
/// Parentheses count only at the start of an argument.
fn argument_length(text: &[u8], until_bracket: bool) -> usize {
    let mut open_brackets = 0usize;
    text.iter()
        .position(|byte| {
            match byte {
                b',' | b';' | b'\n' | b'\r' => return true,
                b'[' => open_brackets += 1,
                b']' if until_bracket => {
                    if open_brackets == 0 {
                        return true;
                    }
                    open_brackets -= 1;
                }
                _ => {}
            }
            false
        })
        .unwrap_or(text.len())
}

fn in_radix(number: u16, radix: u8) -> Vec<u8> {
    let radix = u16::from(radix);
    let rests = iter::successors(Some(number), |rest| Some(rest / radix).filter(|rest| *rest > 0));
    let digit = |rest| b"0123456789ABCDEF"[usize::from(rest % radix)];
    let mut digits: Vec<u8> = rests.map(digit).collect();
    digits.reverse();
    digits
}
