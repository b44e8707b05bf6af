//! Errors of loading a program through a stock monitor, and what to try.

use std::io;
use std::time::Duration;

use crate::prompt::Peer;
use rcflash_link::{RecentTraffic, io_hint};

/// Error returned by a load.
#[derive(Debug, thiserror::Error)]
pub enum LoaderError {
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
    /// The port accepted no bytes in time.
    #[error(
        "{port}: nothing could be sent for {:.0} s while {operation}: the board suspends the host \
         by RTS, or the adapter's CTS is not wired; try --flow none", waited.as_secs_f64()
    )]
    WriteTimeout {
        /// The name of the port.
        port: String,
        /// The operation that failed.
        operation: &'static str,
        /// The duration of the attempt.
        waited: Duration,
    },
    /// No reply, or no complete one, arrived in time.
    #[error("{port}: no reply within {:.1} s while {operation}; {recent_traffic}; {hint}",
        waited.as_secs_f64())]
    NoReply {
        /// The name of the port.
        port: String,
        /// The operation that failed.
        operation: &'static str,
        /// The duration of the wait.
        waited: Duration,
        /// The last bytes sent and received.
        recent_traffic: Box<RecentTraffic>,
        /// A suggestion.
        hint: &'static str,
    },
    /// What was received is not text.
    #[error(
        "{port}: received only noise while {operation}; {recent_traffic}; is the board set to \
         {baud} baud? Run `rcflash probe` to find its speed"
    )]
    Noise {
        /// The name of the port.
        port: String,
        /// The operation that failed.
        operation: &'static str,
        /// The current speed.
        baud: u32,
        /// The last bytes sent and received.
        recent_traffic: Box<RecentTraffic>,
    },
    /// A program prints text without end.
    #[error(
        "{port}: a program prints text without end while {operation}; {recent_traffic}; stop it \
         (in `rcflash monitor`, Ctrl-C stops a BASIC program), or press reset"
    )]
    EndlessText {
        /// The name of the port.
        port: String,
        /// The operation that failed.
        operation: &'static str,
        /// The last bytes sent and received.
        recent_traffic: Box<RecentTraffic>,
    },
    /// Another known program replied.
    #[error("{port}: found {actual} instead of {expected}; {}", actual.load_hint())]
    WrongPeer {
        /// The name of the port.
        port: String,
        /// The monitor that was expected.
        expected: &'static str,
        /// The monitor that replied.
        actual: Peer,
    },
    /// An unknown program replied.
    #[error(
        "{port}: found an unknown program instead of {expected}; {recent_traffic} (in hexadecimal \
         {}); docs/LOADERS.md has how to describe it for `--via FILE.toml`",
        hex_pairs(&recent_traffic.received)
    )]
    UnknownPeer {
        /// The name of the port.
        port: String,
        /// The monitor that was expected.
        expected: &'static str,
        /// The last bytes sent and received.
        recent_traffic: Box<RecentTraffic>,
    },
    /// The program is for a Z80, and drives a serial chip that the board does not have.
    #[error(
        "the board has a Z180, and the program is for a Z80 board: use --board {}",
        profile.unwrap_or("sc126, sc130, sc131 or sc140")
    )]
    Z180Board {
        /// The board's profile, if the monitor shows it.
        profile: Option<&'static str>,
    },
    /// The program is for a Z180, which the board's monitor does not show.
    #[error(
        "the board has no Z180, and the program is for one: choose the board's profile; `rcflash \
         boards` lists them"
    )]
    NoZ180,
    /// There is nothing to load.
    #[error("the program has no bytes")]
    Empty,
    /// The program does not fit into the memory that the monitor leaves free.
    #[error("the program needs {:04X}h-{:04X}h, but {reason}", needs.0, needs.1)]
    DoesNotFit {
        /// First and last address of the part that does not fit.
        needs: (u16, u16),
        /// Why it does not fit, as a clause.
        reason: String,
    },
    /// A line is corrupted at every pace.
    #[error(
        "{peer} rejects line {line} ({text}) even {pace}: {report}; characters are lost or \
         corrupted: check cable, speed and flow control"
    )]
    Corrupted {
        /// The name of the monitor.
        peer: &'static str,
        /// The number of the line, from 1.
        line: usize,
        /// The text of the line.
        text: String,
        /// The pace at which it was sent.
        pace: String,
        /// The report of the monitor.
        report: String,
    },
    /// The board's memory differs from what was sent.
    #[error(
        "verify failed: {mismatches} of {total} bytes differ, first at {address:04X}h in line \
         {line}: expected {expected:02X}h, read {actual:02X}h; {hint}"
    )]
    Verify {
        /// The number of bytes that differ.
        mismatches: usize,
        /// The number of bytes compared.
        total: usize,
        /// The address of the first mismatch.
        address: u16,
        /// The number of its line, from 1.
        line: usize,
        /// The value that was sent there.
        expected: u8,
        /// The value that was read back.
        actual: u8,
        /// A suggestion.
        hint: &'static str,
    },
    /// The file that was read back over XMODEM differs from the one that was sent.
    #[error(
        "verify failed: the file that was read back differs at byte {offset} of {total}; send it \
         again"
    )]
    FileMismatch {
        /// The first byte that differs, from 0.
        offset: usize,
        /// The number of bytes that were sent, including padding.
        total: usize,
    },
    /// The program at the other end refused.
    #[error("{peer} refused while {operation}: {text}")]
    Refused {
        /// The name of the program.
        peer: &'static str,
        /// The operation that failed.
        operation: &'static str,
        /// What it replied.
        text: String,
    },
    /// The reply is not one of those expected.
    #[error("unexpected reply from {peer} while {operation}: {text}; try again, or press reset")]
    UnexpectedReply {
        /// The name of the program.
        peer: &'static str,
        /// The operation that failed.
        operation: &'static str,
        /// What it replied.
        text: String,
    },
    /// The user stopped the operation.
    #[error("interrupted while {operation}; {state}")]
    Interrupted {
        /// The operation that was interrupted.
        operation: &'static str,
        /// The state in which the board was left.
        state: &'static str,
    },
}

/// Returns bytes as pairs of digits.
pub(crate) fn hex_pairs<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(" ")
}

impl LoaderError {
    /// Returns `true` if the board's content is wrong, rather than the setup.
    pub fn is_mismatch(&self) -> bool {
        matches!(self, Self::Verify { .. } | Self::FileMismatch { .. })
    }
}

pub(crate) type Result<T> = std::result::Result<T, LoaderError>;
