//! The test corpus: positions and attackers arrays for boards, with the results that documents
//! give; and the [analysis] of the exchanges in a position.
//!
//! Positions are lines of EPD ([`chess_rules::epd`]). Four operations are used: `id
//! "NAME";`, `tags "WORD ...";` and `residue "SQUARE=POINTS ...";`; `original` is the residue
//! that a document gives for the original program. Arrays are a TOML file.
//!
//! ```
//! let text = "4k3/8/8/3p4/8/8/3R4/3RK3 w - - id \"mine\"; residue \"d5=1\";";
//! let cases = sargon_corpus::parse_positions("mine.epd", text)?;
//! assert_eq!(cases[0].id, "mine");
//! # Ok::<(), sargon_corpus::CorpusError>(())
//! ```

pub mod analysis;
#[cfg(feature = "args")]
pub mod args;
pub mod encode;
mod generate;

pub use generate::{CORPUS_SEED, generate, placement, to_epd};

use serde::Deserialize;

use crate::analysis::convert;
use chess_rules::FenError;
use chess_rules::epd::{self, EpdEntry, EpdLine};
use sargon_reference::{AttackersArray, Behaviour, Piece, Position, Square};

/// The built-in files of positions, by name.
const POSITION_FILES: &[(&str, &str)] = &[
    ("documents.epd", include_str!("../corpus/documents.epd")),
    ("odd.epd", include_str!("../corpus/odd.epd")),
    ("generated.epd", include_str!("../corpus/generated.epd")),
];
const ARRAYS: &str = include_str!("../corpus/arrays.toml");

/// A test case for a board.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Case {
    /// Its name in reports; no two cases of a corpus share one.
    pub id: String,
    /// Tags for selection.
    pub tags: Vec<String>,
    /// The input.
    pub subject: CaseInput,
}

impl Case {
    /// Returns a warning with the location of its line if it is a position that no game reaches.
    #[must_use]
    pub fn impossible_warning(&self, file: &str, line: usize) -> Option<String> {
        let CaseInput::Position { fen, .. } = &self.subject else { return None };
        let reasons = chess_rules::Position::from_fen(fen).ok()?.impossible();
        impossible_warning(file, line, &reasons)
    }
}

/// Returns a warning with location if there are reasons why no game reaches a position.
fn impossible_warning(file: &str, line: usize, reasons: &[String]) -> Option<String> {
    (!reasons.is_empty()).then(|| {
        let reasons = reasons.join(", ");
        format!("{file}:{line}: warning: no game reaches this position: {reasons}")
    })
}

/// The input of a case, with its documented results.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CaseInput {
    /// A position to evaluate.
    Position {
        /// Its FEN, six fields.
        fen: String,
        /// The position for the reference.
        position: Position,
        /// The documented residues.
        expected: Vec<(Square, u8)>,
        /// The documented residues for the original program.
        original: Vec<(Square, u8)>,
    },
    /// An exchange to evaluate.
    Array {
        /// The piece on the square.
        piece: Piece,
        /// Its attackers and defenders.
        array: AttackersArray,
        /// The documented result.
        expected: DocumentedResult,
        /// The documented result for the original program.
        original: Option<DocumentedResult>,
    },
}

/// The result of an exchange by a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DocumentedResult {
    /// The residue.
    pub residue: u8,
    /// Whether a count exceeds the pieces in its section.
    pub short: bool,
}

/// Error returned if a corpus can't be parsed.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A line's FEN or the form of its operations.
    #[error("{}", with_location(file, *line, error))]
    EpdLine {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The problem and its column.
        error: FenError,
    },
    /// A line's residues.
    #[error("{file}:{line}: {problem}")]
    Opcode {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// The file of arrays.
    #[error("{file}: {problem}")]
    Arrays {
        /// The file.
        file: String,
        /// The problem.
        problem: String,
    },
}

/// Formats an error of a line with file, line and column.
pub fn with_location(file: &str, line: usize, error: &FenError) -> String {
    match error.column {
        Some(column) => format!("{file}:{line}:{column}: {error}"),
        None => format!("{file}:{line}: {error}"),
    }
}

/// Returns the built-in corpus.
///
/// # Errors
/// Never in a release: a test parses it.
pub fn builtin_corpus() -> Result<Vec<Case>, CorpusError> {
    let mut cases = parse_arrays("arrays.toml", ARRAYS)?;
    for (file, text) in POSITION_FILES {
        cases.extend(parse_positions(file, text)?);
    }
    Ok(cases)
}

/// Returns the built-in files of positions, by name.
pub fn builtin_position_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    POSITION_FILES.iter().copied()
}

