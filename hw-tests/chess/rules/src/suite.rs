//! Reads lines of suites of exchange values: position, move, number or boolean, note.
//!
//! Engines keep such suites as text (`FEN; move; value; note`, `FEN | move | value`, fields
//! separated by blanks), as EPD (`pm` with `ce`), or as tables in their program text. One reader
//! takes all of them: the FEN first, then the move, then a number or a sum of pieces, a boolean,
//! or both; quotes, brackets and names around them are ignored. In a table `1,000` is ambiguous.
//!
//! ```
//! use chess_rules::epd::{EpdLine, read_line};
//!
//! let line = r#"    ("4k3/8/8/2PpP3/8/8/8/4K3 w - d6 0 2", "e5d6", 100, true), // a pawn"#;
//! let EpdLine::Position(entry) = read_line(line) else { panic!("a position") };
//! let suite = entry.suite.expect("a line of a suite")?;
//! assert_eq!((suite.text.as_str(), suite.holds), ("e5d6", Some(true)));
//! assert_eq!(suite.amount.map(|amount| amount.number), Some(100_000));
//! # Ok::<(), chess_rules::FenError>(())
//! ```

mod amount;
mod fields;
mod table;

pub use amount::{AMOUNT_UNITS, Amount};
pub(crate) use fields::Field;
pub(crate) use table::{TableRow, is_only_brackets};

use crate::{FenError, Move, Position};

/// A line of a suite.
///
/// A number alone is the value of the move, a boolean alone states whether the move loses nothing,
/// and a number with a boolean states whether the value is at least the number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteMove {
    /// The move as written in the line.
    pub text: String,
    /// The move.
    pub played: Move,
    /// The number, in the suite's own unit.
    pub amount: Option<Amount>,
    /// The boolean.
    pub holds: Option<bool>,
    /// The column of the number or boolean, from 1; of the move if the line ends there.
    pub column: usize,
    /// Text in place of a number or boolean that is neither; empty if the line ends there.
    pub unread: Option<String>,
    /// The text after the number and the boolean.
    pub note: Option<String>,
}

/// Reads the text after the fields of a FEN. `None` if it does not have the form of a suite.
pub(crate) fn of_text(
    position: &Position,
    rest: &str,
    column: usize,
) -> Option<Result<SuiteMove, FenError>> {
    let fields = fields::of_text(rest, column)?;
    let [first, after @ ..] = fields.as_slice() else { return None };
    let states = after.first().is_some_and(|field| is_stated(&field.text));
    let is_word = !first.text.contains(char::is_whitespace);
    let is_move = is_word && position.is_move_like(&first.text);
    let is_suite = match rest.trim_start().chars().next() {
        Some(';' | '|') => is_move || (is_word && states),
        _ => is_move && states,
    };
    is_suite.then(|| of_fields(position, &fields))
}

/// Reads `move, number, boolean, note`.
pub(crate) fn of_fields(position: &Position, fields: &[Field]) -> Result<SuiteMove, FenError> {
    let Some((first, after)) = fields.split_first() else {
        return Err(FenError { column: None, problem: "no move".to_owned() });
    };
    // Castling may be written with zeros.
    let is_move = position.is_move_like(&first.text);
    if first.text.is_empty() || (is_stated(&first.text) && !is_move) {
        return Err(FenError { column: Some(first.column), problem: "no move".to_owned() });
    }
    let played = position.try_find_move(&first.text);
    let played = played.map_err(|problem| FenError { column: Some(first.column), problem })?;
    let text = |at: usize| after.get(at).map(|field| field.text.as_str());
    let amount = text(0).and_then(Amount::read);
    let booleans = [text(0), text(1)].map(|text| text.and_then(boolean));
    if let ([Some(_), _], Some(field)) = (booleans, after.get(1))
        && Amount::read(&field.text).is_some_and(Amount::is_number)
    {
        let problem = "the boolean comes before the number: expected 'number, boolean'".to_owned();
        return Err(FenError { column: Some(field.column), problem });
    }
    if let [number, after, ..] = after
        && amount.is_some_and(Amount::is_number)
        && after.continues(number)
    {
        let Field { text, column, .. } = number;
        let problem = format!(
            "'{text},{}' is ambiguous: write a number without a comma, or a blank after the comma",
            after.text
        );
        return Err(FenError { column: Some(*column), problem });
    }
    let holds = if amount.is_some() { booleans[1] } else { booleans[0] };
    let count = usize::from(amount.is_some()) + usize::from(holds.is_some());
    let unread = (count == 0).then(|| text(0).unwrap_or_default().to_owned());
    let notes = after.iter().skip(count).map(|field| field.note());
    let note = notes.collect::<String>();
    let note = note.trim_matches(|c: char| ";|,".contains(c) || c.is_whitespace());
    Ok(SuiteMove {
        text: first.text.clone(),
        played,
        amount,
        holds,
        column: after.first().map_or(first.column, |field| field.column),
        unread,
        note: (!note.is_empty() && count > 0).then(|| note.to_owned()),
    })
}

fn is_stated(text: &str) -> bool {
    boolean(text).is_some() || Amount::read(text).is_some()
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}
