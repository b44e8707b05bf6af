//! Semantic tokens: what each word of a text is, for editors that colour it.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensDelta,
    SemanticTokensEdit, SemanticTokensFullDeltaResult, SemanticTokensLegend,
};

use tdlasm::references::Kind;
use tdlasm_rewrite::convert::words::{is_tdl_directive, tdl_forms, tdl_register};

use super::pieces::{Piece, PieceKind, pieces};
use super::text::{Lines, units};
use super::words::statements;
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

/// The legend of the numbers in the tokens.
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

/// The tokens that editors were given last, so that they can be told what differs.
#[derive(Debug, Default)]
pub(super) struct Given {
    files: HashMap<PathBuf, SemanticTokens>,
    count: u64,
}

impl Given {
    /// The tokens of a file, with a number.
    pub(super) fn full(&mut self, path: &Path, tokens: SemanticTokens) -> SemanticTokens {
        self.count += 1;
        let numbered = SemanticTokens { result_id: Some(self.count.to_string()), ..tokens };
        self.files.insert(path.to_owned(), numbered.clone());
        numbered
    }

    /// The difference of a file's tokens from those with a number; all of them if these are not
    /// known any more.
    pub(super) fn delta(
        &mut self,
        path: &Path,
        tokens: SemanticTokens,
        from: &str,
    ) -> SemanticTokensFullDeltaResult {
        let known = self.files.remove(path);
        let tokens = self.full(path, tokens);
        match known.filter(|known| known.result_id.as_deref() == Some(from)) {
            None => SemanticTokensFullDeltaResult::Tokens(tokens),
            Some(known) => SemanticTokensFullDeltaResult::TokensDelta(SemanticTokensDelta {
                edits: difference(&known.data, &tokens.data).into_iter().collect(),
                result_id: tokens.result_id,
            }),
        }
    }

    /// Forgets a file that was closed.
    pub(super) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }
}

/// The one edit that makes `new` of `old`; a token is five numbers.
fn difference(old: &[SemanticToken], new: &[SemanticToken]) -> Option<SemanticTokensEdit> {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let inserted = &new[..new.len() - tail];
    let deleted = old.len() - tail;
    (deleted > 0 || !inserted.is_empty()).then(|| SemanticTokensEdit {
        start: 5 * same as u32,
        delete_count: 5 * deleted as u32,
        data: Some(inserted.to_vec()),
    })
}

/// The tokens of a file.
pub(super) fn tokens(workspace: &Workspace, path: &Path, text: &[u8]) -> SemanticTokens {
    let names = names(workspace, path);
    let pieces = statements(workspace, path, text).map_or_else(Vec::new, |all| pieces(&all));
    let found = pieces.into_iter().filter_map(|piece| {
        let (token, modifiers) = token(text, &piece, &names)?;
        Some((piece.0, token, modifiers))
    });
    SemanticTokens { result_id: None, data: encoded(text, &found.collect::<Vec<_>>()) }
}

/// Returns the kinds of the names of a file, by place.
fn names(workspace: &Workspace, path: &Path) -> HashMap<usize, Token> {
    let mut found = HashMap::new();
    for program in workspace.readers(path) {
        let Some(file) = program.file(path) else { continue };
        for place in program.places().iter().filter(|place| place.file == file) {
            if let Some(token) = token_of(program.name(place.name).kind) {
                found.insert(place.start as usize, token);
            }
        }
    }
    found
}

fn token_of(kind: Kind) -> Option<Token> {
    match kind {
        Kind::Label | Kind::External => Some(Token::Label),
        Kind::Variable => Some(Token::Variable),
        Kind::Constant => Some(Token::Constant),
        Kind::Macro => Some(Token::Macro),
        Kind::Parameter => Some(Token::Parameter),
        Kind::Language | Kind::Undefined => None,
    }
}

/// Returns the kind of a piece of a statement, and its modifiers; `None` if it is nothing that is
/// known.
fn token(text: &[u8], piece: &Piece, names: &HashMap<usize, Token>) -> Option<(Token, u32)> {
    let (stretch, kind) = piece;
    let known = names.get(&stretch.start).copied();
    let word = &text[stretch.clone()];
    let token = match kind {
        PieceKind::Label => return Some((Token::Label, DECLARATION)),
        PieceKind::Assigned => return Some((known.unwrap_or(Token::Constant), DECLARATION)),
        PieceKind::Text => Token::Text,
        PieceKind::Comment => Token::Comment,
        PieceKind::Word => match known {
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

/// The tokens as differences of places; one of several lines becomes one a line.
fn encoded(text: &[u8], found: &[(Range<usize>, Token, u32)]) -> Vec<SemanticToken> {
    let lines = Lines::new(text);
    let mut data = Vec::new();
    let mut last_line = 0;
    let mut last_start = 0;
    for (stretch, token, modifiers) in found {
        for line in lines.line(stretch.start)..=lines.line(stretch.end.saturating_sub(1)) {
            let start = stretch.start.max(lines.start(line));
            let end = stretch.end.min(lines.start(line) + lines.get(line).len());
            if start >= end {
                continue;
            }
            let at = units(&text[lines.start(line)..start]);
            let length = units(&text[start..end]);
            let delta_line = line as u32 - last_line;
            let same = line as u32 == last_line;
            data.push(SemanticToken {
                delta_line,
                delta_start: if same { at - last_start } else { at },
                length,
                token_type: *token as u32,
                token_modifiers_bitset: *modifiers,
            });
            (last_line, last_start) = (line as u32, at);
        }
    }
    data
}
