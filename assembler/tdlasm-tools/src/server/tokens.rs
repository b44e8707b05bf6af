//! Semantic tokens: the kind of each word of a text, for highlighting in editors.

use std::collections::HashMap;
use std::ops::Range;

use crate::mnemonics::{Language, WordClass};
use lsp_types::SemanticToken;
use serde_json::{Value, json};
use tdlasm::references::NameKind;

use super::positions::{LineIndex, utf16_len};
use super::words::{ScannedWord, WordKind, scan};
use super::workspace::File;

/// The kinds of words, in the order of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Instruction,
    Directive,
    Macro,
    Label,
    Constant,
    Variable,
    Parameter,
    Register,
    Number,
    Text,
    Comment,
}

/// The bit of the only modifier.
const DECLARATION: u32 = 1;

pub(super) fn legend() -> Value {
    json!({
        "tokenTypes": [
            "keyword", "decorator", "macro", "function", "enumMember", "variable", "parameter",
            "type", "number", "string", "comment",
        ],
        "tokenModifiers": ["declaration"],
    })
}

/// Returns the tokens of a file.
pub(super) fn tokens(file: &File<'_>) -> Vec<SemanticToken> {
    let Some(statements) = file.statements() else { return Vec::new() };
    let names = name_tokens(file);
    let mut encoder = Encoder::new(&file.text);
    for word in scan(&statements, &(0..file.text.len())) {
        let known = names.get(&word.range.start).copied();
        if let Some((token, modifiers)) = token(&file.text, &word, known) {
            encoder.add(word.range, token, modifiers);
        }
    }
    encoder.data
}

/// Returns the kinds of the names of a file, by place; the last of several names at a place.
fn name_tokens(file: &File<'_>) -> HashMap<usize, Token> {
    let mut kinds = HashMap::new();
    for program in file.programs() {
        let places = program.references_in(&file.path).iter();
        kinds.extend(places.filter_map(|place| {
            Some((place.start as usize, token_of(program.name(place.name).kind)?))
        }));
    }
    kinds
}

fn token_of(kind: NameKind) -> Option<Token> {
    match kind {
        NameKind::Label | NameKind::External => Some(Token::Label),
        NameKind::Variable => Some(Token::Variable),
        NameKind::Constant => Some(Token::Constant),
        NameKind::Macro => Some(Token::Macro),
        NameKind::Parameter => Some(Token::Parameter),
        NameKind::Language | NameKind::Undefined => None,
    }
}

/// Returns the kind of a word and its modifiers; `None` if the word is unknown.
fn token(text: &[u8], word: &ScannedWord, known: Option<Token>) -> Option<(Token, u32)> {
    let of_language = |language: Language| {
        Some(match language.class(&text[word.range.clone()])? {
            WordClass::Number => Token::Number,
            WordClass::Register => Token::Register,
            WordClass::Instruction => Token::Instruction,
            WordClass::Directive => Token::Directive,
        })
    };
    let token = match word.kind {
        WordKind::Label => return Some((Token::Label, DECLARATION)),
        WordKind::Assigned => return Some((known.unwrap_or(Token::Constant), DECLARATION)),
        WordKind::Text => Token::Text,
        WordKind::Comment => Token::Comment,
        WordKind::Word => known.or_else(|| of_language(word.language))?,
    };
    Some((token, 0))
}

/// Encodes tokens with relative positions; a token of several lines becomes one per line.
struct Encoder<'t> {
    lines: LineIndex<'t>,
    data: Vec<SemanticToken>,
    /// The line and the UTF-16 units before the last token.
    last_line: usize,
    last_start: u32,
}

impl<'t> Encoder<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self { lines: LineIndex::new(text), data: Vec::new(), last_line: 0, last_start: 0 }
    }

    fn add(&mut self, range: Range<usize>, token: Token, modifiers: u32) {
        let mut line = self.lines.line(range.start);
        while self.lines.start(line) < range.end && line < self.lines.count() {
            let first = self.lines.start(line);
            let text = self.lines.get(line);
            let start = range.start.max(first);
            let end = range.end.min(first + text.len());
            if start < end {
                let at = utf16_len(&text[..start - first]);
                let delta_line = (line - self.last_line) as u32;
                self.data.push(SemanticToken {
                    delta_line,
                    delta_start: if delta_line == 0 { at - self.last_start } else { at },
                    length: utf16_len(&text[start - first..end - first]),
                    token_type: token as u32,
                    token_modifiers_bitset: modifiers,
                });
                (self.last_line, self.last_start) = (line, at);
            }
            line += 1;
        }
    }
}
