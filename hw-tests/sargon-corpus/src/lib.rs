//! The corpus: positions and arrays to judge the board by, with what documents say of them.
//!
//! Positions are lines of EPD ([`chess_rules::epd`]). Four operations mean something here: `id
//! "NAME";`, `tags "WORD ...";` and `residue "SQUARE=POINTS ...";`; `residue1978` is the residue
//! that a document gives for the program as it was printed. Arrays are a TOML file.
//!
//! ```
//! let text = "4k3/8/8/3p4/8/8/3R4/3RK3 w - - id \"mine\"; residue \"d5=1\";";
//! let cases = sargon_corpus::parse_positions("mine.epd", text)?;
//! assert_eq!(cases[0].id, "mine");
//! # Ok::<(), sargon_corpus::CorpusError>(())
//! ```

#[cfg(feature = "args")]
pub mod args;
pub mod encode;
mod generate;
mod select;

pub use generate::{SEED, generate, to_epd};
pub use select::{Selection, Shard, shuffle};

use serde::Deserialize;

use chess_rules::FenError;
use chess_rules::epd::{self, Entry, Line};
use sargon_analysis::boards;
use sargon_reference::{AttackersArray, Behaviour, Piece, Position, Square};

/// The positions and arrays that ship, by file name.
const SHIPPED: &[(&str, &str)] = &[
    ("documents.epd", include_str!("../corpus/documents.epd")),
    ("odd.epd", include_str!("../corpus/odd.epd")),
    ("generated.epd", include_str!("../corpus/generated.epd")),
];
const ARRAYS: &str = include_str!("../corpus/arrays.toml");

/// Something to ask the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Its name in reports; no two cases of a corpus share one.
    pub id: String,
    /// Words to select by.
    pub tags: Vec<String>,
    /// The question.
    pub subject: Subject,
}

/// The question of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Examine a position.
    Position {
        /// Its FEN, six fields.
        fen: String,
        /// The position in the reference's terms.
        position: Position,
        /// Residues that a document gives.
        expected: Vec<(Square, u8)>,
        /// Residues that a document gives for the program of 1978.
        printed: Vec<(Square, u8)>,
    },
    /// Play out an exchange.
    Array {
        /// The piece on the square.
        piece: Piece,
        /// Its attackers and defenders.
        array: AttackersArray,
        /// The result that a document states.
        expected: Stated,
        /// The result that a document states for the program of 1978.
        printed: Option<Stated>,
    },
}

/// The result of an exchange by a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stated {
    /// The residue.
    pub residue: u8,
    /// Whether a count promises more than the exchange finds.
    pub short: bool,
}

/// Error returned if a corpus is not understood.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A line's FEN or the form of its operations.
    #[error("{}", located(file, *line, error))]
    Line {
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

/// Writes a problem of a line with its place: file, line and column.
#[must_use]
pub fn located(file: &str, line: usize, error: &FenError) -> String {
    match error.column {
        Some(column) => format!("{file}:{line}:{column}: {error}"),
        None => format!("{file}:{line}: {error}"),
    }
}

/// Returns the corpus that ships.
///
/// # Errors
/// Never in a release: a test reads it.
pub fn shipped() -> Result<Vec<Case>, CorpusError> {
    let mut cases = parse_arrays("arrays.toml", ARRAYS)?;
    for (file, text) in SHIPPED {
        cases.extend(parse_positions(file, text)?);
    }
    Ok(cases)
}

/// Returns the files of positions that ship, by name.
pub fn shipped_positions() -> impl Iterator<Item = (&'static str, &'static str)> {
    SHIPPED.iter().copied()
}

/// Reads positions, one a line; empty lines and comments are passed over. A position without an
/// `id` is called after its line.
///
/// # Errors
/// Returns the first line that is not understood.
pub fn parse_positions(file: &str, text: &str) -> Result<Vec<Case>, CorpusError> {
    let mut cases = Vec::new();
    for (line, read) in (1..).zip(epd::read(text)) {
        match read {
            Line::Nothing => {}
            Line::Position(entry) => cases.push(case(file, line, &entry)?),
            Line::Refused(error) => {
                return Err(CorpusError::Line { file: file.to_owned(), line, error });
            }
        }
    }
    Ok(cases)
}

fn case(file: &str, line: usize, entry: &Entry) -> Result<Case, CorpusError> {
    let position = boards::position(&entry.position);
    let wrong = |problem| CorpusError::Opcode { file: file.to_owned(), line, problem };
    let expected = stated_residues(entry, Behaviour::Mended, &position).map_err(wrong)?;
    let printed = stated_residues(entry, Behaviour::AsIn1978, &position).map_err(wrong)?;
    let fen = entry.position.to_string();
    let subject = Subject::Position { fen, position, expected, printed };
    let id = entry.id().unwrap_or_else(|| format!("{file}:{line}"));
    Ok(Case { id, tags: words(entry, "tags"), subject })
}

/// The words of an operation's operands, quoted or not.
fn words(entry: &Entry, opcode: &str) -> Vec<String> {
    let operands = entry.operands(opcode).unwrap_or_default().iter();
    operands.flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
}

/// Returns the residues that a line states for a behaviour.
///
/// # Errors
/// Returns the problem if a residue has another form or its square is empty.
pub fn stated_residues(
    entry: &Entry,
    behaviour: Behaviour,
    position: &Position,
) -> Result<Vec<(Square, u8)>, String> {
    let opcode = match behaviour {
        Behaviour::Mended => "residue",
        Behaviour::AsIn1978 => "residue1978",
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
