//! What passed over a link: counts, and the last bytes for messages.

use std::collections::VecDeque;
use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Bytes of the conversation kept for messages, each way.
const KEPT: usize = 64;

/// What passed over a link, and what went wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkStats {
    /// Requests answered.
    pub requests: u64,
    /// Bytes sent and received.
    pub bytes: (u64, u64),
    /// Why requests were repeated.
    pub repeats: Repeats,
    /// Frames that arrived damaged here.
    pub damaged_here: u64,
    /// Replies to requests that had been answered or given up.
    pub strays: u64,
    /// How long at least one request was under way.
    #[serde(rename = "occupied_us", with = "microseconds")]
    pub occupied: Duration,
}

/// Times as whole microseconds, for serde.
mod microseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        (time.as_micros() as u64).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_micros)
    }
}

/// How often requests were repeated, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    /// No reply came in time.
    pub silence: u64,
    /// The board said that a frame arrived damaged.
    pub damaged_there: u64,
    /// The board's receiver lost a byte.
    pub overrun: u64,
    /// A reply, or a part of it, was missing when a later one came.
    pub missing: u64,
}

impl Repeats {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.silence + self.damaged_there + self.overrun + self.missing
    }

    /// What was added since an earlier moment.
    #[must_use]
    fn since(&self, earlier: &Self) -> Self {
        Self {
            silence: self.silence - earlier.silence,
            damaged_there: self.damaged_there - earlier.damaged_there,
            overrun: self.overrun - earlier.overrun,
            missing: self.missing - earlier.missing,
        }
    }

    pub(super) fn count(&mut self, cause: Cause) {
        match cause {
            Cause::Silence => self.silence += 1,
            Cause::DamagedThere => self.damaged_there += 1,
            Cause::Overrun => self.overrun += 1,
            Cause::Missing => self.missing += 1,
        }
    }
}

impl AddAssign for Repeats {
    fn add_assign(&mut self, other: Self) {
        self.silence += other.silence;
        self.damaged_there += other.damaged_there;
        self.overrun += other.overrun;
        self.missing += other.missing;
    }
}

impl LinkStats {
    /// Times that a request was repeated.
    #[must_use]
    pub fn repeated(&self) -> u64 {
        self.repeats.total()
    }

    /// What passed since an earlier moment of the same link.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            bytes: (self.bytes.0 - earlier.bytes.0, self.bytes.1 - earlier.bytes.1),
            repeats: self.repeats.since(&earlier.repeats),
            damaged_here: self.damaged_here - earlier.damaged_here,
            strays: self.strays - earlier.strays,
            occupied: self.occupied.saturating_sub(earlier.occupied),
        }
    }
}

/// Why a request is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// No reply came in time.
    Silence,
    /// The board got it damaged.
    DamagedThere,
    /// The board's receiver lost a byte.
    Overrun,
    /// Its reply, or a part of it, was missing when a later one came.
    Missing,
}

/// The last bytes of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overheard {
    /// Sent to the board.
    pub sent: VecDeque<u8>,
    /// Heard from it.
    pub heard: VecDeque<u8>,
}

impl Overheard {
    /// Adds what was sent.
    pub(crate) fn sent(&mut self, bytes: &[u8]) {
        keep(&mut self.sent, bytes);
    }

    /// Adds what was heard.
    pub(crate) fn heard(&mut self, bytes: &[u8]) {
        keep(&mut self.heard, bytes);
    }
}

fn keep(store: &mut VecDeque<u8>, bytes: &[u8]) {
    store.extend(&bytes[bytes.len().saturating_sub(KEPT)..]);
    store.drain(..store.len().saturating_sub(KEPT));
}

impl fmt::Display for Overheard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "last sent: {}; last heard: {}", show(&self.sent), show(&self.heard))
    }
}

/// Printable text as such, other bytes in hexadecimal.
pub(crate) fn show<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    let one = |byte: &u8| match byte {
        0x20..=0x7E => char::from(*byte).to_string(),
        _ => format!("<{byte:02X}>"),
    };
    let text: String = bytes.into_iter().map(one).collect();
    if text.is_empty() { "nothing".to_owned() } else { text }
}
