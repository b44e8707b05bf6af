//! The corpus: positions and arrays to judge the board by, with what documents say of them.
//!
//! Positions are lines of an EPD-like form: four fields of FEN, then `id "NAME";`, `tags "WORD ...";` and
//! `residue "SQUARE=POINTS ...";`, each optional but the first; `residue1978` is what a document says of the program
//! as it was printed. Arrays are a TOML file.

mod generate;
mod select;

pub use generate::{SEED, generate, to_epd};
pub use select::{Selection, Shard, shuffle};

use serde::Deserialize;

use crate::reference::{AttackersArray, FenError, Piece, Position, Square, parse_fen};

/// The positions and arrays that ship, by file name.
const SHIPPED: &[(&str, &str)] = &[
    ("documents.epd", include_str!("../../corpus/documents.epd")),
    ("odd.epd", include_str!("../../corpus/odd.epd")),
    ("generated.epd", include_str!("../../corpus/generated.epd")),
];
const ARRAYS: &str = include_str!("../../corpus/arrays.toml");

/// Something to ask the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// What reports call it; no two of a corpus share one.
    pub id: String,
    /// Words to select by.
    pub tags: Vec<String>,
    /// The question.
    pub subject: Subject,
}

/// What a case asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Examine a position.
    Position {
        /// The four fields of its FEN.
        fen: String,
        /// The same, understood.
        position: Position,
        /// Residues that a document gives.
        expected: Vec<(Square, u8)>,
        /// Residues that a document gives for the program of 1978.
        printed: Vec<(Square, u8)>,
    },
    /// Play out an exchange.
    Array {
        /// What stands on the square.
        piece: Piece,
        /// Who attacks and defends it.
        array: AttackersArray,
        /// What a document says of it.
        expected: Stated,
        /// What a document says of it in the program of 1978.
        printed: Option<Stated>,
    },
}

/// What a document says of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stated {
    /// The residue.
    pub residue: u8,
    /// Whether a count promises more than the exchange finds.
    pub short: bool,
}

/// Why a corpus is not understood.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A line's FEN.
    #[error("{file}:{line}: {error}")]
    Fen {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        error: FenError,
    },
    /// A line's opcodes.
    #[error("{file}:{line}: {problem}")]
    Opcode {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// The file of arrays.
    #[error("{file}: {problem}")]
    Arrays {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
    },
}

/// The corpus that ships.
///
/// # Errors
/// It never is wrong in a release; a test reads it.
pub fn shipped() -> Result<Vec<Case>, CorpusError> {
    let mut cases = parse_arrays("arrays.toml", ARRAYS)?;
    for (file, text) in SHIPPED {
        cases.extend(parse_positions(file, text)?);
    }
    Ok(cases)
}

/// Reads positions, one a line; empty lines and lines that start with `#` are passed over.
///
/// # Errors
/// The first line that is wrong.
pub fn parse_positions(file: &str, text: &str) -> Result<Vec<Case>, CorpusError> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(index, line)| parse_line(file, index + 1, line))
        .collect()
}

fn parse_line(file: &str, line: usize, text: &str) -> Result<Case, CorpusError> {
    let (fen, opcodes) = split_fen(text);
    let position =
        parse_fen(fen).map_err(|error| CorpusError::Fen { file: file.to_owned(), line, error })?;
    let wrong = |problem| CorpusError::Opcode { file: file.to_owned(), line, problem };
    let (mut id, mut tags) = (format!("{file}:{line}"), Vec::new());
    let (mut expected, mut printed) = (Vec::new(), Vec::new());
    for opcode in opcodes.split(';').map(str::trim).filter(|opcode| !opcode.is_empty()) {
        let (name, value) = quoted(opcode)
            .ok_or_else(|| wrong(format!("'{opcode}' is not of the form NAME \"VALUE\"")))?;
        match name {
            "id" => id = value.to_owned(),
            "tags" => tags.extend(value.split_whitespace().map(str::to_owned)),
            "residue" => expected = residues(value, &position).map_err(wrong)?,
            "residue1978" => printed = residues(value, &position).map_err(wrong)?,
            other => {
                let problem = format!("'{other}' is none of id, tags, residue and residue1978");
                return Err(wrong(problem));
            }
        }
    }
    let subject = Subject::Position { fen: fen.to_owned(), position, expected, printed };
    Ok(Case { id, tags, subject })
}

/// The first four words (or six, when they are numbers), and the rest.
fn split_fen(text: &str) -> (&str, &str) {
    let ends = |count: usize| {
        let mut end = 0;
        for word in text.split_ascii_whitespace().take(count) {
            end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
        }
        end
    };
    let six = ends(6);
    let clocks = text[ends(4)..six].split_ascii_whitespace();
    let all_numbers = clocks.clone().count() == 2 && clocks.clone().all(is_number);
    text.split_at(if all_numbers { six } else { ends(4) })
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

fn quoted(opcode: &str) -> Option<(&str, &str)> {
    let (name, value) = opcode.split_once(char::is_whitespace)?;
    Some((name, value.trim().strip_prefix('"')?.strip_suffix('"')?))
}

fn residues(value: &str, position: &Position) -> Result<Vec<(Square, u8)>, String> {
    let one = |word: &str| {
        let (square, points) = word.split_once('=')?;
        Some((Square::named(square)?, points.parse().ok()?))
    };
    let parsed = value.split_whitespace().map(|word| {
        let (square, points) =
            one(word).ok_or_else(|| format!("'{word}' is not of the form SQUARE=POINTS"))?;
        match position.on(square) {
            Some(_) => Ok((square, points)),
            None => Err(format!("{square} is empty")),
        }
    });
    parsed.collect()
}

/// The file of arrays.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArrayFile {
    array: Vec<ArrayEntry>,
}

/// One of its entries.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArrayEntry {
    id: String,
    piece: char,
    bytes: String,
    residue: u8,
    #[serde(default)]
    short: bool,
    residue1978: Option<u8>,
    #[serde(default)]
    short1978: bool,
}

/// Reads arrays.
///
/// # Errors
/// The first thing that is wrong.
pub fn parse_arrays(file: &str, text: &str) -> Result<Vec<Case>, CorpusError> {
    let wrong = |problem: String| CorpusError::Arrays { file: file.to_owned(), problem };
    let entries: ArrayFile = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let cases = entries.array.into_iter().map(|entry| {
        let ArrayEntry { id, piece, bytes, residue, short, residue1978, short1978 } = entry;
        let piece = Piece::from_letter(piece)
            .ok_or_else(|| wrong(format!("{id}: '{piece}' is not a piece")))?;
        let array = array_bytes(&bytes)
            .ok_or_else(|| wrong(format!("{id}: an array is 14 bytes in hexadecimal")))?;
        let expected = Stated { residue, short };
        let printed = residue1978.map(|residue| Stated { residue, short: short1978 });
        let subject = Subject::Array { piece, array, expected, printed };
        Ok(Case { id, tags: vec!["array".to_owned()], subject })
    });
    cases.collect()
}

fn array_bytes(text: &str) -> Option<AttackersArray> {
    let bytes: Option<Vec<u8>> =
        text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    Some(AttackersArray::from_bytes(&bytes?.try_into().ok()?))
}
