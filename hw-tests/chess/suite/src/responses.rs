//! Decoded replies of a board, and what a simulated board records beside them.

use firmware_wire::{ExhaustReply, PositionEnd, SquareRecord};

/// The reply to POSITION.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PositionResponse {
    /// The occupied squares, from a1 to h1, then the next rank.
    pub squares: Vec<SquareRecord>,
    /// The fields of the whole position.
    pub end: PositionEnd,
    /// T-states of ATTACK and XCHNG for each square, if the board is simulated.
    pub t_states: Option<Vec<u64>>,
}

/// The reply to EXHAUST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExhaustResponse {
    /// CRC and histogram of the residues.
    pub tally: ExhaustReply,
    /// T-states of XCHNG for each array, if the board is simulated.
    pub t_states: Option<Vec<u64>>,
}

/// The reply to CHECKS for one position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedCheck {
    /// The CRC-32 of the replies to POSITION and POINTS.
    pub crc: u32,
    /// Square number and T-states of each call of ATTACK and XCHNG, if the board is simulated.
    pub t_states: Option<Vec<(u8, u64)>>,
}