/// Parses positions, one a line; empty lines and comments are skipped. A position without an `id`
/// is named after its line.
///
/// # Errors
/// Returns the error of the first invalid line.
pub fn parse_positions(file: &str, text: &str) -> Result<Vec<Case>, CorpusError> {
    let lines = (1..).zip(text.lines());
    lines.filter_map(|(line, text)| parse_line(file, line, text).transpose()).collect()
}

/// Parses a line, numbered from 1, as [`parse_positions`] does; `None` if it has no position.
///
/// # Errors
/// Returns the error of an invalid line.
pub fn parse_line(file: &str, line: usize, text: &str) -> Result<Option<Case>, CorpusError> {
    // A byte-order mark is valid at the beginning of a file only.
    let text = text.strip_prefix('\u{FEFF}').filter(|_| line == 1).unwrap_or(text);
    match epd::read_line(text) {
        EpdLine::Blank => Ok(None),
        EpdLine::Position(entry) => case(file, line, &entry).map(Some),
        EpdLine::Invalid(error) => Err(CorpusError::EpdLine { file: file.to_owned(), line, error }),
    }
}

fn case(file: &str, line: usize, entry: &EpdEntry) -> Result<Case, CorpusError> {
    let position = convert::position(&entry.position);
    let wrong = |problem| CorpusError::Opcode { file: file.to_owned(), line, problem };
    let expected = documented_residues(entry, Behaviour::Corrected, &position).map_err(wrong)?;
    let original = documented_residues(entry, Behaviour::Original, &position).map_err(wrong)?;
    let fen = entry.position.to_string();
    let subject = CaseInput::Position { fen, position, expected, original };
    let id = entry.id().unwrap_or_else(|| format!("{file}:{line}"));
    Ok(Case { id, tags: words(entry, "tags"), subject })
}

/// The words of an operation's operands, quoted or not.
fn words(entry: &EpdEntry, opcode: &str) -> Vec<String> {
    let operands = entry.operands(opcode).unwrap_or_default().iter();
    operands.flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
}

/// Returns the documented residues of a line for a behaviour.
///
/// # Errors
/// Returns the problem if a residue has another form or its square is empty.
pub fn documented_residues(
    entry: &EpdEntry,
    behaviour: Behaviour,
    position: &Position,
) -> Result<Vec<(Square, u8)>, String> {
    let opcode = match behaviour {
        Behaviour::Corrected => "residue",
        Behaviour::Original => "original",
    };
    residues(&words(entry, opcode), position)
}

fn residues(words: &[String], position: &Position) -> Result<Vec<(Square, u8)>, String> {
    let one = |word: &str| {
        let (square, points) = word.split_once('=')?;
        Some((Square::named(square)?, points.parse().ok()?))
    };
    let parsed = words.iter().map(|word| {
        let (square, points) =
            one(word).ok_or_else(|| format!("invalid residue '{word}': expected SQUARE=POINTS"))?;
        match position.on(square) {
            Some(_) => Ok((square, points)),
            None => Err(format!("{square} is empty")),
        }
    });
    parsed.collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArrayFile {
    array: Vec<ArrayEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArrayEntry {
    id: String,
    piece: char,
    bytes: String,
    residue: u8,
    #[serde(default)]
    short: bool,
    original_residue: Option<u8>,
    #[serde(default)]
    original_short: bool,
}

/// Parses arrays.
///
/// # Errors
/// Returns the first error.
pub fn parse_arrays(file: &str, text: &str) -> Result<Vec<Case>, CorpusError> {
    let wrong = |problem: String| CorpusError::Arrays { file: file.to_owned(), problem };
    let entries: ArrayFile = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let cases = entries.array.into_iter().map(|entry| {
        let ArrayEntry { id, piece, bytes, residue, short, original_residue, original_short } =
            entry;
        let piece = Piece::from_letter(piece)
            .ok_or_else(|| wrong(format!("{id}: '{piece}' is not a piece")))?;
        let array = array_bytes(&bytes)
            .ok_or_else(|| wrong(format!("{id}: an array is 14 bytes in hexadecimal")))?;
        let expected = DocumentedResult { residue, short };
        let original =
            original_residue.map(|residue| DocumentedResult { residue, short: original_short });
        let subject = CaseInput::Array { piece, array, expected, original };
        Ok(Case { id, tags: vec!["array".to_owned()], subject })
    });
    cases.collect()
}

fn array_bytes(text: &str) -> Option<AttackersArray> {
    let bytes: Option<Vec<u8>> =
        text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    Some(AttackersArray::from_bytes(&bytes?.try_into().ok()?))
}
