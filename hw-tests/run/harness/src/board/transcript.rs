//! Transcripts: the traffic between host and board with times, as lines of JSON.
//!
//! The first line is a [`TranscriptHeader`], each other line a [`TranscriptEntry`]. docs/TESTING.md
//! describes them.

use std::fmt;

use firmware_wire::Identity;
use rcflash_link::escape_bytes;
use serde::{Deserialize, Serialize};

/// The version of the format.
pub const TRANSCRIPT_FORMAT: u32 = 1;
/// The first bytes of a transcript.
pub(super) const TRANSCRIPT_MAGIC: &[u8] = b"{\"transcript\":";

/// The first line of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptHeader {
    /// [`TRANSCRIPT_FORMAT`].
    pub transcript: u32,
    /// The program that recorded it, with its version.
    pub program: String,
    /// The name of the board.
    pub board: String,
    /// The name of its profile.
    pub profile: String,
    /// The names of the requested cases.
    pub cases: Vec<String>,
    /// Whether the run requested every byte; `true` in transcripts that lack the field.
    #[serde(default = "always")]
    pub full: bool,
}

fn always() -> bool {
    true
}

/// An event with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptEntry {
    /// Microseconds since the line was first opened.
    pub time_us: u64,
    /// The event.
    #[serde(flatten)]
    pub event: TranscriptEvent,
}

/// An event on the line or the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptEvent {
    /// The line was opened.
    Opened {},
    /// The line could not be opened, with the reason.
    OpenFailed(String),
    /// The host sent bytes.
    Sent(HexBytes),
    /// The host received bytes.
    Received(HexBytes),
    /// A read returned no bytes within its timeout.
    ReadTimedOut {},
    /// A read failed, with the reason.
    ReadFailed(String),
    /// A write failed, with the reason.
    WriteFailed(String),
    /// The host reset the board.
    Reset {},
    /// The board was ready for requests.
    Ready(RunningApplication),
}

impl TranscriptEvent {
    /// Returns `true` for the outcome of a read.
    pub(super) fn is_read(&self) -> bool {
        matches!(self, Self::Received(_) | Self::ReadTimedOut {} | Self::ReadFailed(_))
    }

    /// Returns `true` if nothing happened on the line.
    pub(super) fn is_annotation(&self) -> bool {
        matches!(self, Self::Reset {} | Self::Ready(_))
    }
}

impl fmt::Display for TranscriptEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened {} => write!(f, "opened the line"),
            Self::OpenFailed(reason) => write!(f, "failed to open the line ({reason})"),
            Self::Sent(HexBytes(bytes)) => write!(f, "sent {}", escape_bytes(bytes)),
            Self::Received(HexBytes(bytes)) => write!(f, "received {}", escape_bytes(bytes)),
            Self::ReadTimedOut {} => write!(f, "waited for bytes"),
            Self::ReadFailed(reason) => write!(f, "failed to read ({reason})"),
            Self::WriteFailed(reason) => write!(f, "failed to send ({reason})"),
            Self::Reset {} => write!(f, "reset the board"),
            Self::Ready(_) => write!(f, "found the board ready"),
        }
    }
}

/// The application on a board that is ready for requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningApplication {
    /// The application's identity.
    pub application: Identity,
    /// The routines in it that come from the user's own sources.
    pub user_routines: Vec<String>,
    /// The last sequence number used.
    pub seq: u8,
}

/// Bytes, serialized as hexadecimal digits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HexBytes(
    #[serde(
        serialize_with = "hex::serde::serialize_upper",
        deserialize_with = "hex::serde::deserialize"
    )]
    pub Vec<u8>,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_one_line_that_people_can_read() {
        let entry = TranscriptEntry {
            time_us: 1500,
            event: TranscriptEvent::Sent(HexBytes(vec![0, 0xA5])),
        };
        let line = serde_json::to_string(&entry).expect("JSON");
        assert_eq!(line, r#"{"time_us":1500,"sent":"00A5"}"#);
        assert_eq!(serde_json::from_str::<TranscriptEntry>(&line).expect("the same"), entry);
        let quiet = TranscriptEntry { time_us: 2, event: TranscriptEvent::ReadTimedOut {} };
        let line = serde_json::to_string(&quiet).expect("JSON");
        assert_eq!(serde_json::from_str::<TranscriptEntry>(&line).expect("the same"), quiet);
    }

    #[test]
    fn bytes_that_are_not_hexadecimal_are_refused() {
        for text in [
            r#"{"time_us":1,"sent":"0"}"#,
            r#"{"time_us":1,"sent":"0g"}"#,
            r#"{"time_us":1,"sent":"é"}"#,
        ] {
            assert!(serde_json::from_str::<TranscriptEntry>(text).is_err(), "{text}");
        }
    }
}
