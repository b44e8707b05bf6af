//! Reads a line that is neither empty nor a comment.

use super::entry::{EpdEntry, MoveOperands, Operation, SuiteMove};
use super::operations::{Segment, segments};
use crate::{FenError, ParsedFen, Position};

/// Operations whose operands are moves of the position.
const MOVES: [&str; 4] = ["bm", "am", "pm", "sm"];
/// Operations whose operands are a sequence of moves.
const LINES: [&str; 1] = ["pv"];

pub(super) fn read(text: &str) -> Result<EpdEntry, FenError> {
    if text.trim_start().starts_with('\u{FEFF}') {
        let problem = "a byte-order mark inside the file".to_owned();
        return Err(FenError { column: Some(1), problem });
    }
    let ParsedFen { position, rest, notes } = ParsedFen::parse(text)?;
    let mut entry = EpdEntry {
        position,
        operations: Vec::new(),
        moves: Vec::new(),
        suite: suite(&position, rest),
        rest: None,
        notes,
    };
    if entry.suite.is_none() {
        let column = text.chars().count() - rest.chars().count() + 1;
        entry.take_segments(segments(rest, column)?);
    }
    Ok(entry)
}

/// Reads `; move; value; note`, or with bars, if the first part is exactly one legal move.
fn suite(position: &Position, rest: &str) -> Option<SuiteMove> {
    let rest = rest.trim_start();
    let separator = rest.chars().next().filter(|c| [';', '|'].contains(c))?;
    let mut parts = rest[1..].split(separator).map(str::trim);
    let text = parts.next()?;
    let played = position.find_move(text)?;
    let mut parts: Vec<&str> = parts.collect();
    // The value is the next part if it is a number; everything after it is a note.
    let value = parts.first().and_then(|part| part.parse().ok());
    if value.is_some() {
        parts.remove(0);
    }
    let note = parts.join(if separator == ';' { "; " } else { " | " });
    let note = note.trim_matches(|c: char| c == separator || c.is_whitespace());
    let note = (!note.is_empty()).then(|| note.to_owned());
    Some(SuiteMove { text: text.to_owned(), played, value, note })
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
        self.find_moves(&operation);
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

    fn find_moves(&mut self, operation: &Operation) {
        let opcode = operation.opcode.as_str();
        let is_line = LINES.contains(&opcode);
        if !is_line && !MOVES.contains(&opcode) {
            return;
        }
        let mut position = self.position;
        let mut uci = Vec::new();
        for text in &operation.operands {
            let Some(found) = position.find_move(text) else {
                self.notes.push(format!("{text} is not a legal move"));
                // Moves after an illegal one belong to an unknown position.
                if is_line {
                    break;
                }
                continue;
            };
            uci.push(position.uci(found));
            if is_line {
                position = position.play(found);
            }
        }
        if !uci.is_empty() {
            self.moves.push(MoveOperands { opcode: opcode.to_owned(), uci });
        }
    }
}
