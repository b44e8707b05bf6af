//! The answers of boards to questions, as data.

use board_simulator::Registers;
use firmware_wire::{PointsReply, PositionEnd, SquareRecord, StepRecord, Tally};

/// The flag Z in AF.
const ZERO: u16 = 0x40;

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

/// The board's check of a position, in its answer to CHECKS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckThere {
    /// The CRC-32 of what it would answer to POSITION and POINTS.
    pub check: u32,
    /// T-states of each call of ATTACK and XCHNG with the number of its square, where the board can
    /// count them.
    pub t_states: Option<Vec<(u8, u64)>>,
}

/// The board's answer to a question about a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseAnswer {
    /// To POSITION.
    Position(Observation),
    /// To POINTS.
    Points(PointsReply),
    /// To CHECKS, for each position.
    Checks(Vec<CheckThere>),
    /// To EXCHANGE: residue and status.
    Exchange(u8, u8),
    /// To TRACE: residue, status, and the steps.
    Steps(u8, u8, Vec<StepRecord>),
    /// To IDENTIFY: whether the application that was loaded answers.
    Identity(bool),
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

/// A call of XCHNG that was followed from outside, by the contract of NEXTAD and the registers of
/// the article's Table 2.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FollowedExchange {
    /// The calls of NEXTAD.
    pub fetches: Vec<FetchThere>,
    /// The residue in E at XCHNG's return; `None` if it did not return.
    pub residue: Option<u8>,
}

/// A call of NEXTAD by XCHNG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchThere {
    /// Points at stake before it, in B.
    pub stake: u8,
    /// The piece that is to capture, in L; means nothing before the first piece was fetched.
    pub attacker: u8,
    /// The points that the owner of the square has lost so far, in E.
    pub residue: i8,
    /// The piece fetched; `None` if it did not return.
    pub piece: Option<u8>,
}

impl FollowedExchange {
    /// Reads the passages after XCHNG's entry: NEXTAD's entry and return in turn, at last XCHNG's
    /// return.
    #[must_use]
    pub(crate) fn of(passages: &[Registers], nextad: Option<u16>) -> Self {
        let mut found = Self::default();
        let mut passages = passages.iter().peekable();
        while let Some(entry) = passages.next_if(|at| Some(at.pc) == nextad) {
            let fetched = passages.next();
            found.fetches.push(FetchThere::of(entry, fetched));
        }
        found.residue = passages.next().map(|end| end.de as u8);
        found
    }
}

impl FetchThere {
    fn of(entry: &Registers, fetched: Option<&Registers>) -> Self {
        let Registers { bc, hl, de, .. } = *entry;
        // Z says whether there is a piece, A which.
        let piece = |at: &Registers| if at.af & ZERO != 0 { 0 } else { (at.af >> 8) as u8 };
        let stake = (bc >> 8) as u8;
        let attacker = hl as u8;
        Self { stake, attacker, residue: de as i8, piece: fetched.map(piece) }
    }
}
