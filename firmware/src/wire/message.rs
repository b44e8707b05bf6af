//! What frames mean: requests, replies and the values in them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::exhaust::{ExhaustRequest, Tally};
use super::flash::{FlashReply, FlashRequest};
use super::{ERROR, MAX_BLOCK, MAX_RECORDS, RECORD, REPLY, STEP, VERSION, kind};

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
        /// 1 to [`MAX_BLOCK`] bytes.
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
        /// 1 to [`MAX_BLOCK`].
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

/// Why a frame is no reply that the protocol knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// No reply has this type.
    #[error("no reply has type {0:02X}h")]
    Kind(u8),
    /// The payload is not as long as the type asks for.
    #[error("a reply of type {0:02X}h can't have {1} bytes")]
    Length(u8, usize),
    /// Another version of the protocol.
    #[error("the board speaks version {0} of the protocol, this program version {VERSION}")]
    Version(u8),
    /// A role that the protocol does not know.
    #[error("the board calls itself {0:02X}h, which is neither monitor nor application")]
    Role(u8),
}

/// What the board answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// To IDENT.
    Identity(Identity),
    /// To RESET.
    Resetting,
    /// To WRITE: where, and how many bytes.
    Written {
        /// First address.
        address: u16,
        /// Bytes.
        count: u8,
    },
    /// To CRC.
    Crc(u16),
    /// To READ: where, and the bytes.
    Memory {
        /// First address.
        address: u16,
        /// The bytes.
        data: Vec<u8>,
    },
    /// To RUN: where.
    Running(u16),
    /// To something about the flash chip.
    Flash(FlashReply),
    /// To EXCHANGE.
    Residue {
        /// Points that the owner of the square loses.
        residue: u8,
        /// Bits of [`super::status`].
        status: u8,
    },
    /// To POSITION, some squares.
    Squares {
        /// Counts these frames from 0.
        part: u8,
        /// In the order of the squares.
        records: Vec<SquareRecord>,
    },
    /// To POSITION, at the end.
    PositionEnd(PositionEnd),
    /// To EXHAUST.
    Tally(Tally),
    /// To POINTS.
    Points(PointsReply),
    /// To TRACE.
    Trace {
        /// What XCHNG says that the owner of the square loses.
        residue: u8,
        /// Bits of [`super::status`].
        status: u8,
        /// How it comes about; none when nobody attacks.
        steps: Vec<StepRecord>,
    },
    /// Something was wrong.
    Error(ErrorReply),
}

/// Which of the two programs answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The boot monitor.
    Monitor,
    /// The exchange evaluator.
    Application,
}

/// Who is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Monitor or application.
    pub role: Role,
    /// CRC-32 of the program.
    pub build: u32,
    /// Bytes of requests that may be under way.
    pub window: u16,
    /// The addresses that WRITE accepts, first and last.
    pub loads: (u16, u16),
    /// Bits of [`super::capability`].
    pub capabilities: u8,
    /// Name for people.
    pub name: String,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, build {:08X}", self.name, self.build)
    }
}

/// One square of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SquareRecord {
    /// 21 + file + 10 * rank, both from 0.
    pub square: u8,
    /// Bit 7 colour, bits 2-0 type.
    pub piece: u8,
    /// Bits of [`super::status`].
    pub status: u8,
    /// Points that the piece's owner stands to lose.
    pub residue: u8,
    /// The attackers array as ATTACK left it.
    pub array: [u8; 14],
}

/// A pinned piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pin {
    /// Where it stands.
    pub square: u8,
    /// The step of the pin, outwards from the royal piece.
    pub step: i8,
}

/// What ends the reply to POSITION.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PositionEnd {
    /// Frames of squares before this one.
    pub parts: u8,
    /// Squares in them.
    pub squares: u8,
    /// All statuses together.
    pub status: u8,
    /// Squares of White's king, Black's king, White's queen, Black's queen; 0 for none.
    pub royals: [u8; 4],
    /// In the order in which they were found.
    pub pins: Vec<Pin>,
}

/// The reply to POINTS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointsReply {
    /// The highest residue of the side that has just moved.
    pub lost: u8,
    /// The highest two of the other side.
    pub prizes: [u8; 2],
    /// Bits of [`super::danger`].
    pub danger: u8,
    /// Lost and won as the article counts, in quarters of a point.
    pub article: [u8; 2],
    /// The same as the program of 1978 counts, in halves.
    pub book: [u8; 2],
    /// All statuses together.
    pub status: u8,
}

/// One step of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepRecord {
    /// One of [`super::step`], with [`super::step::DEFENDERS`] added or not.
    pub what: u8,
    /// Points at stake.
    pub stake: u8,
    /// What would capture.
    pub attacker: u8,
    /// What stands ready to answer, 0 for nothing.
    pub defender: u8,
    /// What the owner of the square has lost after the step.
    pub residue: u8,
}

/// The error reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorReply {
    /// What was wrong.
    pub code: ErrorCode,
    /// The request's type; 0 if not known.
    pub request: u8,
    /// See the code.
    pub detail: u16,
}

