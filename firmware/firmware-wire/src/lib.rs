//! The wire protocol between host and board, version 1 (`docs/PROTOCOL.md`).
//!
//! A [`Request`] encodes to a [`Frame`]; a [`Decoder`] finds frames in received bytes; a frame
//! parses to a [`Reply`]. [`flash_program`] is the header of a program in flash.
//!
//! ```
//! use firmware_wire::{Decoder, DecoderEvent, REPLY_BIT, Reply, Request, kind};
//!
//! let request = Request::Crc { address: 0x8000, length: 0x100 }.frame(7)?;
//! let sent = request.encode();
//!
//! let mut decoder = Decoder::default();
//! let received = sent.into_iter().find_map(|byte| decoder.push(byte));
//! assert_eq!(received, Some(DecoderEvent::Frame(request)));
//!
//! let reply = Reply::parse(kind::CRC + REPLY_BIT, &[0xB1, 0x29, 0, 0])?;
//! assert_eq!(reply, Reply::Crc(0x29B1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(clippy::cast_possible_truncation)]

mod call;
mod cobs;
mod count;
mod error;
mod exhaust;
mod flash;
pub mod flash_program;
mod frame;
mod identity;
mod kernel;
mod points;
mod position;
mod registers;
mod reply;
mod request;
mod status_reply;
mod trace;

pub use call::{
    BatchResult, CALL_STACK_BYTES, Call, CallBatch, CallRead, CallRefusal, CallResult, CallStatus,
    MAX_BATCHES_IN_FLIGHT, MAX_CALL_READ, MemoryResult,
};
pub use count::{CountReply, CountRequest, MAX_COUNT_RESULTS, MAX_COUNTED_BYTES};
pub use error::{ErrorCode, ErrorReply, FieldError, MessageError};
pub use exhaust::{ExhaustReply, ExhaustRequest};
pub use flash::{ChipIdentity, FlashReply, FlashRequest, crc32};
pub use frame::{
    Decoder, DecoderEvent, Frame, FrameError, Payload, PayloadTooLong, crc16, memory_checksum,
};
pub use identity::{Identity, Role};
pub use kernel::{MAX_BREAKPOINTS, StopReason, StoppedState};
pub use points::PointsReply;
pub use position::{Pin, PositionEnd, SquareRecord};
pub use registers::{REGISTER_PAIRS, RegisterPair, RegisterSet, RegisterValues};
pub use reply::Reply;
pub use request::{PositionWithMove, Request};
pub use status_reply::StatusReply;
pub use trace::StepRecord;

/// The protocol's version.
pub const PROTOCOL_VERSION: u8 = 1;
/// Added to a request's type to give the type of its reply.
pub const REPLY_BIT: u8 = 0x80;
/// The type of the error reply.
pub const ERROR_REPLY: u8 = 0xFF;
/// Maximum payload of a frame in bytes.
pub const MAX_PAYLOAD: usize = 240;
/// Maximum length of an encoded frame between its delimiters.
pub const MAX_ENCODED: usize = 246;
/// Maximum data of one WRITE or READ in bytes.
pub const MAX_BLOCK: usize = 236;
/// The smallest receive window in bytes: the longest frame, with both delimiters.
pub const MIN_WINDOW: u16 = 248;
const _: () = assert!(MIN_WINDOW as usize == MAX_ENCODED + 2);
/// Bytes of a sector of flash.
pub const FLASH_SECTOR_BYTES: u32 = 0x1000;
/// Bytes of a page of flash, which FLASH READ, CRC and VERIFY do not cross.
pub const FLASH_PAGE_BYTES: u32 = 0x4000;
/// Most sectors of a flash chip: its addresses have three bytes.
pub const MAX_FLASH_SECTORS: u16 = 0x1000;
/// Bytes of a frame's body besides its payload: LEN, SEQ, TYPE and CRC.
pub const BODY_OVERHEAD: usize = 5;
/// Bytes of one square in a reply to POSITION.
pub const SQUARE_RECORD_BYTES: usize = 18;
/// Most squares in one frame.
pub const MAX_SQUARES_PER_FRAME: usize = 13;
/// Bytes of one position in CHECKS: its squares and the last move.
pub const POSITION_BYTES: usize = 34;
/// Most positions in one CHECKS.
pub const MAX_POSITIONS: usize = 7;

/// Number of spaces of EXHAUST.
pub const EXHAUST_SPACES: u8 = 3;
/// Bins of EXHAUST's histogram: residues 0 to 10.
pub const RESIDUE_BINS: usize = 11;
/// Makes the interrupt handler report the program counter, even if the program reads no requests.
/// FFh separates the eight zeros from any before them.
pub const LOCATE_SEQUENCE: [u8; 9] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 0];
/// Bytes of one step in a reply to TRACE.
pub const STEP_BYTES: usize = 5;

