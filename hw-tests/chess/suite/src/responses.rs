//! Decoded replies of a board, and what a simulated board records beside them.

use board_simulator::Registers;
use firmware_wire::{ExhaustReply, PositionEnd, SquareRecord};

/// Mask of the Z flag in AF.
const ZERO_FLAG: u16 = 0x40;

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

/// The reply to EXCHANGE, and the recorded bookings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeResponse {
    /// Points that the owner of the square loses.
    pub residue: u8,
    /// Bits of [`firmware_wire::status`].
    pub status: u8,
    /// The bookings of XCHNG, if the board is simulated.
    pub bookings: Option<Vec<ObservedBooking>>,
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

/// A booking of points, as recorded in XCHNG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedBooking {
    /// Value of the captured piece.
    pub stake: u8,
    /// Value of the capturing piece.
    pub attacker: u8,
    /// Points that the owner of the square has lost after it; below 0 only if XCHNG is wrong.
    pub residue: i8,
}

impl ObservedBooking {
    /// Reads a booking of XCHNG: points at stake in B, attacker in L, residue in E (xchng.asm).
    pub(crate) fn from_registers(registers: &Registers) -> Self {
        let Registers { bc, hl, de, .. } = *registers;
        Self { stake: (bc >> 8) as u8, attacker: hl as u8, residue: de as i8 }
    }
}

/// A recorded call of XCHNG, by NEXTAD's contract and Table 2 of the article.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObservedExchange {
    /// The calls of NEXTAD.
    pub fetches: Vec<ObservedFetch>,
    /// The residue in E when XCHNG returned; `None` if it did not return.
    pub residue: Option<u8>,
}

/// A call of NEXTAD by XCHNG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedFetch {
    /// The registers at the call, as for a booking; the attacker is undefined at the first call.
    pub at: ObservedBooking,
    /// Value of the fetched piece, 0 for none; `None` if NEXTAD did not return.
    pub piece: Option<u8>,
}

impl ObservedExchange {
    /// Reads the hits after the entry of XCHNG: NEXTAD's entries and returns, then XCHNG's.
    pub(crate) fn from_hits(hits: &[Registers], nextad: Option<u16>) -> Self {
        let mut exchange = Self::default();
        let mut hits = hits.iter().peekable();
        while let Some(entry) = hits.next_if(|at| Some(at.pc) == nextad) {
            // Z is set if there is no piece; A has its value.
            let piece =
                |at: &Registers| if at.af & ZERO_FLAG != 0 { 0 } else { (at.af >> 8) as u8 };
            let (at, piece) = (ObservedBooking::from_registers(entry), hits.next().map(piece));
            exchange.fetches.push(ObservedFetch { at, piece });
        }
        exchange.residue = hits.next().map(|end| end.de as u8);
        exchange
    }
}
