//! Reads a line that is neither empty nor a comment.

use super::entry::{EpdEntry, Operation};
use super::operations::{Segment, segments};
use crate::suite::{self, Field, SuiteMove, TableRow};
use crate::{FenError, ParsedFen, Position};

pub(super) fn read(text: &str) -> Result<EpdEntry, FenError> {
    if text.trim_start().starts_with('\u{FEFF}') {
        let problem = "a byte-order mark inside the file".to_owned();
        return Err(FenError { column: Some(1), problem });
    }
    if let Some(row) = TableRow::read(text) {
        return read_row(&row);
    }
    let (mut entry, rest) = fen(text)?;
    let column = text.chars().count() - rest.chars().count() + 1;
    entry.suite = suite::of_text(&entry.position, rest, column);
    if entry.suite.is_none() {
        entry.take_segments(segments(rest, column)?);
        entry.suite = suite_of_operations(&entry.position, &entry.operations);
    }
    Ok(entry)
}

/// Reads `pm MOVE; ce VALUE`. `None` if these are not the first operations: elsewhere `pm` is a
/// predicted move, and `ce` the evaluation of the position.
fn suite_of_operations(
    position: &Position,
    operations: &[Operation],
) -> Option<Result<SuiteMove, FenError>> {
    let [moved, value, ..] = operations else { return None };
    if moved.opcode != "pm" || value.opcode != "ce" {
        return None;
    }
    let field = |operation: &Operation| {
        let text = operation.operands.join(" ");
        Field { text, column: 1, separator: "; " }
    };
    let suite = suite::of_fields(position, &[field(moved), field(value)]);
    Some(suite.map_err(|error| FenError { column: None, ..error }))
}

/// Reads a row of a table in program text, which is always one of a suite.
fn read_row(row: &TableRow<'_>) -> Result<EpdEntry, FenError> {
    let shift = |error: FenError| FenError {
        column: Some(error.column.unwrap_or(1) + row.column - 1),
        ..error
    };
    let (mut entry, rest) = fen(row.string).map_err(shift)?;
    let position = &entry.position;
    let column = row.column + row.string.chars().count() - rest.chars().count();
    entry.suite = match rest.trim() {
        "" => Some(suite::of_fields(position, &row.fields)),
        _ => suite::of_text(position, rest, column),
    };
    let problem = "neither a move nor a value after the position".to_owned();
    entry.suite.get_or_insert(Err(FenError { column: Some(column), problem }));
    Ok(entry)
}

/// Reads the fields of a FEN; returns the text after them.
fn fen(text: &str) -> Result<(EpdEntry, &str), FenError> {
    let ParsedFen { position, rest, notes } = ParsedFen::parse(text)?;
    let entry = EpdEntry {
        position,
        operations: Vec::new(),
        moves: Vec::new(),
        suite: None,
        rest: None,
        notes,
    };
    Ok((entry, rest))
}

impl EpdEntry {
    fn take_segments(&mut self, segments: Vec<Segment<'_>>) {
        let mut rest = Vec::new();
        for segment in segments {
            if segment.is_operation() {
                self.take_operation(segment);
            } else {
                rest.push(segment.text);
            }
        }
        self.rest = (!rest.is_empty()).then(|| rest.join("; "));
    }

    fn take_operation(&mut self, segment: Segment<'_>) {
        let mut words = segment.words.into_iter().map(|word| word.text);
        let Some(opcode) = words.next() else { return };
        let operands: Vec<String> = words.collect();
        let operation = Operation { opcode, operands };
        self.set_clock(&operation);
        if let Some(moves) = operation.moves(self.position) {
            let illegal = moves.iter().filter_map(|found| found.as_ref().err());
            self.notes.extend(illegal.map(|text| format!("{text} is not a legal move")));
            self.moves.extend(operation.legal_moves(&moves));
        }
        self.operations.push(operation);
    }

    fn set_clock(&mut self, operation: &Operation) {
        let Some(number) = operation.operands.first() else { return };
        let clock = match operation.opcode.as_str() {
            "hmvc" => &mut self.position.halfmove_clock,
            "fmvn" => &mut self.position.move_number,
            _ => return,
        };
        match number.parse() {
            Ok(number) => *clock = number,
            Err(_) => self.notes.push(format!("invalid number '{number}'")),
        }
    }
}
