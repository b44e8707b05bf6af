//! Reads files of positions: EPD with any operations, FEN, suites of exchange values.
//!
//! A line has four fields of FEN, optional clocks, then operations ended by semicolons:
//!
//! ```
//! use chess_rules::epd::{EpdLine, read};
//!
//! let text = "# one comment\n6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8#; id \"mate\";\n";
//! let EpdLine::Position(entry) = &read(text)[1] else { panic!("a position") };
//! assert_eq!(entry.id().as_deref(), Some("mate"));
//! assert_eq!(entry.moves[0].uci, ["d1d8"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The reader accepts more than the specification of EPD: six fields, clocks as operations, strings
//! without quotes, unknown operations, moves with judgements or in UCI, results of tuning sets.
//! A line is invalid only if its position is ambiguous; the other lines are read.

mod entry;
mod line;
mod operations;

use crate::FenError;

pub use entry::{EpdEntry, MoveOperands, Operation, SuiteMove};

/// The kind of a line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EpdLine {
    /// An empty line or a comment.
    Blank,
    /// A position with its operations.
    Position(Box<EpdEntry>),
    /// An invalid line: the problem and its column.
    Invalid(FenError),
}

/// Reads all lines of a text; a byte-order mark at its beginning is skipped.
pub fn read(text: &str) -> Vec<EpdLine> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    text.lines().map(read_line).collect()
}

/// Reads one line.
///
/// ```
/// use chess_rules::epd::{EpdLine, read_line};
/// assert_eq!(read_line("  % a comment"), EpdLine::Blank);
/// let EpdLine::Invalid(error) = read_line("4k3/8/8/8/8/8/8/4K3 x - -") else { panic!() };
/// assert_eq!(error.column, Some(21));
/// ```
pub fn read_line(text: &str) -> EpdLine {
    let text = text.trim_end_matches(['\r', '\n']);
    let start = text.trim_start();
    if start.is_empty() || ["#", ";", "%", "//"].iter().any(|mark| start.starts_with(mark)) {
        return EpdLine::Blank;
    }
    match line::read(text) {
        Ok(entry) => EpdLine::Position(Box::new(entry)),
        Err(error) => EpdLine::Invalid(error),
    }
}
