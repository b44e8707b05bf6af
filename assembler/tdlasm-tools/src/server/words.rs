//! The words of a text: fields, texts and comments of its statements.

use std::ops::Range;

use crate::fmt::{StatementParts, Statements};
use crate::statement::line_end;
use tdlasm::syntax::directive::{Directive, OperandKind};
use tdlasm::syntax::{lex, zilog};

use super::workspace::File;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKind {
    Label,
    /// The name that is assigned a value.
    Assigned,
    /// A symbol or number, or an operator.
    Word,
    /// A text with its delimiters, which may span lines.
    Text,
    Comment,
}

pub(super) type ScannedWord = (Range<usize>, WordKind);

/// Returns the words of the statements that touch a range.
pub(super) fn scan(statements: &Statements, range: &Range<usize>) -> Vec<ScannedWord> {
    let mut scanner = Scanner { text: &statements.source().text, found: Vec::new() };
    let list = &statements.list;
    let after = list.partition_point(|(start, _)| *start <= range.start);
    let touching = list[after.saturating_sub(1)..].iter();
    for (_, parts) in touching.take_while(|(start, _)| *start <= range.end) {
        parts.iter().for_each(|parts| scanner.statement(parts));
    }
    scanner.found
}

/// Returns the words of the lines in Zilog's notation that touch a range.
pub(super) fn scan_zilog(text: &[u8], range: &Range<usize>) -> Vec<ScannedWord> {
    let before = &text[..range.start.min(text.len())];
    let mut start = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |end| end + 1);
    let mut found = Vec::new();
    while start < text.len() && start <= range.end {
        let line = &text[start..line_end(text, start)];
        let code = zilog::code_length(line);
        let mut at = 0;
        while at < code {
            let number = zilog::number(&line[at..code]).map(|number| number.length);
            let word = line[at..code].iter().take_while(|byte| zilog::is_symbol(**byte)).count();
            let (kind, length) = match line[at] {
                b'\'' | b'"' => (WordKind::Text, zilog::quote_length(line, at)),
                _ => (WordKind::Word, number.unwrap_or(word)),
            };
            let is_word = if kind == WordKind::Text { length > 1 } else { length > 0 };
            found.extend(is_word.then_some((start + at..start + at + length, kind)));
            at += length.max(1);
        }
        let comment = start + code..start + line.trim_ascii_end().len();
        found.extend((!comment.is_empty()).then_some((comment, WordKind::Comment)));
        start += line.len() + 1;
    }
    found
}

struct Scanner<'t> {
    text: &'t [u8],
    found: Vec<ScannedWord>,
}

impl Scanner<'_> {
    fn statement(&mut self, parts: &StatementParts) {
        let labels = parts.labels.iter().map(|(name, _)| (name.clone(), WordKind::Label));
        self.found.extend(labels);
        if !parts.assigned.is_empty() {
            self.found.push((parts.assigned.clone(), WordKind::Assigned));
        } else if !parts.operator.is_empty() {
            self.found.push((parts.operator.clone(), WordKind::Word));
        }
        self.operands(parts);
        if !parts.comment.is_empty() {
            self.found.push((parts.comment.clone(), WordKind::Comment));
        }
    }

    fn operands(&mut self, parts: &StatementParts) {
        let directive = Directive::from_word(&self.text[parts.operator.clone()]);
        let is_text = match directive.map(Directive::operands) {
            Some(OperandKind::File) => {
                return self.found.push((parts.operands.clone(), WordKind::Text));
            }
            kind => matches!(kind, Some(OperandKind::Text | OperandKind::Texts)),
        };
        let mut at = parts.operands.start;
        while at < parts.operands.end {
            at = self.operand(at, parts.operands.end, is_text).max(at + 1);
        }
    }

    /// Adds the word at an offset and returns its end. `is_text` allows delimiters of any kind.
    fn operand(&mut self, at: usize, end: usize, is_text: bool) -> usize {
        let rest = &self.text[at..end];
        let begins_text = !matches!(rest[0], b' ' | b'\t' | b'\n' | b'\r' | b'[');
        if is_text && rest[0] == b'[' {
            let close = memchr::memchr(b']', rest).map_or(end, |length| at + length);
            let mut within = at + 1;
            while within < close {
                within = self.operand(within, close, false).max(within + 1);
            }
            return close + 1;
        }
        let text = match rest[0] {
            _ if is_text && begins_text => lex::delimited_text(rest),
            b'\'' | b'"' => lex::quoted(rest),
            _ => Err(nom::Err::Error(())),
        };
        if let Ok((rest, _)) = text {
            self.found.push((at..end - rest.len(), WordKind::Text));
            return end - rest.len();
        }
        let length = rest.iter().take_while(|byte| lex::is_symbol(**byte)).count();
        if length > 0 {
            self.found.push((at..at + length, WordKind::Word));
        }
        at + length
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// A label, or the name that is assigned a value.
    Name,
    Operator,
    Operands,
    Comment,
}

pub(super) fn statement_at(statements: &Statements, offset: usize) -> Option<&StatementParts> {
    let after = statements.list.partition_point(|(start, _)| *start <= offset);
    statements.list[after.checked_sub(1)?].1.as_ref()
}

/// Returns the field and the word at an offset; the word may be empty.
pub(super) fn field_at(file: &File<'_>, offset: usize) -> Option<(Field, Range<usize>)> {
    let statements = file.statements()?;
    let parts = statement_at(&statements, offset)?;
    Some((field(parts, offset), word_at(file, offset)))
}

fn field(parts: &StatementParts, offset: usize) -> Field {
    let before = parts.labels.last().map_or(0, |(name, _)| name.end);
    if !parts.comment.is_empty() && offset > parts.comment.start {
        Field::Comment
    } else if parts.assigned.contains(&offset) || offset <= before {
        Field::Name
    } else if parts.operator.is_empty() || offset <= parts.operator.end {
        Field::Operator
    } else {
        Field::Operands
    }
}

/// Returns the symbol that contains an offset or ends there.
pub(super) fn word_at(file: &File<'_>, offset: usize) -> Range<usize> {
    let is_symbol = if file.is_zilog() { zilog::is_symbol } else { lex::is_symbol };
    let text = &file.text;
    let offset = offset.min(text.len());
    let before = text[..offset].iter().rev().take_while(|byte| is_symbol(**byte)).count();
    let behind = text[offset..].iter().take_while(|byte| is_symbol(**byte)).count();
    offset - before..offset + behind
}
