//! Counts of a link: requests, bytes, retries and errors.

use std::iter::Sum;
use std::ops::AddAssign;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Counts of a link's traffic and errors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkStats {
    /// Requests that completed with a reply.
    pub requests: u64,
    /// Bytes sent and received.
    pub bytes: (u64, u64),
    /// Retries by cause.
    pub retries: RetryCounts,
    /// Frames that arrived corrupted at the host.
    pub corrupted_at_host: u64,
    /// Replies that matched no pending request.
    pub unmatched_replies: u64,
    /// The time with at least one request in flight.
    #[serde(rename = "busy_us", with = "microseconds")]
    pub busy: Duration,
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

/// The number of retries, by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryCounts {
    /// No reply arrived in time.
    pub timeout: u64,
    /// The board reported that a frame arrived corrupted.
    pub corrupted_at_board: u64,
    /// The board's receiver lost a byte.
    pub overrun: u64,
    /// A reply, or a part of it, was missing when a later one came.
    pub missing: u64,
}

impl RetryCounts {
    /// Returns the sum over all causes.
    pub fn total(&self) -> u64 {
        self.timeout + self.corrupted_at_board + self.overrun + self.missing
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            timeout: self.timeout - earlier.timeout,
            corrupted_at_board: self.corrupted_at_board - earlier.corrupted_at_board,
            overrun: self.overrun - earlier.overrun,
            missing: self.missing - earlier.missing,
        }
    }

    pub(super) fn count(&mut self, cause: RetryCause) {
        match cause {
            RetryCause::Timeout => self.timeout += 1,
            RetryCause::CorruptedAtBoard => self.corrupted_at_board += 1,
            RetryCause::Overrun => self.overrun += 1,
            RetryCause::Missing => self.missing += 1,
        }
    }
}

impl AddAssign for RetryCounts {
    fn add_assign(&mut self, other: Self) {
        self.timeout += other.timeout;
        self.corrupted_at_board += other.corrupted_at_board;
        self.overrun += other.overrun;
        self.missing += other.missing;
    }
}

impl AddAssign for LinkStats {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.bytes.0 += other.bytes.0;
        self.bytes.1 += other.bytes.1;
        self.retries += other.retries;
        self.corrupted_at_host += other.corrupted_at_host;
        self.unmatched_replies += other.unmatched_replies;
        self.busy += other.busy;
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
    /// Returns the number of retries.
    pub fn total_retries(&self) -> u64 {
        self.retries.total()
    }

    /// Returns the difference to earlier counts of the same link.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            bytes: (self.bytes.0 - earlier.bytes.0, self.bytes.1 - earlier.bytes.1),
            retries: self.retries.since(&earlier.retries),
            corrupted_at_host: self.corrupted_at_host - earlier.corrupted_at_host,
            unmatched_replies: self.unmatched_replies - earlier.unmatched_replies,
            busy: self.busy.saturating_sub(earlier.busy),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryCause {
    /// No reply arrived in time.
    Timeout,
    /// The board reported a corrupted frame.
    CorruptedAtBoard,
    /// The board's receiver lost a byte.
    Overrun,
    /// Its reply, or a part of it, was missing when a later one came.
    Missing,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of which no two are alike, times a factor.
    fn stats(factor: u64) -> LinkStats {
        LinkStats {
            requests: 3 * factor,
            bytes: (5 * factor, 7 * factor),
            retries: retries(factor),
            corrupted_at_host: 11 * factor,
            unmatched_replies: 13 * factor,
            busy: Duration::from_micros(17 * factor),
        }
    }

    fn retries(factor: u64) -> RetryCounts {
        let [timeout, corrupted_at_board, overrun, missing] =
            [1, 10, 100, 1000].map(|at| at * factor);
        RetryCounts { timeout, corrupted_at_board, overrun, missing }
    }

    #[test]
    fn what_was_added_since_is_the_difference_of_every_figure() {
        assert_eq!(stats(9).since(&stats(2)), stats(7));
        assert_eq!(stats(2).since(&LinkStats::default()), stats(2));
    }

    #[test]
    fn repetitions_add_up_by_cause_and_in_all() {
        let mut sum = retries(3);
        sum += retries(4);
        assert_eq!(sum, retries(7));
        assert_eq!((sum.total(), stats(7).total_retries()), (7777, 7777));
    }

    #[test]
    fn each_cause_has_its_own_count() {
        let mut counts = RetryCounts::default();
        let causes =
            [(RetryCause::Timeout, 1), (RetryCause::CorruptedAtBoard, 2), (RetryCause::Overrun, 3)];
        for (cause, times) in causes.into_iter().chain([(RetryCause::Missing, 4)]) {
            (0..times).for_each(|_| counts.count(cause));
        }
        let expected = RetryCounts { timeout: 1, corrupted_at_board: 2, overrun: 3, missing: 4 };
        assert_eq!(counts, expected);
    }

    #[test]
    fn figures_are_written_in_microseconds_and_read_again() {
        let text = serde_json::to_string(&stats(4)).expect("JSON");
        assert!(text.contains(r#""busy_us":68"#), "{text}");
        assert_eq!(serde_json::from_str::<LinkStats>(&text).expect("the same"), stats(4));
    }
}
