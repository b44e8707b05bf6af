//! The JSON fields that describe a line of a file of positions.

use std::collections::BTreeMap;
use std::fmt;

use chess_rules::FenError;
use chess_rules::suite::AMOUNT_UNITS;
use serde::Serialize;

use super::{NamedPosition, SourceLocation};

/// The parsed position of a line.
#[derive(Serialize)]
pub struct PositionHeader<'a> {
    file: &'a str,
    line: usize,
    kind: &'static str,
    id: &'a str,
    fen: &'a str,
    /// Name and operands of each operation, in order.
    ops: Vec<(&'a str, &'a [String])>,
    /// The moves among the operands in UCI, by operation.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    moves: BTreeMap<&'a str, Vec<&'a str>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    chess960: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<SuiteEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rest: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warn: Option<String>,
    /// Why no game reaches the position.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    impossible: &'a [String],
}

/// The move of a test suite's line.
#[derive(Serialize)]
struct SuiteEntry<'a> {
    #[serde(rename = "move")]
    text: &'a str,
    uci: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Decimal>,
    /// The pieces of a sum, in the order pawn to king.
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<[i32; 6]>,
    /// With a boolean the value is a threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

impl<'a> PositionHeader<'a> {
    pub(super) fn of(named: &'a NamedPosition) -> Self {
        let entry = &named.entry;
        let position = &entry.position;
        let mut moves: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for found in &entry.moves {
            let uci = found.uci.iter().map(String::as_str);
            moves.entry(found.opcode.as_str()).or_default().extend(uci);
        }
        let operations = entry.operations.iter();
        let suite = entry.suite.as_ref().and_then(|suite| suite.as_ref().ok());
        let suite = suite.map(|suite| SuiteEntry {
            text: &suite.text,
            uci: position.uci(suite.played),
            value: suite.amount.map(|amount| Decimal::of(amount.number, AMOUNT_UNITS)),
            pieces: suite.amount.filter(|sum| !sum.is_number()).map(|sum| sum.pieces),
            holds: suite.holds,
            note: suite.note.as_deref(),
        });
        Self {
            file: &named.place.file,
            line: named.place.line,
            kind: "position",
            id: &named.id,
            fen: &named.fen,
            ops: operations.map(|o| (o.opcode.as_str(), o.operands.as_slice())).collect(),
            moves,
            chess960: position.is_chess960(),
            suite,
            rest: entry.rest.as_deref(),
            warn: entry.warning(),
            impossible: &named.impossible,
        }
    }
}

/// A number of JSON: whole if it can be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Decimal {
    /// A whole number.
    Whole(i64),
    /// A number with decimals.
    Fraction(f64),
}

impl Decimal {
    /// Divides a number by the number of units in 1.
    pub fn of(number: i64, units: i64) -> Self {
        match number % units {
            0 => Self::Whole(number / units),
            _ => Self::Fraction(number as f64 / units as f64),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Fraction(number) => number.fmt(f),
        }
    }
}

/// An invalid line.
#[derive(Serialize)]
pub struct RejectedLine<'a> {
    file: &'a str,
    line: usize,
    kind: &'static str,
    reason: &'a str,
    column: Option<usize>,
}

impl<'a> RejectedLine<'a> {
    pub(super) fn of(place: &'a SourceLocation, error: &'a FenError) -> Self {
        let SourceLocation { file, line } = place;
        Self { file, line: *line, kind: "refuse", reason: &error.problem, column: error.column }
    }
}
