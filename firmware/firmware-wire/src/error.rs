//! The error reply, and the error of decoding a reply.

use std::fmt;

use super::{MAX_BLOCK, MAX_FLASH_SECTORS, MIN_WINDOW, PROTOCOL_VERSION};

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
        "the board uses version {0} of the protocol, this program version {PROTOCOL_VERSION}; \
         {hint}",
        hint = version_hint(*.0)
    )]
    Version(u8),
    /// An undefined role.
    #[error(
        "the board calls itself {0:02X}h, which is neither monitor, application, caller nor debug \
         kernel"
    )]
    Role(u8),
    /// A field of a reply of this type has a value that the protocol excludes.
    #[error("invalid reply of type {0:02X}h: {1}")]
    Field(u8, FieldError),
}

/// Error returned for a field that the protocol excludes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// The flash chip has no sectors, or more than an address reaches.
    #[error("a flash chip of {0} sectors, expected 1 to {MAX_FLASH_SECTORS}")]
    Sectors(u16),
    /// The boot sector is not protected, or more sectors are than the chip has.
    #[error("{protected} protected sectors, expected 1 to the chip's {sectors}")]
    ProtectedSectors {
        /// Protected sectors.
        protected: u8,
        /// Sectors of the chip.
        sectors: u16,
    },
    /// A number of a sector that no chip has.
    #[error("sector {0}, expected 0 to {last}", last = MAX_FLASH_SECTORS - 1)]
    Sector(u16),
    /// A block has no bytes, or more than fit a request.
    #[error("a block of {0} bytes, expected 1 to {MAX_BLOCK}")]
    BlockLength(u8),
    /// A block of flash crosses the end of the sector or page that a request is limited to.
    #[error("{length} bytes at {address:06X}h, which cross a multiple of {unit:X}h")]
    BlockEnd {
        /// First address.
        address: u32,
        /// Bytes.
        length: u8,
        /// Bytes of a sector or a page.
        unit: u32,
    },
    /// The longest frame does not fit the receive window.
    #[error("a receive window of {0} bytes, expected at least {MIN_WINDOW}")]
    Window(u16),
    /// The last address that WRITE accepts is below the first.
    #[error("a reversed range of addresses for WRITE, {first:04X}h to {last:04X}h")]
    LoadRange {
        /// First address.
        first: u16,
        /// Last address.
        last: u16,
    },
}

/// Returns what to do about another version of the protocol.
fn version_hint(version: u8) -> &'static str {
    if version > PROTOCOL_VERSION {
        "use a later release of this program, or put the monitor of this release into the board's \
         ROM"
    } else {
        "put the monitor of this release into the board's ROM"
    }
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
            ErrorCode::Verify => {
                write!(f, "flash CRC mismatch: the low half on the board is {detail:04X}h")
            }
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
    /// The flash chip is unsupported or write-protected; the detail is its identity.
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

    pub(super) fn from_code(code: u8) -> Self {
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
