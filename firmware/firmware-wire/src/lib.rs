//! The wire protocol, version 1: its one definition on the Rust side (`docs/PROTOCOL.md`).
//!
//! [`Frame`] is what passes over the line, [`Decoder`] cuts frames out of what is heard, and
//! [`Request`] and [`Reply`] are what frames mean.

#![deny(clippy::cast_possible_truncation)]

mod account;
mod cobs;
mod error;
mod exhaust;
mod flash;
mod frame;
mod identity;
mod kernel;
mod position;
mod reply;
mod request;
pub mod slot;

pub use account::{PointsReply, StepRecord};
pub use error::{ErrorCode, ErrorReply};
pub use exhaust::{ExhaustRequest, Tally};
pub use flash::{ChipIdentity, FlashReply, FlashRequest, crc32};
pub use frame::{Decoder, Event, Frame, FrameError, Payload, PayloadTooLong, crc16, memory_check};
pub use identity::{Identity, Role};
pub use kernel::{Cause, HeldState, MAX_HELD};
pub use position::{Pin, PositionEnd, SquareRecord};
pub use reply::{MessageError, Reply};
pub use request::{CheckedPosition, Request};

/// The protocol's version.
pub const VERSION: u8 = 1;
/// Added to a request's type, it is the type of the reply.
pub const REPLY: u8 = 0x80;
/// The type of the error reply.
pub const ERROR: u8 = 0xFF;
/// Most bytes of payload in a frame.
pub const MAX_PAYLOAD: usize = 240;
/// Most bytes of an encoded frame between its delimiters.
pub const MAX_ENCODED: usize = 246;
/// Most bytes of data in one WRITE or READ.
pub const MAX_BLOCK: usize = 236;
/// Bytes of a frame's body besides its payload: LEN, SEQ, TYPE and CRC.
pub const BODY: usize = 5;
/// Bytes of one square in a reply to POSITION.
pub const RECORD: usize = 18;
/// Most squares in one frame.
pub const MAX_RECORDS: usize = 13;
/// Bytes of one position in CHECKS: its squares and the last move.
pub const CHECKED: usize = 34;
/// Most positions in one CHECKS.
pub const MAX_CHECKED: usize = 7;

/// Spaces that EXHAUST knows.
pub const SPACES: u8 = 3;
/// Residues that EXHAUST counts: 0 to 10.
pub const BINS: usize = 11;
/// Asks where the program is, whatever it does: zeros in a row, and before them a byte that parts
/// them from others.
pub const CALL: [u8; 9] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 0];
/// Bytes of one step in a reply to TRACE.
pub const STEP: usize = 5;

/// Types of requests.
pub mod kind {
    /// Identify the program.
    pub const IDENT: u8 = 0x01;
    /// Jump to 0000h.
    pub const RESET: u8 = 0x02;
    /// Tell how often the program has waited.
    pub const IDLE: u8 = 0x03;
    /// Store bytes.
    pub const WRITE: u8 = 0x10;
    /// Compute a check over memory.
    pub const CRC: u8 = 0x11;
    /// Fetch bytes.
    pub const READ: u8 = 0x12;
    /// Start a program.
    pub const RUN: u8 = 0x13;
    /// Identify the flash chip.
    pub const CHIP: u8 = 0x14;
    /// Erase a sector of it.
    pub const ERASE: u8 = 0x15;
    /// Program bytes.
    pub const PROGRAM: u8 = 0x16;
    /// Compute a check over the chip.
    pub const FLASH_CRC: u8 = 0x17;
    /// Compute it and compare.
    pub const FLASH_VERIFY: u8 = 0x18;
    /// Fetch bytes of the chip.
    pub const FLASH_READ: u8 = 0x19;
    /// Replace the boot sector.
    pub const BOOT: u8 = 0x1A;
    /// Play out an exchange.
    pub const EXCHANGE: u8 = 0x20;
    /// Examine a whole position.
    pub const POSITION: u8 = 0x21;
    /// Only as a reply: the end of a position.
    pub const POSITION_END: u8 = 0x22;
    /// Play out the exchanges of a space of attackers arrays.
    pub const EXHAUST: u8 = 0x23;
    /// Find what a side stands to lose and to win.
    pub const POINTS: u8 = 0x24;
    /// Play out an exchange and tell every step.
    pub const TRACE: u8 = 0x25;
    /// Examine whole positions and return only their checks.
    pub const CHECKS: u8 = 0x26;
    /// Tell the state of the program that is held.
    pub const STATE: u8 = 0x30;
    /// Change its registers.
    pub const SET: u8 = 0x31;
    /// Let it go on, up to some places.
    pub const GO: u8 = 0x32;
    /// Only as a reply, to nothing: a program is held.
    pub const HELD: u8 = 0x7D;
    /// Only as a reply, to zeros on the line: where the program is.
    pub const PLACE: u8 = 0x7E;
}

/// Bits of the capabilities in an identity.
pub mod capability {
    /// Takes programs into RAM.
    pub const LOADS_RAM: u8 = 0x01;
    /// Writes flash memory.
    pub const WRITES_FLASH: u8 = 0x02;
    /// Answers EXCHANGE.
    pub const EXCHANGE: u8 = 0x04;
    /// Answers POSITION.
    pub const POSITION: u8 = 0x08;
    /// Files attackers as the program of 1978 did.
    pub const AS_IN_1978: u8 = 0x10;
    /// Answers EXHAUST.
    pub const EXHAUST: u8 = 0x20;
    /// Answers POINTS.
    pub const POINTS: u8 = 0x40;
    /// Answers TRACE.
    pub const TRACE: u8 = 0x80;
}

/// Bits of the further capabilities in the application's identity.
pub mod further {
    /// Answers CHECKS, and POSITION with the last move.
    pub const CHECKS: u16 = 0x01;
    /// Answers IDLE.
    pub const IDLE: u16 = 0x02;
}

/// Bits of a square's status.
pub mod status {
    /// A piece found no room in its section of the array and was left out.
    pub const OVERFLOW: u8 = 0x01;
    /// A count promised more pieces than its section held.
    pub const SHORT: u8 = 0x02;
}

/// Bits of the danger in a reply to POINTS.
pub mod danger {
    /// The piece that has just moved is lost.
    pub const ARTICLE: u8 = 0x01;
    /// And no square before it has a higher residue.
    pub const BOOK: u8 = 0x02;
}

/// Actions in a step of TRACE.
pub mod step {
    /// Takes; the defender is to answer.
    pub const TAKES: u8 = 1;
    /// Takes, and nobody answers: the end.
    pub const TAKES_LAST: u8 = 2;
    /// Too dear to take alone, but the guard is no cheaper: calls the next to its help.
    pub const NEEDS_HELP: u8 = 3;
    /// As [`NEEDS_HELP`], and there is no next: the end.
    pub const HAS_NO_HELP: u8 = 4;
    /// Too dear, and the guard is cheaper: the end.
    pub const STOPS: u8 = 5;
    /// Added when the side of the piece on the square does it.
    pub const DEFENDERS: u8 = 0x80;
}
