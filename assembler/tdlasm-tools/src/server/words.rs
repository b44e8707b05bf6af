//! The words of a text: fields, texts and comments of its statements.

use std::ops::Range;

use crate::fmt::Statements;
use crate::mnemonics::Language;
use crate::statement::StatementParts;
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

/// A word, and whose word it is.
#[derive(Debug, Clone)]
pub(super) struct ScannedWord {
    pub(super) range: Range<usize>,
    pub(super) kind: WordKind,
    pub(super) language: Language,
}

/// Returns the words of the statements that touch a range.
pub(super) fn scan(statements: &Statements, range: &Range<usize>) -> Vec<ScannedWord> {
    let text = &statements.source().text;
    let mut scanner = Scanner { text, language: Language::default(), found: Vec::new() };
    let list = &statements.list;
    let after = list.partition_point(|(start, _)| *start <= range.start);
    let touching = list[after.saturating_sub(1)..].iter();
    for (_, parts) in touching.take_while(|(start, _)| *start <= range.end) {
        parts.iter().for_each(|parts| scanner.statement(parts));
    }
    scanner.found
}

struct Scanner<'t> {
    text: &'t [u8],
    language: Language,
    found: Vec<ScannedWord>,
}

impl Scanner<'_> {
    fn add(&mut self, range: Range<usize>, kind: WordKind) {
        if !range.is_empty() {
            self.found.push(ScannedWord { range, kind, language: self.language });
        }
    }

    fn statement(&mut self, parts: &StatementParts) {
        self.language = parts.language;
        let labels = parts.labels.iter().map(|(name, _)| (name, WordKind::Label));
        let assigned = (&parts.assigned, WordKind::Assigned);
        for (range, kind) in labels.chain([assigned, (&parts.operator, WordKind::Word)]) {
            // The operators `=` and `==` are not words.
            if !self.text[range.clone()].starts_with(b"=") {
                self.add(range.clone(), kind);
            }
        }
        self.operands(parts);
        self.add(parts.comment.clone(), WordKind::Comment);
    }

    fn operands(&mut self, parts: &StatementParts) {
        let StatementParts { language, operator, operands, .. } = parts;
        let operator = &self.text[operator.clone()];
        if language.takes_file(operator) {
            return self.add(operands.clone(), WordKind::Text);
        }
        let kind = language.tdl_directive(operator).map(Directive::operands);
        let is_text = matches!(kind, Some(OperandKind::Text | OperandKind::Texts));
        // Between brackets a text has expressions.
        let mut in_brackets = false;
        let mut at = operands.start;
        while at < operands.end {
            in_brackets = match self.text[at] {
                b'[' => true,
                b']' => false,
                _ => in_brackets,
            };
            let end = match language.is_zilog {
                true => self.zilog_operand(at, operands),
                false => self.operand(at, operands.end, is_text && !in_brackets),
            };
            at = end.max(at + 1);
        }
    }

    /// Adds the word at an offset of operands in Zilog's notation and returns its end.
    fn zilog_operand(&mut self, at: usize, operands: &Range<usize>) -> usize {
        let (text, behind) = (&self.text[operands.clone()], at - operands.start);
        let rest = &text[behind..];
        let (kind, length) = match rest[0] {
            b'\'' | b'"' => (WordKind::Text, zilog::quote_length(text, behind)),
            _ => {
                let number = zilog::number(rest).map(|number| number.length);
                (WordKind::Word, number.unwrap_or(zilog::symbol(rest).len()))
            }
        };
        // A single quote is the prime of AF'.
        if (kind, length) != (WordKind::Text, 1) {
            self.add(at..at + length, kind);
        }
        at + length
    }

    /// Adds the word at an offset and returns its end. `is_text` allows delimiters of any kind.
    fn operand(&mut self, at: usize, end: usize, is_text: bool) -> usize {
        let rest = &self.text[at..end];
        let begins_text = !matches!(rest[0], b' ' | b'\t' | b'\n' | b'\r' | b'[' | b']');
        let text = match rest[0] {
            _ if is_text && begins_text => lex::delimited_text(rest),
            b'\'' | b'"' => lex::quoted(rest),
            _ => Err(nom::Err::Error(())),
        };
        if let Ok((rest, _)) = text {
            self.add(at..end - rest.len(), WordKind::Text);
            return end - rest.len();
        }
        let length = rest.iter().take_while(|byte| lex::is_symbol(**byte)).count();
        self.add(at..at + length, WordKind::Word);
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

/// A word in a statement.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) statement: StatementParts,
    pub(super) field: Field,
    /// The word; it may be empty.
    pub(super) word: Range<usize>,
}

/// Returns the place at an offset.
pub(super) fn place_at(file: &File<'_>, offset: usize) -> Option<Place> {
    let statement = file.statement_at(offset)?;
    let field = field(&statement, offset);
    Some(Place { statement, field, word: word_at(file, offset) })
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
fn word_at(file: &File<'_>, offset: usize) -> Range<usize> {
    let text = &file.text;
    let language = file.language();
    let is_symbol = |byte: &&u8| language.is_symbol(**byte);
    let offset = offset.min(text.len());
    let before = text[..offset].iter().rev().take_while(is_symbol).count();
    let behind = text[offset..].iter().take_while(is_symbol).count();
    offset - before..offset + behind
}
