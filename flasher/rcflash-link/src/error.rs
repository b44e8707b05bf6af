//! The error of a request.

use std::time::Duration;
use std::{fmt, io};

use firmware_wire::{ErrorReply, MessageError};

use crate::traffic::{RecentTraffic, escape_bytes};

/// Error returned for a request without a valid reply.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Reading or writing the port failed.
    #[error("{port}: the line failed while {operation}: {source}{}", io_hint(port, source))]
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
        waited.as_secs_f64(), timeout_hint(operation, recent_traffic)
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
    #[error("interrupted while {operation}{hint}")]
    Interrupted {
        /// The operation that was interrupted.
        operation: &'static str,
        /// What was received instead of a reply, while the board is being identified; else empty.
        hint: String,
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

/// Returns a hint for a port that failed; a full disk, or a recording of other traffic, is not the
/// cable's fault.
#[must_use]
pub fn io_hint(port: &str, source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull => "",
        _ if port.contains("://") => "; is its server still running?",
        io::ErrorKind::InvalidData => "",
        _ => "; is it still plugged in?",
    }
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

/// The operation of an IDENT request.
pub(crate) const IDENTIFYING: &str = "identifying the board";
/// The start of a reply of an HTTP server.
const HTTP_REPLY: &[u8] = b"HTTP/1.";
/// So many equal bytes are not a program's output.
const MIN_REPEATED_BYTES: usize = 16;

/// Returns what the bytes received instead of a reply show, if anything. A board that has been
/// identified sends replies, which are not text either.
fn diagnosis(operation: &str, recent_traffic: &RecentTraffic) -> Option<&'static str> {
    let received: Vec<u8> = recent_traffic.received.iter().copied().collect();
    let is_text = |byte: &&u8| matches!(**byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7E);
    let text = received.iter().filter(is_text).count();
    if recent_traffic.is_echo() {
        Some("your own bytes came back: are TX and RX joined, or is another program an echo?")
    } else if received.windows(HTTP_REPLY.len()).any(|bytes| bytes == HTTP_REPLY) {
        Some("this is an HTTP server: give the address of a serial port's server")
    } else if received.len() >= MIN_REPEATED_BYTES && received.iter().all(|b| *b == received[0]) {
        Some("the same byte comes over and over: check the wiring")
    } else if operation == IDENTIFYING && text * 4 < received.len() * 3 {
        Some("this is noise or text at another speed: run `rcflash probe` to try other speeds")
    } else {
        None
    }
}

/// Returns a hint for a board that did not reply.
fn timeout_hint(operation: &str, recent_traffic: &RecentTraffic) -> &'static str {
    let received: Vec<u8> = recent_traffic.received.iter().copied().collect();
    if received.windows(MONITOR_BANNER.len()).any(|bytes| bytes == MONITOR_BANNER) {
        return "the monitor has just started; try again, or run `rcflash probe` to identify it";
    }
    diagnosis(operation, recent_traffic).unwrap_or(if received.is_empty() {
        "press reset and check the cable, or run `rcflash probe` to try other speeds"
    } else {
        "press reset, or run `rcflash probe` to identify the program and its speed"
    })
}

impl LinkError {
    /// Creates the error of an operation that the user stopped.
    pub(crate) fn interrupted(operation: &'static str, recent_traffic: &RecentTraffic) -> Self {
        let mut hint = String::new();
        if operation == IDENTIFYING {
            let received = escape_bytes(&recent_traffic.received);
            hint = format!("; last received: {received}");
            hint.extend(diagnosis(operation, recent_traffic).iter().flat_map(|what| ["; ", *what]));
        }
        Self::Interrupted { operation, hint }
    }

    pub(crate) fn unexpected_reply(operation: &'static str, cause: impl fmt::Display) -> Self {
        Self::UnexpectedReply { operation, cause: cause.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_is_to_try_again_where_the_monitor_has_just_started() {
        let hint_during = |operation, received: &[u8]| {
            let mut recent_traffic = RecentTraffic::default();
            recent_traffic.add_received(received);
            timeout_hint(operation, &recent_traffic)
        };
        let hint = |received| hint_during(IDENTIFYING, received);
        let banner = b"\x81M\x01\r\nSargon board monitor 1, build 01234567\r\n";
        assert_eq!(
            hint(banner),
            "the monitor has just started; try again, or run `rcflash probe` to identify it"
        );
        assert!(hint(b"").starts_with("press reset and check the cable"));
        assert!(hint(b"HTTP/1.0 400 Bad").starts_with("this is an HTTP server"));
        assert!(hint(&[b'U'; 16]).starts_with("the same byte comes over and over"));
        let replies = b"\x83\xF6U\x03";
        assert!(hint(replies).starts_with("this is noise or text at another speed"));
        let hint_later = hint_during("playing out an exchange", replies);
        assert!(hint_later.starts_with("press reset, or run `rcflash probe`"));
        let mut recent_traffic = RecentTraffic::default();
        recent_traffic.add_sent(b"\0\x01\x05identify\0");
        recent_traffic.add_received(b"\x05identify\0");
        assert!(timeout_hint(IDENTIFYING, &recent_traffic).starts_with("your own bytes came back"));
        assert!(hint(b"Sargon board").starts_with("press reset, or run `rcflash probe`"));
    }
}
