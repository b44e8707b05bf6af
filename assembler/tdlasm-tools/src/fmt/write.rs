//! Writes statements in columns.

use std::ops::Range;

use super::Statements;
use crate::convert::columns::{TAB_WIDTH, align, column};
use crate::statement::{StatementParts, line_end, next_line};

/// The column of operators, from 0.
const OPERATOR: usize = 8;
/// The column of operands that do not stand one blank after the operator.
const OPERANDS: usize = 16;
/// Comments to the left of this go to [`COMMENT`].
const FIRST_COMMENT: usize = 24;
/// The column of comments if there is room.
const COMMENT: usize = 32;

pub(super) fn write(statements: &Statements) -> Vec<u8> {
    let text = &statements.source().text[..];
    let aligned = operands_are_aligned(text, &statements.list);
    let mut writer = Writer { text, out: Vec::with_capacity(text.len()), line: 0, aligned };
    for (start, parts) in &statements.list {
        writer.line = writer.out.len();
        match parts {
            Some(parts) => writer.statement(*start, parts),
            None => writer.copy(&(*start..line_end(text, *start))),
        }
        let end = parts.as_ref().map_or_else(|| line_end(text, *start), |parts| parts.end);
        writer.copy(&(end..next_line(text, end)));
    }
    writer.copy(&(statements.end..text.len()));
    if statements.end == text.len() && !matches!(writer.out.last(), None | Some(b'\n' | b'\r')) {
        writer.out.push(b'\n');
    }
    writer.out
}

/// Returns `true` if most operands are more than a blank after their operator.
fn operands_are_aligned(text: &[u8], statements: &[(usize, Option<StatementParts>)]) -> bool {
    let mut aligned = 0;
    let mut close = 0;
    for (start, parts) in statements {
        let Some(StatementParts { operator, operands, .. }) = parts else { continue };
        if operator.is_empty() || operands.is_empty() {
            continue;
        }
        match &text[operator.end..operands.start] {
            b"" => {}
            // After a long operator there is always a single blank.
            b" " => close += usize::from(column(&text[*start..operands.start]) < OPERANDS),
            _ => aligned += 1,
        }
    }
    aligned > close
}

struct Writer<'t> {
    text: &'t [u8],
    out: Vec<u8>,
    /// The start in `out` of the line that is being written.
    line: usize,
    /// Whether operands have a column of their own.
    aligned: bool,
}

impl Writer<'_> {
    fn copy(&mut self, range: &Range<usize>) {
        self.out.extend_from_slice(&self.text[range.clone()]);
    }

    fn column(&self) -> usize {
        column(&self.out[self.line..])
    }

    fn blanks_to(&mut self, target: usize) {
        align(&mut self.out, self.line, target, b" ");
    }

    fn statement(&mut self, start: usize, parts: &StatementParts) {
        self.head(start, parts);
        if !parts.operator.is_empty() {
            self.blanks_to(OPERATOR);
            self.copy(&parts.operator);
        }
        if !parts.operands.is_empty() {
            self.operands(parts);
        }
        if !parts.comment.is_empty() && !self.is_long(parts) {
            self.comment(start, parts);
        }
    }

    /// Brackets, labels, and the name that is assigned a value.
    fn head(&mut self, start: usize, parts: &StatementParts) {
        if !parts.brackets.is_empty() {
            if parts.brackets.start > start {
                self.blanks_to(OPERATOR);
            }
            self.copy(&parts.brackets);
        }
        let assigned = Some(&parts.assigned).filter(|name| !name.is_empty());
        for name in parts.labels.iter().map(|(name, _)| name).chain(assigned) {
            // Measuring the column after each label would take quadratic time.
            if self.out.len() > self.line {
                self.out.push(b' ');
            }
            self.copy(name);
            // In Zilog's notation a label may have none, and an assigned name one.
            let behind = self.text[name.end..].iter().filter(|byte| !matches!(byte, b' ' | b'\t'));
            self.out.extend(behind.take_while(|byte| **byte == b':'));
        }
    }

    /// Returns `true` if the operands span lines: all after the operator is unchanged then.
    fn is_long(&self, parts: &StatementParts) -> bool {
        self.text[parts.operands.clone()].iter().any(|byte| matches!(byte, b'\n' | b'\r'))
    }

    fn operands(&mut self, parts: &StatementParts) {
        let gap = parts.operator.end..parts.operands.start;
        match self.text[parts.operands.start] {
            b'&' | b'#' if parts.language.is_zilog => self.copy(&gap),
            b'\'' if gap.is_empty() => {}
            _ if parts.operator.is_empty() => {}
            _ => self.blanks_to(if self.aligned { OPERANDS } else { 0 }),
        }
        let end = if self.is_long(parts) { parts.end } else { parts.operands.end };
        self.copy(&(parts.operands.start..end));
    }

    fn comment(&mut self, start: usize, parts: &StatementParts) {
        let at = column(&self.text[start..parts.comment.start]);
        let here = self.column();
        if parts.blanks_count && !parts.operands.is_empty() {
            self.copy(&(parts.operands.end..parts.comment.start));
        } else if here > 0 || at > 0 {
            self.blanks_to(comment_column(at, here));
        }
        self.copy(&parts.comment);
    }
}

/// Returns the column for a comment that stood in column `at`, after a line of `here` columns.
fn comment_column(at: usize, here: usize) -> usize {
    if here == 0 && at < FIRST_COMMENT {
        OPERATOR
    } else if at >= FIRST_COMMENT && at.is_multiple_of(TAB_WIDTH) && at > here {
        at
    } else {
        COMMENT.max((here / TAB_WIDTH + 1) * TAB_WIDTH)
    }
}