/// What was wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// The program does not answer such requests.
    UnknownType,
    /// The payload is too short or too long; the detail is its length.
    BadLength,
    /// WRITE may not go to the address in the detail.
    Address,
    /// The address in the detail did not keep its byte.
    ReadBack,
    /// The byte of the payload at the offset in the detail means nothing.
    BadArgument,
    /// A frame was damaged.
    Damaged,
    /// As damaged, and the receiver lost a byte.
    Overrun,
    /// The flash chip is none that the monitor knows, or it can't be written; the detail is what it said.
    Chip,
    /// Only BOOT may change the sector in the detail.
    Protected,
    /// The sector in the detail was not erased in time.
    Timeout,
    /// Flash has another CRC-32 than the host said; the detail is its low half.
    Verify,
    /// A code that this program does not know.
    Unknown(u8),
}

impl ErrorCode {
    /// The code on the line.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::UnknownType => 1,
            Self::BadLength => 2,
            Self::Address => 3,
            Self::ReadBack => 4,
            Self::BadArgument => 5,
            Self::Damaged => 6,
            Self::Overrun => 7,
            Self::Chip => 8,
            Self::Protected => 9,
            Self::Timeout => 10,
            Self::Verify => 11,
            Self::Unknown(code) => code,
        }
    }

    fn from_code(code: u8) -> Self {
        let all = [
            Self::UnknownType,
            Self::BadLength,
            Self::Address,
            Self::ReadBack,
            Self::BadArgument,
            Self::Damaged,
            Self::Overrun,
            Self::Chip,
            Self::Protected,
            Self::Timeout,
            Self::Verify,
        ];
        all.into_iter().find(|one| one.code() == code).unwrap_or(Self::Unknown(code))
    }
}

impl fmt::Display for ErrorReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (request, detail) = (self.request, self.detail);
        match self.code {
            ErrorCode::UnknownType => write!(f, "it does not know requests of type {request:02X}h"),
            ErrorCode::BadLength => {
                write!(f, "a request of type {request:02X}h can't have {detail} bytes")
            }
            ErrorCode::Address => write!(f, "address {detail:04X}h may not be written"),
            ErrorCode::ReadBack => write!(f, "address {detail:04X}h does not keep what is written"),
            ErrorCode::BadArgument => {
                write!(f, "byte {detail} of a request of type {request:02X}h means nothing")
            }
            ErrorCode::Damaged => write!(f, "a frame arrived damaged"),
            ErrorCode::Overrun => write!(f, "its receiver lost a byte"),
            ErrorCode::Chip => write!(
                f,
                "no flash chip that it knows answers (identity {detail:04X}h): another chip, or one \
                 that can't be written"
            ),
            ErrorCode::Protected => write!(f, "sector {detail} holds the boot monitor"),
            ErrorCode::Timeout => write!(f, "sector {detail} was not erased in time"),
            ErrorCode::Verify => write!(f, "its flash has another check (low half {detail:04X}h)"),
            ErrorCode::Unknown(code) => write!(f, "error code {code} (detail {detail:04X}h)"),
        }
    }
}

impl Reply {
    /// Reads the payload of a reply of a type.
    ///
    /// # Errors
    /// What keeps it from being one.
    pub fn parse(kind_byte: u8, payload: &[u8]) -> Result<Self, MessageError> {
        let length = || MessageError::Length(kind_byte, payload.len());
        if kind_byte == ERROR {
            let &[code, request, low, high] = payload else { return Err(length()) };
            let (code, detail) = (ErrorCode::from_code(code), u16::from_le_bytes([low, high]));
            return Ok(Self::Error(ErrorReply { code, request, detail }));
        }
        let kind = kind_byte.checked_sub(REPLY).ok_or(MessageError::Kind(kind_byte))?;
        let reply = match (kind, payload) {
            (kind::IDENT, _) => return Identity::parse(payload).map(Self::Identity),
            (kind::RESET, []) => Self::Resetting,
            (kind::WRITE, &[low, high, count]) => {
                Self::Written { address: u16::from_le_bytes([low, high]), count }
            }
            (kind::CRC, &[low, high]) => Self::Crc(u16::from_le_bytes([low, high])),
            (kind::READ, [low, high, data @ ..]) if (1..=MAX_BLOCK).contains(&data.len()) => {
                Self::Memory { address: u16::from_le_bytes([*low, *high]), data: data.to_vec() }
            }
            (kind::RUN, &[low, high]) => Self::Running(u16::from_le_bytes([low, high])),
            (kind::CHIP..=kind::BOOT, _) => {
                Self::Flash(FlashReply::parse(kind_byte, payload).ok_or_else(length)?)
            }
            (kind::EXCHANGE, &[residue, status]) => Self::Residue { residue, status },
            (kind::POSITION, _) => squares(payload).ok_or_else(length)?,
            (kind::POSITION_END, _) => {
                Self::PositionEnd(PositionEnd::parse(payload).ok_or_else(length)?)
            }
            (kind::EXHAUST, _) => Self::Tally(Tally::parse(payload).ok_or_else(length)?),
            (kind::TRACE, _) => trace(payload).ok_or_else(length)?,
            (kind::POINTS, _) => Self::Points(PointsReply::parse(payload).ok_or_else(length)?),
            (kind::IDENT..=kind::RESET | kind::WRITE..=kind::RUN | kind::EXCHANGE, _) => {
                return Err(length());
            }
            _ => return Err(MessageError::Kind(kind_byte)),
        };
        Ok(reply)
    }
}

