//! Error flags, and the positions of their question marks.

use crate::diag::{Code, Diagnostic};
use crate::source::SourceMap;

/// A diagnostic as the listing shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// The start of the diagnostic's span, which identifies the statement.
    pub(super) start: u32,
    /// The position of the question mark: how far ZASM has read when it finds the error.
    pub(super) place: u32,
    pub(super) letter: char,
    /// Whether it is printed before the marker of its row, having been found on the line before.
    pub(super) before_row: bool,
}

/// All marks, sorted by position.
pub(super) struct Marks {
    marks: Vec<Mark>,
    first_pass: bool,
}

impl Marks {
    pub(super) fn new(diagnostics: &[Diagnostic], sources: &SourceMap) -> Self {
        let mut marks: Vec<Mark> =
            diagnostics.iter().filter_map(|found| mark(found, sources)).collect();
        marks.sort_by_key(|mark| (mark.start, mark.place));
        pair_up(&mut marks);
        let first_pass = in_first_pass(&marks);
        Self { marks, first_pass }
    }

    /// Returns `true` if the first pass found an error; its heading is counted but not printed.
    pub(super) fn any_in_first_pass(&self) -> bool {
        self.first_pass
    }

    /// Returns the marks whose diagnostics begin within a range, sorted by position.
    pub(super) fn within(&self, start: u32, end: u32) -> Vec<Mark> {
        let first = self.marks.partition_point(|mark| mark.start < start);
        let within = self.marks[first..].iter().take_while(|mark| mark.start < end);
        let mut within: Vec<Mark> = within.copied().collect();
        within.sort_by_key(|mark| mark.place);
        within
    }
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

/// ZASM finds multiple definitions and exported locals in the first pass, and a variable that is
/// fixed later (M and Q at one position) in the second.
fn in_first_pass(marks: &[Mark]) -> bool {
    let with_q =
        |mark: &Mark| marks.iter().any(|other| other.place == mark.place && other.letter == 'Q');
    marks.iter().any(|mark| mark.letter == 'I' || (mark.letter == 'M' && !with_q(mark)))
}

fn mark(found: &Diagnostic, sources: &SourceMap) -> Option<Mark> {
    let letter = found.code.letter()?;
    let rest = |at: u32| {
        let source = sources.source_at(at);
        let offset = (at.saturating_sub(source.base) as usize).min(source.text.len());
        &source.text[offset..]
    };
    let after = |at: u32, wanted: fn(&u8) -> bool| {
        at + rest(at).iter().take_while(|byte| wanted(byte)).count() as u32
    };
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end = found.span.end;
    let place = match found.code {
        // Found before the character is taken.
        Code::Extra | Code::Stray => found.span.start,
        // Found when the operand is looked for.
        Code::Operator | Code::User | Code::Short => after(end, is_blank),
        // Found before the register in the parentheses is taken.
        _ if letter == 'X' => {
            let end = end.saturating_sub(found.span.start) as usize;
            let text = rest(found.span.start);
            let open = text.iter().take(end).position(|byte| *byte == b'(');
            open.map_or(found.span.end, |open| found.span.start + open as u32 + 1)
        }
        // Found after the sign that makes the definition.
        Code::Redefined | Code::Kept => {
            let sign = after(end, is_blank);
            let past = after(sign, |byte| *byte == b'=');
            if past > sign { past } else { end }
        }
        // Found after the first of two colons.
        Code::Internal => after(end, is_blank) + 1,
        _ => end,
    };
    let before_row = found.code == Code::Continued;
    Some(Mark { start: found.span.start, place, letter, before_row })
}
