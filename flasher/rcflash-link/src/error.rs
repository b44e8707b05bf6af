//! The error of a request.

use std::time::Duration;
use std::{fmt, io};

use firmware_wire::{ErrorReply, MessageError};

use crate::traffic::RecentTraffic;

/// Error returned for a request without a valid reply.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Reading or writing the port failed.
    #[error("{port}: the line failed while {operation}: {source}{}", io_hint(source))]
    Io {
        /// The name of the port.
        port: String,
        /// The operation that failed.
        operation: &'static str,
        /// The error that the system reported.
        source: io::Error,
    },
    /// No reply arrived in time.
    #[error(
        "{port}: no reply while {operation}, after {attempts} attempts in {:.1} s; \
         {recent_traffic}; {}",
        waited.as_secs_f64(), timeout_hint(recent_traffic)
    )]
    Timeout {
        /// The name of the port.
        port: String,
        /// The operation that failed.
        operation: &'static str,
        /// The number of times the request was sent without a reply.
        attempts: u32,
        /// The time all attempts took.
        waited: Duration,
        /// The last bytes sent and received.
        recent_traffic: Box<RecentTraffic>,
    },
    /// Each attempt was corrupted on the line.
    #[error(
        "{port}: {attempts} attempts at {operation} were corrupted on the line; {recent_traffic}"
    )]
    Corrupted {
        /// The name of the port.
        port: String,
        /// The operation that failed.
        operation: &'static str,
        /// The number of attempts.
        attempts: u64,
        /// The last bytes sent and received.
        recent_traffic: Box<RecentTraffic>,
    },
    /// The user stopped the operation. The board may still execute the request in flight.
    #[error("interrupted while {operation}")]
    Interrupted {
        /// The operation that was interrupted.
        operation: &'static str,
    },
    /// The board replied with an error.
    #[error("the board refused while {operation}: {error}")]
    Refused {
        /// The operation that failed.
        operation: &'static str,
        /// The board's error.
        error: ErrorReply,
    },
    /// The reply is not one that the protocol has.
    #[error("invalid reply while {operation}: {error}{}", invalid_reply_hint(error))]
    InvalidReply {
        /// The operation that failed.
        operation: &'static str,
        /// What is wrong with the reply.
        error: MessageError,
    },
    /// The reply does not fit the request.
    #[error("unexpected reply while {operation}: {cause}")]
    UnexpectedReply {
        /// The operation that failed.
        operation: &'static str,
        /// The reply, or what is wrong with it.
        cause: String,
    },
}

/// Returns a hint for a port that failed; a full disk is not the cable's fault.
fn io_hint(source: &io::Error) -> &'static str {
    if source.kind() == io::ErrorKind::StorageFull { "" } else { "; is it still plugged in?" }
}

/// Returns a hint for an invalid reply. The message about another version has its own.
fn invalid_reply_hint(error: &MessageError) -> &'static str {
    match error {
        MessageError::Version(_) => "",
        _ => {
            "; press reset and try again, and if that does not help, put the monitor of this \
             release into the board's ROM"
        }
    }
}

/// The start of the banner of this project's monitor.
const MONITOR_BANNER: &[u8] = b"Sargon board monitor";

/// Returns a hint for a board that did not reply.
fn timeout_hint(recent_traffic: &RecentTraffic) -> &'static str {
    let received: Vec<u8> = recent_traffic.received.iter().copied().collect();
    if received.windows(MONITOR_BANNER.len()).any(|bytes| bytes == MONITOR_BANNER) {
        "the monitor has just started; try again, or run `rcflash probe` to identify it"
    } else if received.is_empty() {
        "press reset and check the cable, or run `rcflash probe` to try other speeds"
    } else {
        "press reset, or run `rcflash probe` to identify the program and its speed"
    }
}

impl LinkError {
    pub(crate) fn unexpected_reply(operation: &'static str, cause: impl fmt::Display) -> Self {
        Self::UnexpectedReply { operation, cause: cause.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_is_to_try_again_where_the_monitor_has_just_started() {
        let hint = |received: &[u8]| {
            let mut recent_traffic = RecentTraffic::default();
            recent_traffic.add_received(received);
            timeout_hint(&recent_traffic)
        };
        let banner = b"\x81M\x01\r\nSargon board monitor 1, build 01234567\r\n";
        assert_eq!(
            hint(banner),
            "the monitor has just started; try again, or run `rcflash probe` to identify it"
        );
        assert!(hint(b"").starts_with("press reset and check the cable"));
        assert!(hint(b"Sargon board").starts_with("press reset, or run `rcflash probe`"));
    }
}
