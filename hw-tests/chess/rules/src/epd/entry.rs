//! The contents of a line of positions.

use crate::suite::SuiteMove;
use crate::{FenError, Move, Position};

/// A position with the operations of its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpdEntry {
    /// The position; its clocks may be set by operations.
    pub position: Position,
    /// All operations, in the line's order.
    pub operations: Vec<Operation>,
    /// The legal moves of operations with moves.
    pub moves: Vec<MoveOperands>,
    /// The entry of a suite of exchange values, or why it can't be judged.
    pub suite: Option<Result<SuiteMove, FenError>>,
    /// Text that is not an operation, unchanged.
    pub rest: Option<String>,
    /// Remarks on text that was ignored although the position is valid.
    pub notes: Vec<String>,
}

impl EpdEntry {
    /// Returns the operands of the first operation of a name.
    pub fn operands(&self, opcode: &str) -> Option<&[String]> {
        let found = self.operations.iter().find(|operation| operation.opcode == opcode)?;
        Some(&found.operands)
    }

    /// Returns the text of the operation `id`.
    pub fn id(&self) -> Option<String> {
        self.operands("id").filter(|words| !words.is_empty()).map(|words| words.join(" "))
    }

    /// Returns the entry as of a position of Chess960 ([`Position::as_chess960`]).
    #[must_use]
    pub fn as_chess960(mut self) -> Self {
        self.position = self.position.as_chess960();
        let found = self.operations.iter();
        let found = found.filter_map(|one| one.legal_moves(&one.moves(self.position)?));
        self.moves = found.collect();
        self
    }

    /// Returns the notes as one text; `None` if there is none.
    pub fn warning(&self) -> Option<String> {
        (!self.notes.is_empty()).then(|| self.notes.join("; "))
    }
}

/// An operation: its name and its operands, quotes removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The name, such as `bm`.
    pub opcode: String,
    /// The operands, in order.
    pub operands: Vec<String>,
}

/// A move and the position in which it is played, or a text that is not a legal move.
type FoundMove<'a> = Result<(Position, Move), &'a str>;

impl Operation {
    /// Finds the moves that are the operands, in a line up to the first illegal one. `None` if
    /// they are not moves.
    pub(super) fn moves(&self, mut position: Position) -> Option<Vec<FoundMove<'_>>> {
        let is_line = self.opcode == "pv";
        if !is_line && !["bm", "am", "pm", "sm"].contains(&self.opcode.as_str()) {
            return None;
        }
        let mut found = Vec::new();
        for text in &self.operands {
            let Some(m) = position.find_move(text) else {
                found.push(Err(text.as_str()));
                // Moves after an illegal one belong to an unknown position.
                if is_line {
                    break;
                }
                continue;
            };
            found.push(Ok((position, m)));
            if is_line {
                position = position.play(m);
            }
        }
        Some(found)
    }

    /// Returns the legal ones of the moves; `None` if there is none.
    pub(super) fn legal_moves(&self, moves: &[FoundMove<'_>]) -> Option<MoveOperands> {
        let legal = moves.iter().flatten().map(|(position, m)| position.uci(*m));
        let uci: Vec<_> = legal.collect();
        (!uci.is_empty()).then(|| MoveOperands { opcode: self.opcode.clone(), uci })
    }
}

/// The legal moves among the operands of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveOperands {
    /// The operation's name.
    pub opcode: String,
    /// The moves in UCI.
    pub uci: Vec<String>,
}
