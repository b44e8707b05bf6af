//! Error flags, and the positions of their question marks.

use crate::diag::DiagnosticCode;
use crate::source::{SourceMap, Span};
use crate::syntax::lex::is_symbol;

/// A diagnostic as the listing shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// The number of the flag, in the order in which they are raised.
    order: usize,
    /// The start of the diagnostic's span, which identifies the statement.
    pub(super) start: u32,
    /// The position of the question mark: how far ZASM has read when it finds the error.
    pub(super) place: u32,
    pub(super) letter: char,
    /// Whether it is printed before the marker of its row, having been found on the line before.
    pub(super) before_row: bool,
}

/// Returns all marks, sorted by the start of their diagnostics.
pub(super) fn marks(flags: &[(DiagnosticCode, Span)], sources: &SourceMap) -> Vec<Mark> {
    let found = flags.iter().enumerate();
    let found = found.filter_map(|(order, (code, span))| mark(order, *code, *span, sources));
    let mut marks: Vec<Mark> = found.collect();
    pair_up(&mut marks);
    marks.sort_by_key(|mark| mark.start);
    marks
}

/// Returns the marks whose diagnostics begin within a range, in the order of their flags.
pub(super) fn within(marks: &[Mark], start: u32, end: u32) -> Vec<Mark> {
    let first = marks.partition_point(|mark| mark.start < start);
    let within = marks[first..].iter().take_while(|mark| mark.start < end);
    let mut within: Vec<Mark> = within.copied().collect();
    within.sort_by_key(|mark| mark.order);
    within
}

/// Gives a Q the position of the M or X that it belongs to.
fn pair_up(marks: &mut [Mark]) {
    for at in 1..marks.len() {
        let Mark { start, place, letter, .. } = marks[at - 1];
        if marks[at].letter == 'Q' && marks[at].start == start && matches!(letter, 'M' | 'X') {
            marks[at].place = place;
        }
    }
}

fn mark(order: usize, code: DiagnosticCode, span: Span, sources: &SourceMap) -> Option<Mark> {
    let letter = code.error_flag()?;
    let rest = |at: u32| {
        let source = sources.source_at(at);
        let offset = (at.saturating_sub(source.base) as usize).min(source.text.len());
        &source.text[offset..]
    };
    let after = |at: u32, wanted: fn(&u8) -> bool| {
        at + rest(at).iter().take_while(|byte| wanted(byte)).count() as u32
    };
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end = span.end;
    let place = match code {
        // Found before the character is taken.
        DiagnosticCode::TrailingText | DiagnosticCode::ExtraOperand | DiagnosticCode::Stray => {
            span.start
        }
        // Found while the digits are read.
        DiagnosticCode::Digit
        | DiagnosticCode::Heading
        | DiagnosticCode::MacroForm
        | DiagnosticCode::Continued
        | DiagnosticCode::Intel => end,
        // A symbol that is skipped has been read.
        DiagnosticCode::Expression if end > span.start && is_symbol(rest(span.start)[0]) => end,
        // Found before the register in the parentheses is taken.
        _ if letter == 'X' => {
            let end = end.saturating_sub(span.start) as usize;
            let text = rest(span.start);
            let open = text.iter().take(end).position(|byte| *byte == b'(');
            open.map_or(span.end, |open| span.start + open as u32 + 1)
        }
        DiagnosticCode::Redefined | DiagnosticCode::AssignmentIgnored => {
            definition_end(span.end, rest(span.end))
        }
        // Found after the first of two colons.
        DiagnosticCode::Internal => after(end, is_blank) + 1,
        // Found when what follows the operand has been looked for.
        _ => after(end, is_blank),
    };
    let before_row = code == DiagnosticCode::Continued;
    Some(Mark { order, start: span.start, place, letter, before_row })
}

/// Returns how far ZASM reads before it finds that a symbol is defined already: up to the sign of
/// an assignment, but past it if no blank precedes it; with `==` up to the end of the value.
fn definition_end(name_end: u32, text: &[u8]) -> u32 {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let blanks = |from: usize| text[from..].iter().take_while(|byte| is_blank(byte)).count();
    let sign = blanks(0);
    if text.get(sign) == Some(&b'=') && text.get(sign + 1 + blanks(sign + 1)) == Some(&b'[') {
        return name_end; // A macro.
    }
    if text.get(sign) != Some(&b'=') {
        return name_end + sign as u32;
    }
    let second = sign + 1 + blanks(sign + 1);
    let length = match text.get(second) {
        Some(b'=') => statement_length(text),
        _ if sign == 0 => 1,
        _ => sign,
    };
    name_end + length as u32
}

/// Returns the length of a statement without its comment.
fn statement_length(text: &[u8]) -> usize {
    let mut quote = None;
    let ends = |byte: &u8| match (quote, byte) {
        (_, b'\r' | b'\n') | (None, b';') => true,
        (None, b'\'' | b'"') => {
            quote = Some(*byte);
            false
        }
        (Some(open), close) => {
            quote = (open != *close).then_some(open);
            false
        }
        _ => false,
    };
    text.iter().position(ends).unwrap_or(text.len())
}
