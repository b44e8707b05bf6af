//! Error returned for a request without a reply.

use std::fmt;
use std::io;
use std::time::Duration;

use firmware_wire::ErrorReply;

use super::flight::SILENCES;
use super::stats::Overheard;

/// Error returned for a request without a reply.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The line failed.
    #[error("{port}: the line failed while {what}: {source}{}", hint(source))]
    Line {
        /// The line.
        port: String,
        /// The operation that failed.
        what: &'static str,
        /// The error that the system reported.
        source: io::Error,
    },
    /// Nobody answered.
    #[error(
        "{port}: no answer while {what}, asked {SILENCES} times within {:.1} s; {overheard}; {}",
        waited.as_secs_f64(), advice(overheard)
    )]
    Timeout {
        /// The line.
        port: String,
        /// The operation that failed.
        what: &'static str,
        /// The time all attempts took.
        waited: Duration,
        /// The last bytes.
        overheard: Box<Overheard>,
    },
    /// The line spoilt every attempt.
    #[error("{port}: {attempts} attempts at {what} were damaged on the line; {overheard}")]
    Damaged {
        /// The line.
        port: String,
        /// The operation that failed.
        what: &'static str,
        /// The number of times it was tried.
        attempts: u64,
        /// The last bytes.
        overheard: Box<Overheard>,
    },
    /// The user stopped it. The board may still carry out the request that was under way.
    #[error("interrupted while {what}")]
    Interrupted {
        /// The operation that failed.
        what: &'static str,
    },
    /// The board refused.
    #[error("the board refused while {what}: {error}")]
    Refused {
        /// The operation that failed.
        what: &'static str,
        /// The reason.
        error: ErrorReply,
    },
    /// The board answered something that makes no sense here.
    #[error("the board's answer while {what} makes no sense: {why}")]
    Nonsense {
        /// The operation that failed.
        what: &'static str,
        /// The reason.
        why: String,
    },
}

/// Returns advice for a line that failed; a full disk, of a line that is recorded, is no cable's
/// fault.
fn hint(source: &io::Error) -> &'static str {
    if source.kind() == io::ErrorKind::StorageFull { "" } else { "; is it still plugged in?" }
}

/// The first words of this project's monitor.
const GREETING: &[u8] = b"Sargon board monitor";

/// Returns advice for a board that did not answer.
fn advice(overheard: &Overheard) -> &'static str {
    let heard: Vec<u8> = overheard.heard.iter().copied().collect();
    if heard.windows(GREETING.len()).any(|words| words == GREETING) {
        "the monitor has started meanwhile: try again, or ask `rcflash probe` who talks there"
    } else if heard.is_empty() {
        "press reset and look at the cable; `rcflash probe` tries other speeds"
    } else {
        "press reset; `rcflash probe` tells who talks there, and at which speed"
    }
}

impl LinkError {
    pub(super) fn nonsense(what: &'static str, error: impl fmt::Display) -> Self {
        Self::Nonsense { what, why: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_is_to_try_again_where_the_monitor_has_just_started() {
        let advised = |heard: &[u8]| {
            let mut overheard = Overheard::default();
            overheard.heard(heard);
            advice(&overheard)
        };
        let greeting = b"\x81M\x01\r\nSargon board monitor 1, build 01234567\r\n";
        assert_eq!(
            advised(greeting),
            "the monitor has started meanwhile: try again, or ask `rcflash probe` who talks there"
        );
        assert!(advised(b"").starts_with("press reset and look at the cable"));
        assert!(advised(b"Sargon board").starts_with("press reset; `rcflash probe`"));
    }
}
