//! Semantic tokens: the kind of each word of a text, for highlighting in editors.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lsp_types::{SemanticTokenModifier, SemanticTokenType, SemanticTokensLegend};
use serde::{Serialize, Serializer};
use tdlasm::references::NameKind;
use tdlasm_rewrite::convert::mnemonics::{is_tdl_directive, tdl_forms, tdl_register};

use super::positions::{LineIndex, utf16_len};
use super::words::{ScannedWord, WordKind, scan, scan_range};
use super::workspace::Workspace;

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

pub(super) fn legend() -> SemanticTokensLegend {
    let token_types = vec![
        SemanticTokenType::KEYWORD,
        SemanticTokenType::DECORATOR,
        SemanticTokenType::MACRO,
        SemanticTokenType::FUNCTION,
        SemanticTokenType::ENUM_MEMBER,
        SemanticTokenType::VARIABLE,
        SemanticTokenType::PARAMETER,
        SemanticTokenType::TYPE,
        SemanticTokenType::NUMBER,
        SemanticTokenType::STRING,
        SemanticTokenType::COMMENT,
    ];
    SemanticTokensLegend { token_types, token_modifiers: vec![SemanticTokenModifier::DECLARATION] }
}

/// Returns the tokens of a file, or of the statements that touch a range of it.
pub(super) fn tokens(
    workspace: &Workspace,
    path: &Path,
    text: &[u8],
    range: Option<Range<usize>>,
) -> Vec<EncodedToken> {
    let Some(statements) = workspace.statements(path, text) else { return Vec::new() };
    let pieces = match range {
        None => scan(&statements),
        Some(range) => scan_range(&statements, &range),
    };
    let mut names = NameTokens::of(workspace, path);
    let mut encoder = Encoder::new(text);
    for piece in pieces {
        let known = names.at(piece.0.start);
        if let Some((token, modifiers)) = token(text, &piece, known) {
            encoder.add(piece.0, token, modifiers);
        }
    }
    encoder.data
}

/// The kinds of the names of a file, by place.
struct NameTokens {
    kinds: Vec<(usize, Token)>,
    /// The index of the first name not before the last looked-up place.
    next: usize,
}

impl NameTokens {
    fn of(workspace: &Workspace, path: &Path) -> Self {
        let mut kinds = Vec::new();
        for program in workspace.programs_including(path) {
            let Some(file) = program.file(path) else { continue };
            let places = program.file_references_in(file).iter();
            kinds.extend(places.filter_map(|place| {
                Some((place.start as usize, token_of(program.name(place.name).kind)?))
            }));
        }
        // If there are several names at a place, the last one is used.
        kinds.sort_by_key(|(start, _)| *start);
        Self { kinds, next: 0 }
    }

    /// Returns the kind of the name at a place; places must be looked up in ascending order.
    fn at(&mut self, place: usize) -> Option<Token> {
        let before = self.kinds[self.next..].iter().take_while(|(start, _)| *start < place);
        self.next += before.count();
        let here = self.kinds[self.next..].iter().take_while(|(start, _)| *start == place);
        here.last().map(|(_, token)| *token)
    }
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
fn token(text: &[u8], piece: &ScannedWord, known: Option<Token>) -> Option<(Token, u32)> {
    let (range, kind) = piece;
    let word = &text[range.clone()];
    let token = match kind {
        WordKind::Label => return Some((Token::Label, DECLARATION)),
        WordKind::Assigned => return Some((known.unwrap_or(Token::Constant), DECLARATION)),
        WordKind::Text => Token::Text,
        WordKind::Comment => Token::Comment,
        WordKind::Word => match known {
            Some(token) => token,
            None if word[0].is_ascii_digit() => Token::Number,
            None if tdl_register(word).is_some() => Token::Register,
            None if !tdl_forms(word).is_empty() => Token::Instruction,
            None if is_tdl_directive(word) => Token::Directive,
            None => return None,
        },
    };
    Some((token, 0))
}

/// Encodes tokens with relative positions; a token of several lines becomes one per line.
struct Encoder<'t> {
    lines: LineIndex<'t>,
    data: Vec<EncodedToken>,
    /// The line and the UTF-16 units before the last token.
    last_line: usize,
    last_start: u32,
}

