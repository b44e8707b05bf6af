//! The error reply: what was wrong with a request.

use std::fmt;

/// The error reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorReply {
    /// The kind of error.
    pub code: ErrorCode,
    /// The request's type; 0 if not known.
    pub request: u8,
    /// See the code.
    pub detail: u16,
}

impl ErrorReply {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let &[code, request, low, high] = payload else { return None };
        let code = ErrorCode::from_code(code);
        let detail = u16::from_le_bytes([low, high]);
        Some(Self { code, request, detail })
    }
}

impl fmt::Display for ErrorReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let request = self.request;
        let detail = self.detail;
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
                "no flash chip that it knows answers (identity {detail:04X}h): another chip, or \
                 one that can't be written"
            ),
            ErrorCode::Protected => write!(f, "sector {detail} holds the boot monitor"),
            ErrorCode::Timeout => write!(f, "sector {detail} was not erased in time"),
            ErrorCode::Verify => write!(f, "its flash has another check (low half {detail:04X}h)"),
            ErrorCode::Unknown(code) => write!(f, "error code {code} (detail {detail:04X}h)"),
        }
    }
}

/// The kind of error that a request met.
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
    /// The flash chip is none that the monitor knows, or it can't be written; the detail is what it
    /// said.
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
