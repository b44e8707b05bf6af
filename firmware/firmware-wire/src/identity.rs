//! The reply to IDENT: the program on the board and its capabilities.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::error::{FieldError, MessageError};
use super::{MIN_WINDOW, PROTOCOL_VERSION, REPLY_BIT, kind};

/// The kind of program on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The boot monitor.
    Monitor,
    /// The exchange evaluator.
    Application,
    /// The caller, which calls any routine.
    Caller,
    /// The debug kernel, which stops and resumes another program.
    Kernel,
}

/// The reply to IDENT. Only a decoder creates one, so its fields are within their ranges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Identity {
    /// Monitor, application, caller or debug kernel.
    pub role: Role,
    /// CRC-32 of the program.
    pub build_id: u32,
    /// Most bytes of requests that may be in flight, at least [`MIN_WINDOW`].
    pub window: u16,
    /// The first and last address that WRITE accepts; 0 in the application, which has no WRITE.
    pub load_range: (u16, u16),
    /// Bits of [`super::capability`].
    pub capabilities: u8,
    /// Bits of [`super::extended_capability`]; 0 except in the application.
    pub extended_capabilities: u16,
    /// Display name.
    pub name: String,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, build {:08X}", self.name, self.build_id)
    }
}

impl Identity {
    pub(super) fn parse(payload: &[u8]) -> Result<Self, MessageError> {
        let length = || MessageError::Length(kind::IDENT + REPLY_BIT, payload.len());
        let (fixed, name) = payload.split_first_chunk::<13>().ok_or_else(length)?;
        let &[role, version, b0, b1, b2, b3, w0, w1, l0, l1, h0, h1, capabilities] = fixed;
        if version != PROTOCOL_VERSION {
            return Err(MessageError::Version(version));
        }
        let role = match role {
            b'M' => Role::Monitor,
            b'A' => Role::Application,
            b'K' => Role::Kernel,
            b'C' => Role::Caller,
            other => return Err(MessageError::Role(other)),
        };
        let first = u16::from_le_bytes([l0, l1]);
        let last = u16::from_le_bytes([h0, h1]);
        let (loads, further) = match role {
            Role::Monitor | Role::Kernel | Role::Caller => ((first, last), 0),
            Role::Application => ((0, last), first),
        };
        let invalid = |error| MessageError::Field(kind::IDENT + REPLY_BIT, error);
        if loads.0 > loads.1 {
            return Err(invalid(FieldError::LoadRange { first, last }));
        }
        let window = u16::from_le_bytes([w0, w1]);
        if window < MIN_WINDOW {
            return Err(invalid(FieldError::Window(window)));
        }
        Ok(Self {
            role,
            build_id: u32::from_le_bytes([b0, b1, b2, b3]),
            window,
            load_range: loads,
            capabilities,
            extended_capabilities: further,
            // The name is ASCII. Other bytes, such as escape sequences, must not reach a terminal.
            name: name.iter().map(|byte| printable(*byte)).collect(),
        })
    }
}

/// Returns the character of a byte, or a question mark if it is not printable ASCII.
fn printable(byte: u8) -> char {
    if (b' '..=b'~').contains(&byte) { char::from(byte) } else { '?' }
}
