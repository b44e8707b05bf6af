//! Errors of loading a program through a stock monitor, and what to try.

use std::io;
use std::time::Duration;

use super::prompt::Peer;
use rcflash_link::RecentTraffic;

/// Error returned by a load.
#[derive(Debug, thiserror::Error)]
pub enum LoaderError {
    /// The line failed.
    #[error("{port}: the line failed while {what}: {source}; is it still plugged in?")]
    Line {
        /// The line.
        port: String,
        /// The operation that failed.
        what: &'static str,
        /// The error that the system reported.
        source: io::Error,
    },
    /// The line takes nothing.
    #[error(
        "{port}: the line took nothing for {:.0} s while {what}: the board holds the host off by \
         RTS, or the adapter's CTS is not wired; try --flow none", waited.as_secs_f64()
    )]
    Stalled {
        /// The line.
        port: String,
        /// The operation that failed.
        what: &'static str,
        /// The time nothing was taken.
        waited: Duration,
    },
    /// Nothing came, or not what was waited for.
    #[error("{port}: no answer within {:.1} s while {what}; {overheard}; \
    {try_this}", waited.as_secs_f64())]
    Silence {
        /// The line.
        port: String,
        /// The operation that failed.
        what: &'static str,
        /// The time.
        waited: Duration,
        /// The last bytes.
        overheard: Box<RecentTraffic>,
        /// A suggestion.
        try_this: &'static str,
    },
    /// Something talks without end, or not in text.
    #[error(
        "{port}: only noise was heard while {what}; {overheard}; does the board run at {baud} \
         baud? `rcflash probe` tells who it is, and at which speed"
    )]
    Noise {
        /// The line.
        port: String,
        /// The operation that failed.
        what: &'static str,
        /// The speed that was tried.
        baud: u32,
        /// The last bytes.
        overheard: Box<RecentTraffic>,
    },
    /// Somebody else answers.
    #[error("{port}: {found} answers, not {wanted}; {}", found.advice())]
    WrongPeer {
        /// The line.
        port: String,
        /// The monitor that was looked for.
        wanted: &'static str,
        /// The monitor that was found.
        found: Peer,
    },
    /// Something answers that nobody knows.
    #[error(
        "{port}: what answers is not {wanted}; {overheard}; `rcflash probe` tells who it is, and \
         at which speed"
    )]
    Stranger {
        /// The line.
        port: String,
        /// The monitor that was looked for.
        wanted: &'static str,
        /// The last bytes.
        overheard: Box<RecentTraffic>,
    },
    /// There is nothing to load.
    #[error("the program has no bytes")]
    Empty,
    /// The program does not fit what the monitor leaves free.
    #[error("the program needs {:04X}h-{:04X}h, but {keeper}", needs.0, needs.1)]
    DoesNotFit {
        /// First and last address of the part that does not fit.
        needs: (u16, u16),
        /// Whose memory it is, as a clause.
        keeper: String,
    },
    /// A line arrives damaged at every pace.
    #[error(
        "{who} refuses line {line} ({text}) even {pace}: {report}; the line loses or changes \
         characters: look at cable, speed and flow control"
    )]
    Damaged {
        /// The monitor.
        who: &'static str,
        /// Which line, from 1.
        line: usize,
        /// Its text.
        text: String,
        /// The pace at which it was sent.
        pace: String,
        /// The monitor's words.
        report: String,
    },
    /// The board's memory holds something else than what was sent.
    #[error(
        "verify failed: {wrong} of {of} bytes differ, first at {address:04X}h in line {line}: \
         sent {sent:02X}h, there {there:02X}h; {hint}"
    )]
    Verify {
        /// The number of bytes that differ.
        wrong: usize,
        /// Of how many.
        of: usize,
        /// Address of the first one.
        address: u16,
        /// In which line, from 1.
        line: usize,
        /// The value that was sent there.
        sent: u8,
        /// The value that is there.
        there: u8,
        /// Advice on what to check.
        hint: &'static str,
    },
    /// The file that came back over XMODEM differs from the one that was sent.
    #[error(
        "verify failed: the file that came back differs from what was sent at byte {at} of {of}; \
         send it again"
    )]
    FileDiffers {
        /// The first byte that differs, from 0.
        at: usize,
        /// The number of bytes that were sent, padded.
        of: usize,
    },
    /// The other side refused.
    #[error("{who} refused while {what}: {text}")]
    Refused {
        /// The program that was heard.
        who: &'static str,
        /// The operation that failed.
        what: &'static str,
        /// The text that was heard.
        text: String,
    },
    /// The other side does not answer as it should.
    #[error("{who}'s answer while {what} makes no sense: {text}; try again, or press reset")]
    Nonsense {
        /// The program that was heard.
        who: &'static str,
        /// The operation that failed.
        what: &'static str,
        /// The text that was heard.
        text: String,
    },
    /// The user stopped it.
    #[error("interrupted while {what}; {state}")]
    Interrupted {
        /// The operation that failed.
        what: &'static str,
        /// State in which the board was left.
        state: &'static str,
    },
}

impl LoaderError {
    /// Whether the board's content, not the rig, is at fault.
    #[must_use]
    pub fn is_mismatch(&self) -> bool {
        matches!(self, Self::Verify { .. } | Self::FileDiffers { .. })
    }
}

/// The result of a loader's step.
pub(super) type Result<T> = std::result::Result<T, LoaderError>;
