//! The reply to IDENT: which program answers, and what it can do.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::reply::MessageError;
use super::{REPLY, VERSION, kind};

/// Which program answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The boot monitor.
    Monitor,
    /// The exchange evaluator.
    Application,
    /// The debug kernel, which holds another program.
    Kernel,
}

/// The reply to IDENT.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Monitor, application or debug kernel.
    pub role: Role,
    /// CRC-32 of the program.
    pub build: u32,
    /// Bytes of requests that may be under way.
    pub window: u16,
    /// The addresses that the monitor's WRITE accepts, first and last; 0 in the application.
    pub loads: (u16, u16),
    /// Bits of [`super::capability`].
    pub capabilities: u8,
    /// Bits of [`super::further`]; 0 in the monitor.
    #[serde(default)]
    pub further: u16,
    /// Name for people.
    pub name: String,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, build {:08X}", self.name, self.build)
    }
}

impl Identity {
    pub(super) fn parse(payload: &[u8]) -> Result<Self, MessageError> {
        let length = || MessageError::Length(kind::IDENT + REPLY, payload.len());
        let (fixed, name) = payload.split_first_chunk::<13>().ok_or_else(length)?;
        let &[role, version, b0, b1, b2, b3, w0, w1, l0, l1, h0, h1, capabilities] = fixed;
        if version != VERSION {
            return Err(MessageError::Version(version));
        }
        let role = match role {
            b'M' => Role::Monitor,
            b'A' => Role::Application,
            b'K' => Role::Kernel,
            other => return Err(MessageError::Role(other)),
        };
        let first = u16::from_le_bytes([l0, l1]);
        let last = u16::from_le_bytes([h0, h1]);
        let (loads, further) = match role {
            Role::Monitor | Role::Kernel => ((first, last), 0),
            Role::Application => ((0, last), first),
        };
        Ok(Self {
            role,
            build: u32::from_le_bytes([b0, b1, b2, b3]),
            window: u16::from_le_bytes([w0, w1]),
            loads,
            capabilities,
            further,
            // The name is ASCII; whatever else a board sends must not reach a terminal as it is.
            name: name.iter().map(|byte| printable(*byte)).collect(),
        })
    }
}

/// Returns the character of a byte, or a question mark if it is not printable ASCII.
fn printable(byte: u8) -> char {
    if (b' '..=b'~').contains(&byte) { char::from(byte) } else { '?' }
}
