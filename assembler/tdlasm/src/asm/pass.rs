//! The passes over the source, and the ways in which a statement ends.

use super::name_table::NameId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// Gives symbols their values, and collects macros.
    First,
    /// Writes code and reports errors.
    Second,
}

/// Why a statement was abandoned.
pub(super) enum StatementAbort {
    /// An operand contains a macro call at this offset: its text must be inserted first.
    Expand(NameId, u32),
    /// Assembly cannot continue.
    Stop,
}

pub(super) type StatementResult<T = ()> = Result<T, StatementAbort>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementEnd {
    /// The rest of the line must be checked.
    Open,
    /// The rest of the line must be checked; anything left is an error in the list.
    List,
    /// The line has been consumed, or continues in another text.
    Complete,
}
