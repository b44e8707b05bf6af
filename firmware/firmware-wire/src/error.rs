//! The error reply, and the error of decoding a reply.

use std::fmt;

use super::PROTOCOL_VERSION;

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

/// Error returned if a frame is not a valid reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// No reply has this type.
    #[error("unknown reply type {0:02X}h")]
    Kind(u8),
    /// The payload's length does not fit the type.
    #[error("invalid length of a reply of type {0:02X}h: {1} bytes")]
    Length(u8, usize),
    /// Another version of the protocol.
    #[error(
        "the board speaks version {0} of the protocol, this program version {PROTOCOL_VERSION}"
    )]
    Version(u8),
    /// An undefined role.
    #[error(
        "the board calls itself {0:02X}h, which is neither monitor, application nor debug kernel"
    )]
    Role(u8),
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
            ErrorCode::UnknownType => write!(f, "unknown request type {request:02X}h"),
            ErrorCode::BadLength => {
                write!(f, "invalid length of a request of type {request:02X}h: {detail} bytes")
            }
            ErrorCode::Address => write!(f, "address {detail:04X}h is outside the range for WRITE"),
            ErrorCode::ReadBack => {
                write!(f, "address {detail:04X}h reads back differently: no RAM, or faulty")
            }
            ErrorCode::BadArgument => {
                write!(f, "invalid value at byte {detail} of a request of type {request:02X}h")
            }
            ErrorCode::CorruptedFrame => write!(f, "a frame arrived corrupted"),
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

/// The kind of error of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// The program has no such request.
    UnknownType,
    /// The payload is too short or too long; the detail is its length.
    BadLength,
    /// WRITE may not go to the address in the detail.
    Address,
    /// The address in the detail did not keep its byte.
    ReadBack,
    /// The payload byte at the offset in the detail is invalid.
    BadArgument,
    /// A frame was corrupted.
    CorruptedFrame,
    /// A frame was corrupted because the receiver lost a byte.
    Overrun,
    /// The flash chip is unsupported or write-protected; the detail is the identity that it
    /// reported.
    Chip,
    /// Only BOOT may change the sector in the detail.
    Protected,
    /// The sector in the detail was not erased in time.
    Timeout,
    /// The CRC-32 of flash is not the request's; the detail is its low half.
    Verify,
    /// A code without a definition here.
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
            Self::CorruptedFrame => 6,
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
            Self::CorruptedFrame,
            Self::Overrun,
            Self::Chip,
            Self::Protected,
            Self::Timeout,
            Self::Verify,
        ];
        all.into_iter().find(|one| one.code() == code).unwrap_or(Self::Unknown(code))
    }
}
