//! The host's requests and their encoding as frames.

use super::call::CallBatch;
use super::count::CountRequest;
use super::exhaust::ExhaustRequest;
use super::flash::FlashRequest;
use super::kernel::StoppedState;
use super::{Frame, POSITION_BYTES, PayloadTooLong, kind};

/// A request of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Identify the program.
    Identify,
    /// Jump to 0000h.
    Reset,
    /// Return how often the program has waited.
    Idle,
    /// Return the CRC of the application in memory, and what may have been damaged.
    Status,
    /// Store bytes in memory.
    Write {
        /// First address.
        address: u16,
        /// 1 to [`super::MAX_BLOCK`] bytes.
        data: Vec<u8>,
    },
    /// Compute the checksum of a range of memory ([`super::memory_checksum`]).
    Crc {
        /// First address.
        address: u16,
        /// Bytes, at least 1.
        length: u16,
    },
    /// Read memory.
    Read {
        /// First address.
        address: u16,
        /// 1 to [`super::MAX_BLOCK`].
        count: u8,
    },
    /// Start a program.
    Run {
        /// The address of its first instruction.
        address: u16,
    },
    /// A request about the flash chip.
    Flash(FlashRequest),
    /// Evaluate an exchange.
    Exchange {
        /// The piece: bit 7 its colour, bits 2-0 its type.
        piece: u8,
        /// The attackers array.
        array: [u8; 14],
    },
    /// Evaluate a position: 4-bit codes of the squares a1, b1 .. h8, two a byte, earlier one low.
    Position {
        /// The codes.
        squares: [u8; 32],
    },
    /// Evaluate a position, and what the side that has just moved stands to lose and to win.
    PositionWithMove(PositionWithMove),
    /// The same for several positions; the reply has only a CRC-32 of each.
    Checks {
        /// The bits of [`super::status`] that the CRC covers.
        status: u8,
        /// 1 to [`super::MAX_POSITIONS`] positions.
        positions: Vec<PositionWithMove>,
    },
    /// Evaluate the exchanges of a space of attackers arrays.
    Exhaust(ExhaustRequest),
    /// Evaluate an exchange and report every step.
    Trace {
        /// The piece: bit 7 its colour, bits 2-0 its type.
        piece: u8,
        /// The value of the piece, 1 to 15.
        stake: u8,
        /// The attackers array, with any values from 1 to 15.
        array: [u8; 14],
    },
    /// Compute what the side that has just moved stands to lose and to win.
    Points {
        /// As in POSITION.
        squares: [u8; 32],
        /// 0 when White has just moved, 80h when Black has.
        mover: u8,
        /// The square moved to, in the board's numbering; 0 if unknown.
        moved: u8,
    },
    /// Make calls of any routines.
    Call(CallBatch),
    /// Set the number of the next batch of calls, and the ticks after which a Z180's timer ends a
    /// call: 1,310,720 T-states each, but for the first, which may be shorter.
    StartCalls {
        /// The number.
        number: u8,
        /// The ticks, at least 1.
        ticks: u8,
    },
    /// Make calls whose arguments count up.
    Count(CountRequest),
    /// Return the state of the stopped program.
    State,
    /// Change its registers to these.
    SetRegisters(StoppedState),
    /// Resume it until one of the breakpoints.
    Go {
        /// The number of the stop that ends.
        number: u8,
        /// Up to [`super::MAX_BREAKPOINTS`] addresses of instructions in RAM.
        places: Vec<u16>,
    },
}

/// A position and its last move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PositionWithMove {
    /// As in POSITION.
    pub squares: [u8; 32],
    /// 0 if White has just moved, 80h if Black has.
    pub side_moved: u8,
    /// The square moved to, in the board's numbering; 0 if unknown.
    pub moved_to: u8,
}

impl PositionWithMove {
    fn bytes(&self) -> [u8; POSITION_BYTES] {
        let mut bytes = [0; POSITION_BYTES];
        bytes[..32].copy_from_slice(&self.squares);
        bytes[32..].copy_from_slice(&[self.side_moved, self.moved_to]);
        bytes
    }
}

impl Request {
    /// The frame's type.
    pub fn kind(&self) -> u8 {
        match self {
            Self::Identify => kind::IDENT,
            Self::Reset => kind::RESET,
            Self::Idle => kind::IDLE,
            Self::Status => kind::STATUS,
            Self::Write { .. } => kind::WRITE,
            Self::Crc { .. } => kind::CRC,
            Self::Read { .. } => kind::READ,
            Self::Run { .. } => kind::RUN,
            Self::Flash(request) => request.kind(),
            Self::Exchange { .. } => kind::EXCHANGE,
            Self::Position { .. } | Self::PositionWithMove(_) => kind::POSITION,
            Self::Checks { .. } => kind::CHECKS,
            Self::Exhaust(_) => kind::EXHAUST,
            Self::Points { .. } => kind::POINTS,
            Self::Trace { .. } => kind::TRACE,
            Self::Call(_) | Self::StartCalls { .. } => kind::CALL,
            Self::Count(_) => kind::COUNT,
            Self::State => kind::STATE,
            Self::SetRegisters(_) => kind::SET,
            Self::Go { .. } => kind::GO,
        }
    }

    /// Returns the request as a frame.
    ///
    /// # Errors
    /// Returns `PayloadTooLong` if WRITE, PROGRAM, CHECKS or CALL exceed the payload of a frame.
    ///
    /// # Examples
    /// ```
    /// use firmware_wire::{Request, kind};
    ///
    /// let request = Request::Crc { address: 0x8000, length: 0x100 };
    /// let frame = request.frame(7).expect("four bytes fit a frame");
    /// assert_eq!((frame.seq, frame.kind), (7, kind::CRC));
    /// assert_eq!(frame.payload[..], [0x00, 0x80, 0x00, 0x01]);
    /// ```
    pub fn frame(&self, seq: u8) -> Result<Frame, PayloadTooLong> {
        Frame::new(seq, self.kind(), self.payload())
    }

    /// The frame's payload.
    pub fn payload(&self) -> Vec<u8> {
        let at = |address: &u16| address.to_le_bytes();
        match self {
            Self::Identify | Self::Reset | Self::Idle | Self::Status | Self::State => Vec::new(),
            Self::Write { address, data } => [&at(address)[..], data].concat(),
            Self::Crc { address, length } => [at(address), at(length)].concat(),
            Self::Read { address, count } => [&at(address)[..], &[*count]].concat(),
            Self::Run { address } => at(address).to_vec(),
            Self::Flash(request) => request.payload(),
            Self::Exchange { piece, array } => [&[*piece][..], array].concat(),
            Self::Position { squares } => squares.to_vec(),
            Self::PositionWithMove(position) => position.bytes().to_vec(),
            Self::Checks { status, positions } => {
                let positions = positions.iter().flat_map(PositionWithMove::bytes);
                std::iter::once(*status).chain(positions).collect()
            }
            Self::Exhaust(request) => request.payload(),
            Self::Trace { piece, stake, array } => [&[*piece, *stake][..], array].concat(),
            Self::Call(batch) => batch.payload(),
            Self::StartCalls { number, ticks } => vec![*number, *ticks],
            Self::Count(request) => request.payload(),
            Self::SetRegisters(state) => state.settable(),
            Self::Go { number, places } => {
                let places = places.iter().flat_map(|place| place.to_le_bytes());
                std::iter::once(*number).chain(places).collect()
            }
            Self::Points { squares, mover, moved } => [&squares[..], &[*mover, *moved]].concat(),
        }
    }
}
