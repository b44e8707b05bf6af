//! Transcripts: all that passed between host and board, with times, as lines of JSON.
//!
//! The first line is the [`Heading`], each other line an [`Entry`]. docs/TESTING.md describes them.

use std::fmt::Write;

use firmware_wire::Identity;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The version of the format.
pub const FORMAT: u32 = 1;
/// The first bytes of a transcript, by which it is recognised.
pub(crate) const MARK: &[u8] = b"{\"transcript\":";

/// The heading of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// [`FORMAT`].
    pub transcript: u32,
    /// The program that recorded it, with its version.
    pub program: String,
    /// The name of the board.
    pub board: String,
    /// The name of its profile.
    pub profile: String,
    /// The names of the cases that it was asked for.
    pub cases: Vec<String>,
    /// Whether it was asked for every byte; transcripts without it were.
    #[serde(default = "always")]
    pub full: bool,
}

fn always() -> bool {
    true
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When, in microseconds since the line was first opened.
    pub at: u64,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The line was opened.
    Opened {},
    /// It could not be.
    NotOpened(String),
    /// The host sent bytes.
    Sent(Hex),
    /// It heard some.
    Heard(Hex),
    /// It listened, and nothing came.
    Quiet {},
    /// The line failed while the host listened.
    ReadFailed(String),
    /// The line failed while the host sent.
    WriteFailed(String),
    /// The host pressed the reset button.
    Reset {},
    /// The board was ready to be questioned.
    Ready(Ready),
}

/// A board ready to be questioned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The program that runs on it.
    pub application: Identity,
    /// The routines of the user's own in it.
    pub own: Vec<String>,
    /// The sequence number used last.
    pub seq: u8,
}

/// Bytes, written as hexadecimal digits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hex(pub Vec<u8>);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(2 * self.0.len());
        for byte in &self.0 {
            let _ = write!(text, "{byte:02X}");
        }
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("bytes are pairs of hexadecimal digits");
        if !text.len().is_multiple_of(2) || !text.is_ascii() {
            return Err(wrong());
        }
        let digits = (0..text.len()).step_by(2).map(|at| &text[at..at + 2]);
        let bytes: Result<_, _> = digits.map(|pair| u8::from_str_radix(pair, 16)).collect();
        bytes.map(Self).map_err(|_| wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_one_line_that_people_can_read() {
        let entry = Entry { at: 1500, event: Event::Sent(Hex(vec![0, 0xA5])) };
        let line = serde_json::to_string(&entry).expect("JSON");
        assert_eq!(line, r#"{"at":1500,"sent":"00A5"}"#);
        assert_eq!(serde_json::from_str::<Entry>(&line).expect("the same"), entry);
        let quiet = Entry { at: 2, event: Event::Quiet {} };
        let line = serde_json::to_string(&quiet).expect("JSON");
        assert_eq!(serde_json::from_str::<Entry>(&line).expect("the same"), quiet);
    }

    #[test]
    fn what_is_no_hexadecimal_is_refused() {
        for text in [r#"{"at":1,"sent":"0"}"#, r#"{"at":1,"sent":"0g"}"#, r#"{"at":1,"sent":"é"}"#]
        {
            assert!(serde_json::from_str::<Entry>(text).is_err(), "{text}");
        }
    }
}