/// Types of requests.
pub mod kind {
    /// Identify the program.
    pub const IDENT: u8 = 0x01;
    /// Jump to 0000h.
    pub const RESET: u8 = 0x02;
    /// Return how often the program has waited.
    pub const IDLE: u8 = 0x03;
    /// Return the CRC of the application in memory, and what may have been damaged.
    pub const STATUS: u8 = 0x04;
    /// Store bytes.
    pub const WRITE: u8 = 0x10;
    /// Compute the checksum of memory.
    pub const CRC: u8 = 0x11;
    /// Read bytes.
    pub const READ: u8 = 0x12;
    /// Start a program.
    pub const RUN: u8 = 0x13;
    /// Identify the flash chip.
    pub const CHIP: u8 = 0x14;
    /// Erase a sector of it.
    pub const ERASE: u8 = 0x15;
    /// Program bytes.
    pub const PROGRAM: u8 = 0x16;
    /// Compute the CRC-32 of a range of the chip.
    pub const FLASH_CRC: u8 = 0x17;
    /// Compute the CRC-32 and compare it.
    pub const FLASH_VERIFY: u8 = 0x18;
    /// Read bytes of the chip.
    pub const FLASH_READ: u8 = 0x19;
    /// Replace the boot sector.
    pub const BOOT: u8 = 0x1A;
    /// Evaluate an exchange.
    pub const EXCHANGE: u8 = 0x20;
    /// Evaluate a position.
    pub const POSITION: u8 = 0x21;
    /// Only as a reply: the end of a position.
    pub const POSITION_END: u8 = 0x22;
    /// Evaluate the exchanges of a space of attackers arrays.
    pub const EXHAUST: u8 = 0x23;
    /// Compute what a side stands to lose and to win.
    pub const POINTS: u8 = 0x24;
    /// Evaluate an exchange and report every step.
    pub const TRACE: u8 = 0x25;
    /// Evaluate several positions and return only a CRC-32 of each.
    pub const CHECKS: u8 = 0x26;
    /// Make calls, and return their results.
    pub const CALL: u8 = 0x27;
    /// Make calls whose arguments count up, and return a CRC-32 of their results.
    pub const COUNT: u8 = 0x28;
    /// Return the state of the stopped program.
    pub const STATE: u8 = 0x30;
    /// Change its registers.
    pub const SET: u8 = 0x31;
    /// Resume it until a breakpoint.
    pub const GO: u8 = 0x32;
    /// Only as an unsolicited reply: a program has stopped.
    pub const STOPPED: u8 = 0x7D;
    /// Only as the reply to [`LOCATE_SEQUENCE`](super::LOCATE_SEQUENCE): the program counter.
    pub const PC_REPORT: u8 = 0x7E;
}

/// Bits of the capabilities in an identity.
pub mod capability {
    /// Loads programs into RAM.
    pub const LOADS_RAM: u8 = 0x01;
    /// Writes flash memory.
    pub const WRITES_FLASH: u8 = 0x02;
    /// Answers EXCHANGE.
    pub const EXCHANGE: u8 = 0x04;
    /// Answers POSITION.
    pub const POSITION: u8 = 0x08;
    /// Has the bugs of the original evaluator.
    pub const ORIGINAL: u8 = 0x10;
    /// Answers EXHAUST.
    pub const EXHAUST: u8 = 0x20;
    /// Answers POINTS.
    pub const POINTS: u8 = 0x40;
    /// Answers TRACE.
    pub const TRACE: u8 = 0x80;
}

/// Bits of the extended capabilities in the application's identity.
pub mod extended_capability {
    /// Answers CHECKS, and POSITION with the last move.
    pub const CHECKS: u16 = 0x01;
    /// Answers IDLE.
    pub const IDLE: u16 = 0x02;
    /// Answers STATUS.
    pub const STATUS: u16 = 0x04;
}

/// Bits of a square's status.
pub mod status {
    /// The array had no room for a piece, which was left out.
    pub const OVERFLOW: u8 = 0x01;
    /// A count exceeds the pieces in its section.
    pub const SHORT: u8 = 0x02;
}

/// Bits of the danger in a reply to POINTS.
pub mod danger {
    /// The piece that has just moved is lost.
    pub const ARTICLE: u8 = 0x01;
    /// And no square before it has a higher residue.
    pub const ORIGINAL: u8 = 0x02;
}

/// Actions in a step of TRACE.
pub mod step {
    /// Takes; the defender captures next.
    pub const TAKES: u8 = 1;
    /// Takes, and nothing recaptures: the end.
    pub const TAKES_LAST: u8 = 2;
    /// The attacker is worth more than the piece, no more than its guard: bring in the next.
    pub const NEEDS_HELP: u8 = 3;
    /// As [`NEEDS_HELP`], without a next attacker: the end.
    pub const HAS_NO_HELP: u8 = 4;
    /// The attacker is worth more than the piece and its guard: the end.
    pub const STOPS: u8 = 5;
    /// Added if the step is the defenders'.
    pub const DEFENDERS: u8 = 0x80;
}
