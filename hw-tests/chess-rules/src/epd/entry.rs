//! The contents of a line of positions.

use crate::suite::SuiteMove;
use crate::{FenError, Position};

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

/// The legal moves among the operands of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveOperands {
    /// The operation's name.
    pub opcode: String,
    /// The moves in UCI.
    pub uci: Vec<String>,
}
