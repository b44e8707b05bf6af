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
//! A line is invalid only if its position is ambiguous; the other lines are read. Lines of
//! [suites](crate::suite) keep why they can't be judged.

mod entry;
mod line;
mod operations;
mod write;

use crate::FenError;
use crate::suite::{self, TableRow};

pub use entry::{EpdEntry, MoveOperands, Operation};

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
///
/// A row of a table in program text may continue on the lines after it, which then are blank.
pub fn read(text: &str) -> Vec<EpdLine> {
    read_further(text.strip_prefix('\u{FEFF}').unwrap_or(text))
}

/// Reads lines as [`read`], of a text that is not the beginning of its file.
pub fn read_further(text: &str) -> Vec<EpdLine> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::with_capacity(lines.len());
    while let Some(line) = lines.get(found.len()) {
        let more = continuation(line, &lines[found.len() + 1..]);
        if more == 0 {
            found.push(read_line(line));
            continue;
        }
        let after = lines[found.len() + 1..].iter().take(more).map(|line| line.trim());
        found.push(read_line(&std::iter::once(*line).chain(after).collect::<String>()));
        found.extend(std::iter::repeat_n(EpdLine::Blank, more));
    }
    found
}

/// The maximum number of lines on which a row continues.
const MAX_CONTINUATION: usize = 8;

fn is_open(row: &TableRow<'_>) -> bool {
    !row.is_closed && row.fields.len() < 2 && !row.string.contains([';', '|'])
}

/// Returns the number of lines up to the end of a row that begins on `line`; 0 if it ends there.
fn continuation(line: &str, after: &[&str]) -> usize {
    if !TableRow::read(line).is_some_and(|row| is_open(&row)) {
        return 0;
    }
    let mut row = (*line).to_owned();
    for (count, next) in after.iter().take(MAX_CONTINUATION).enumerate() {
        if TableRow::read(next).is_some() {
            return 0;
        }
        row.push_str(next.trim());
        if TableRow::read(&row).is_some_and(|row| row.is_closed) {
            return count + 1;
        }
    }
    0
}

/// Returns the length of the lines, each with its end, that can be read without those after them:
/// all but a row of a table that may continue.
///
/// ```
/// use chess_rules::epd::complete;
/// let line = "4k3/8/8/8/8/8/8/4K3 w - -\n";
/// let table = format!("{line}(\"4k3/8/8/8/8/8/8/4K3 w - -\",\n");
/// assert_eq!(complete(&table), line.len());
/// ```
pub fn complete(text: &str) -> usize {
    let mut start = text.len();
    let lines = text.split_inclusive('\n').rev().take(MAX_CONTINUATION);
    let starts = lines.filter_map(|line| {
        start -= line.len();
        let is_complete = || {
            let after: Vec<&str> = text[start..].lines().skip(1).collect();
            continuation(line, &after) > 0
        };
        let is_open = TableRow::read(line).is_some_and(|row| is_open(&row));
        (is_open && !is_complete()).then_some(start)
    });
    starts.last().unwrap_or(text.len())
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
    if suite::is_only_brackets(start)
        || ["#", ";", "%", "//"].iter().any(|mark| start.starts_with(mark))
    {
        return EpdLine::Blank;
    }
    match line::read(text) {
        Ok(entry) => EpdLine::Position(Box::new(entry)),
        Err(error) => EpdLine::Invalid(error),
    }
}