impl<'t> Encoder<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self { lines: LineIndex::new(text), data: Vec::new(), last_line: 0, last_start: 0 }
    }

    fn add(&mut self, range: Range<usize>, token: Token, modifiers: u32) {
        let mut line = self.line(range.start);
        while self.lines.start(line) < range.end && line < self.lines.count() {
            let first = self.lines.start(line);
            let text = self.lines.get(line);
            let start = range.start.max(first);
            let end = range.end.min(first + text.len());
            if start < end {
                let at = utf16_len(&text[..start - first]);
                let length = utf16_len(&text[start - first..end - first]);
                let lines = (line - self.last_line) as u32;
                let delta = if lines == 0 { at - self.last_start } else { at };
                self.data.push([lines, delta, length, token as u32, modifiers]);
                (self.last_line, self.last_start) = (line, at);
            }
            line += 1;
        }
    }

    /// Returns the line of an offset; fast if it is that of the last token or the next.
    fn line(&self, offset: usize) -> usize {
        let near = self.last_line..(self.last_line + 3).min(self.lines.count());
        let within = |line: &usize| {
            self.lines.start(*line) <= offset
                && (offset < self.lines.start(line + 1) || line + 1 == self.lines.count())
        };
        near.into_iter().find(within).unwrap_or_else(|| self.lines.line(offset))
    }
}

/// A token as the protocol encodes it: line delta, start delta, length, type, modifiers.
pub(super) type EncodedToken = [u32; 5];

/// A list of tokens, serialized as a flat array of numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct TokenData(Rc<Vec<EncodedToken>>);

impl Serialize for TokenData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_flattened().serialize(serializer)
    }
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tokens {
    /// The id with which the editor requests the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_id: Option<String>,
    data: TokenData,
}

impl Tokens {
    /// Creates a reply to which no later request can refer.
    pub(super) fn without_id(found: Vec<EncodedToken>) -> Self {
        Self { result_id: None, data: TokenData(Rc::new(found)) }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenEdit {
    start: usize,
    delete_count: usize,
    data: TokenData,
}

/// The reply to a request for the difference.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum TokensDelta {
    /// All tokens, if the previous reply is not cached.
    Tokens(Tokens),
    #[serde(rename_all = "camelCase")]
    Edits { result_id: Option<String>, edits: Vec<TokenEdit> },
}

/// The tokens of the last reply for each file.
#[derive(Debug, Default)]
pub(super) struct TokenCache {
    files: HashMap<PathBuf, Tokens>,
    count: u64,
}

impl TokenCache {
    /// Caches the tokens of a file and returns them with a new id.
    pub(super) fn full(&mut self, path: &Path, found: Vec<EncodedToken>) -> Tokens {
        self.count += 1;
        let result_id = Some(self.count.to_string());
        let numbered = Tokens { result_id, data: TokenData(Rc::new(found)) };
        self.files.insert(path.to_owned(), numbered.clone());
        numbered
    }

    /// Caches the tokens of a file and returns the difference from the reply with the id `from`, or
    /// all tokens if that reply is not cached.
    pub(super) fn delta(
        &mut self,
        path: &Path,
        found: Vec<EncodedToken>,
        from: &str,
    ) -> TokensDelta {
        let known = self.files.remove(path);
        let tokens = self.full(path, found);
        match known.filter(|known| known.result_id.as_deref() == Some(from)) {
            None => TokensDelta::Tokens(tokens),
            Some(known) => {
                let edits = difference(&known.data.0, &tokens.data.0).into_iter().collect();
                TokensDelta::Edits { result_id: tokens.result_id, edits }
            }
        }
    }

    /// Removes a closed file.
    pub(super) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }
}

/// Returns the edit that turns `old` into `new`; `None` if they are equal.
fn difference(old: &[EncodedToken], new: &[EncodedToken]) -> Option<TokenEdit> {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let inserted = &new[..new.len() - tail];
    let deleted = old.len() - tail;
    (deleted > 0 || !inserted.is_empty()).then(|| TokenEdit {
        start: 5 * same,
        delete_count: 5 * deleted,
        data: TokenData(Rc::new(inserted.to_vec())),
    })
}