impl Identity {
    fn parse(payload: &[u8]) -> Result<Self, MessageError> {
        let length = || MessageError::Length(kind::IDENT + REPLY, payload.len());
        let (fixed, name) = payload.split_first_chunk::<13>().ok_or_else(length)?;
        let &[role, version, b0, b1, b2, b3, w0, w1, l0, l1, h0, h1, capabilities] = fixed;
        if version != VERSION {
            return Err(MessageError::Version(version));
        }
        let role = match role {
            b'M' => Role::Monitor,
            b'A' => Role::Application,
            other => return Err(MessageError::Role(other)),
        };
        Ok(Self {
            role,
            build: u32::from_le_bytes([b0, b1, b2, b3]),
            window: u16::from_le_bytes([w0, w1]),
            loads: (u16::from_le_bytes([l0, l1]), u16::from_le_bytes([h0, h1])),
            capabilities,
            name: String::from_utf8_lossy(name).into_owned(),
        })
    }
}

fn squares(payload: &[u8]) -> Option<Reply> {
    let (&[part, count], rest) = payload.split_first_chunk()?;
    let (records, odd) = rest.as_chunks::<RECORD>();
    if !odd.is_empty() || records.len() != usize::from(count) || records.len() > MAX_RECORDS {
        return None;
    }
    let records = records.iter().map(SquareRecord::parse).collect();
    Some(Reply::Squares { part, records })
}

impl SquareRecord {
    fn parse(bytes: &[u8; RECORD]) -> Self {
        let &[square, piece, status, residue, ..] = bytes;
        let mut array = [0; 14];
        array.copy_from_slice(&bytes[4..]);
        Self { square, piece, status, residue, array }
    }
}

impl PositionEnd {
    fn parse(payload: &[u8]) -> Option<Self> {
        let (&[parts, squares, status, r0, r1, r2, r3, count], rest) =
            payload.split_first_chunk()?;
        let (pins, odd) = rest.as_chunks::<2>();
        if !odd.is_empty() || pins.len() != usize::from(count) {
            return None;
        }
        let pins = pins.iter().map(|&[square, step]| Pin { square, step: step as i8 }).collect();
        Some(Self { parts, squares, status, royals: [r0, r1, r2, r3], pins })
    }
}

fn trace(payload: &[u8]) -> Option<Reply> {
    let (&[residue, status], rest) = payload.split_first_chunk()?;
    let (records, odd) = rest.as_chunks::<STEP>();
    let step = |&[what, stake, attacker, defender, residue]: &[u8; STEP]| StepRecord {
        what,
        stake,
        attacker,
        defender,
        residue,
    };
    let steps = records.iter().map(step).collect();
    odd.is_empty().then_some(Reply::Trace { residue, status, steps })
}

impl PointsReply {
    fn parse(payload: &[u8]) -> Option<Self> {
        let &[lost, p1, p2, danger, a1, a2, b1, b2, status] = payload else { return None };
        Some(Self { lost, prizes: [p1, p2], danger, article: [a1, a2], book: [b1, b2], status })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_identity_is_read_as_the_protocol_lays_it_out() {
        let mut payload = vec![b'M', 1, 0x78, 0x56, 0x34, 0x12, 250, 0, 0, 0x80, 0xFF, 0xEF, 1];
        payload.extend(b"name");
        let Ok(Reply::Identity(identity)) = Reply::parse(0x81, &payload) else { panic!() };
        assert_eq!((identity.role, identity.build), (Role::Monitor, 0x1234_5678));
        assert_eq!((identity.window, identity.loads), (250, (0x8000, 0xEFFF)));
        assert_eq!((identity.capabilities, identity.name.as_str()), (1, "name"));
        payload[1] = 2;
        assert_eq!(Reply::parse(0x81, &payload), Err(MessageError::Version(2)));
    }

    #[test]
    fn pins_keep_the_sign_of_their_step() {
        let payload = [1, 2, 0, 25, 95, 0, 0, 1, 35, 0xF6];
        let Ok(Reply::PositionEnd(end)) = Reply::parse(0xA2, &payload) else { panic!() };
        assert_eq!(end.pins, [Pin { square: 35, step: -10 }]);
        assert_eq!(end.royals, [25, 95, 0, 0]);
        assert_eq!(Reply::parse(0xA2, &payload[..9]), Err(MessageError::Length(0xA2, 9)));
    }

    proptest! {
        #[test]
        fn any_payload_is_read_or_refused(kind in any::<u8>(), payload in prop::collection::vec(any::<u8>(), 0..=240)) {
            let _ = Reply::parse(kind, &payload);
        }
    }
}
