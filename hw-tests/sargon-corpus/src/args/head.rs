//! The JSON fields that describe a line of a file of positions.

use std::collections::BTreeMap;

use chess_rules::FenError;
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
}

/// The move of a test suite's line.
#[derive(Serialize)]
struct SuiteEntry<'a> {
    #[serde(rename = "move")]
    text: &'a str,
    uci: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i32>,
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
        let suite = entry.suite.as_ref().map(|suite| SuiteEntry {
            text: &suite.text,
            uci: position.uci(suite.played),
            value: suite.value,
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
        }
    }
}

/// An invalid line.
#[derive(Serialize)]
pub struct RejectedLine<'a> {
    file: &'a str,
    line: usize,
    kind: &'static str,
    why: &'a str,
    column: Option<usize>,
}

impl<'a> RejectedLine<'a> {
    pub(super) fn of(place: &'a SourceLocation, error: &'a FenError) -> Self {
        let SourceLocation { file, line } = place;
        Self { file, line: *line, kind: "refuse", why: &error.problem, column: error.column }
    }
}
