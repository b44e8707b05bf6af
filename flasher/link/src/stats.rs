//! The traffic of a link: counts, and the last bytes for messages.

use std::collections::VecDeque;
use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Bytes of the conversation kept for messages, each way.
const KEPT: usize = 64;

/// The traffic of a link, and its faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkStats {
    /// Requests answered.
    pub requests: u64,
    /// Bytes sent and received.
    pub bytes: (u64, u64),
    /// Repeated requests by their reason.
    pub repeats: Repeats,
    /// Frames that arrived damaged here.
    pub damaged_here: u64,
    /// Replies to requests that had been answered or given up.
    pub strays: u64,
    /// The time at least one request was under way.
    #[serde(rename = "occupied_us", with = "microseconds")]
    pub occupied: Duration,
}

/// Times as whole microseconds, for serde.
mod microseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        u64::try_from(time.as_micros()).unwrap_or(u64::MAX).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_micros)
    }
}

/// The number of times requests were repeated, and why.
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

    /// Returns the difference to an earlier moment.
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

impl AddAssign for LinkStats {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.bytes.0 += other.bytes.0;
        self.bytes.1 += other.bytes.1;
        self.repeats += other.repeats;
        self.damaged_here += other.damaged_here;
        self.strays += other.strays;
        self.occupied += other.occupied;
    }
}

impl Sum for LinkStats {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

impl LinkStats {
    /// Times that a request was repeated.
    #[must_use]
    pub fn repeated(&self) -> u64 {
        self.repeats.total()
    }

    /// Returns the difference to an earlier moment of the same link.
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

/// Reason for repeating a request.
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
    pub fn sent(&mut self, bytes: &[u8]) {
        keep(&mut self.sent, bytes);
    }

    /// Adds what was heard.
    pub fn heard(&mut self, bytes: &[u8]) {
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
///
/// # Examples
/// ```
/// use rcflash_link::show;
///
/// assert_eq!(show(b"OK\r"), "OK<0D>");
/// ```
pub fn show<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    let one = |byte: &u8| match byte {
        0x20..=0x7E => char::from(*byte).to_string(),
        _ => format!("<{byte:02X}>"),
    };
    let text: String = bytes.into_iter().map(one).collect();
    if text.is_empty() { "nothing".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of which no two are alike, times a factor.
    fn stats(factor: u64) -> LinkStats {
        LinkStats {
            requests: 3 * factor,
            bytes: (5 * factor, 7 * factor),
            repeats: repeats(factor),
            damaged_here: 11 * factor,
            strays: 13 * factor,
            occupied: Duration::from_micros(17 * factor),
        }
    }

    fn repeats(factor: u64) -> Repeats {
        let [silence, damaged_there, overrun, missing] = [1, 10, 100, 1000].map(|at| at * factor);
        Repeats { silence, damaged_there, overrun, missing }
    }

    #[test]
    fn what_was_added_since_is_the_difference_of_every_figure() {
        assert_eq!(stats(9).since(&stats(2)), stats(7));
        assert_eq!(stats(2).since(&LinkStats::default()), stats(2));
    }

    #[test]
    fn repetitions_add_up_by_cause_and_in_all() {
        let mut sum = repeats(3);
        sum += repeats(4);
        assert_eq!(sum, repeats(7));
        assert_eq!((sum.total(), stats(7).repeated()), (7777, 7777));
    }

    #[test]
    fn each_cause_has_its_own_count() {
        let mut counts = Repeats::default();
        let causes = [(Cause::Silence, 1), (Cause::DamagedThere, 2), (Cause::Overrun, 3)];
        for (cause, times) in causes.into_iter().chain([(Cause::Missing, 4)]) {
            (0..times).for_each(|_| counts.count(cause));
        }
        let expected = Repeats { silence: 1, damaged_there: 2, overrun: 3, missing: 4 };
        assert_eq!(counts, expected);
    }

    #[test]
    fn figures_are_written_in_microseconds_and_read_again() {
        let text = serde_json::to_string(&stats(4)).expect("JSON");
        assert!(text.contains(r#""occupied_us":68"#), "{text}");
        assert_eq!(serde_json::from_str::<LinkStats>(&text).expect("the same"), stats(4));
    }

    #[test]
    fn the_last_bytes_each_way_are_kept_and_shown() {
        let mut overheard = Overheard::default();
        assert_eq!(overheard.to_string(), "last sent: nothing; last heard: nothing");
        overheard.sent(&[b'x'; 70]);
        overheard.sent(b"\r\n");
        overheard.heard(b"Hi~ \x7F\x1F");
        let sent = format!("{}<0D><0A>", "x".repeat(62));
        assert_eq!(overheard.to_string(), format!("last sent: {sent}; last heard: Hi~ <7F><1F>"));
        overheard.heard(&(0..200).collect::<Vec<u8>>());
        assert_eq!(Vec::from(overheard.heard), (136..200).collect::<Vec<u8>>());
    }
}
