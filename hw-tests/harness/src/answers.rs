//! The answers of boards to questions, as data.

use board_simulator::Registers;
use firmware_wire::{PointsReply, PositionEnd, SquareRecord, StepRecord, Tally};

/// The board's answer to POSITION.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// The occupied squares, a1 to h1 first.
    pub squares: Vec<SquareRecord>,
    /// The rest.
    pub end: PositionEnd,
    /// T-states of ATTACK and XCHNG for each square, where the board can count them.
    pub t_states: Option<Vec<u64>>,
}

/// The board's answer to EXCHANGE, and what was seen of the exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// Points that the owner of the square loses.
    pub residue: u8,
    /// Bits of [`firmware_wire::status`].
    pub status: u8,
    /// The bookings of XCHNG, where the board can be watched.
    pub bookings: Option<Vec<BookedThere>>,
}

/// The board's answer to EXHAUST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The counts.
    pub tally: Tally,
    /// T-states of XCHNG for each array, where the board can count them.
    pub t_states: Option<Vec<u64>>,
}

/// The board's answer to a question about a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseAnswer {
    /// To POSITION.
    Position(Observation),
    /// To POINTS.
    Points(PointsReply),
    /// To EXCHANGE: residue and status.
    Exchange(u8, u8),
    /// To TRACE: residue, status, and the steps.
    Steps(u8, u8, Vec<StepRecord>),
}

/// A booking of points as XCHNG made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookedThere {
    /// The value that was captured.
    pub stake: u8,
    /// The piece that captured it.
    pub attacker: u8,
    /// The points that the owner of the square had lost after it; below 0 only when XCHNG is wrong.
    pub residue: i8,
}

impl BookedThere {
    /// From the registers at one of the places where XCHNG books: points at stake in B, the
    /// attacker in L, the residue in E (xchng.asm).
    #[must_use]
    pub(crate) fn at(registers: &Registers) -> Self {
        let Registers { bc, hl, de, .. } = *registers;
        Self { stake: (bc >> 8) as u8, attacker: hl as u8, residue: de as i8 }
    }
}
