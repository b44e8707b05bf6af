//! What the host asks for, and how it goes into frames.

use super::exhaust::ExhaustRequest;
use super::flash::FlashRequest;
use super::kind;

/// What the host asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Who is there?
    Identify,
    /// Jump to 0000h.
    Reset,
    /// Store bytes from an address on.
    Write {
        /// First address.
        address: u16,
        /// 1 to [`super::MAX_BLOCK`] bytes.
        data: Vec<u8>,
    },
    /// Compute the check of a stretch of memory.
    Crc {
        /// First address.
        address: u16,
        /// Bytes, at least 1.
        length: u16,
    },
    /// Fetch bytes.
    Read {
        /// First address.
        address: u16,
        /// 1 to [`super::MAX_BLOCK`].
        count: u8,
    },
    /// Start a program.
    Run {
        /// Where.
        address: u16,
    },
    /// Something about the flash chip.
    Flash(FlashRequest),
    /// Play out an exchange.
    Exchange {
        /// The piece: bit 7 its colour, bits 2-0 its type.
        piece: u8,
        /// The attackers array.
        array: [u8; 14],
    },
    /// Examine a position: 4-bit codes of the squares a1, b1 .. h8, two a byte, the earlier one low.
    Position {
        /// The codes.
        squares: [u8; 32],
    },
    /// Play out the exchanges of a space of attackers arrays.
    Exhaust(ExhaustRequest),
    /// Play out an exchange and tell every step.
    Trace {
        /// The piece: bit 7 its colour, bits 2-0 its type.
        piece: u8,
        /// What it is worth, 1 to 15.
        stake: u8,
        /// The attackers array, with any values from 1 to 15.
        array: [u8; 14],
    },
    /// Find what the side that has just moved stands to lose and to win.
    Points {
        /// As in POSITION.
        squares: [u8; 32],
        /// 0 when White has just moved, 80h when Black has.
        mover: u8,
        /// The square moved to as the board numbers it; 0 when not known.
        moved: u8,
    },
}

impl Request {
    /// The frame's type.
    #[must_use]
    pub fn kind(&self) -> u8 {
        match self {
            Self::Identify => kind::IDENT,
            Self::Reset => kind::RESET,
            Self::Write { .. } => kind::WRITE,
            Self::Crc { .. } => kind::CRC,
            Self::Read { .. } => kind::READ,
            Self::Run { .. } => kind::RUN,
            Self::Flash(request) => request.kind(),
            Self::Exchange { .. } => kind::EXCHANGE,
            Self::Position { .. } => kind::POSITION,
            Self::Exhaust(_) => kind::EXHAUST,
            Self::Points { .. } => kind::POINTS,
            Self::Trace { .. } => kind::TRACE,
        }
    }

    /// The frame's payload.
    #[must_use]
    pub fn payload(&self) -> Vec<u8> {
        let at = |address: &u16| address.to_le_bytes();
        match self {
            Self::Identify | Self::Reset => Vec::new(),
            Self::Write { address, data } => [&at(address)[..], data].concat(),
            Self::Crc { address, length } => [at(address), at(length)].concat(),
            Self::Read { address, count } => [&at(address)[..], &[*count]].concat(),
            Self::Run { address } => at(address).to_vec(),
            Self::Flash(request) => request.payload(),
            Self::Exchange { piece, array } => [&[*piece][..], array].concat(),
            Self::Position { squares } => squares.to_vec(),
            Self::Exhaust(request) => request.payload(),
            Self::Trace { piece, stake, array } => [&[*piece, *stake][..], array].concat(),
            Self::Points { squares, mover, moved } => [&squares[..], &[*mover, *moved]].concat(),
        }
    }
}
