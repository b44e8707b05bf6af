//! Progress and events of a load.

use std::fmt;

use crate::pace::Pace;

/// A stage of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadStage {
    /// Bytes are sent to the board.
    Sending,
    /// Bytes are read back and compared.
    ReadingBack,
}

/// An event to report to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadEvent {
    /// The monitor was found; its name.
    Found(String),
    /// The board replies only with flow control off.
    FlowControlOff,
    /// The monitor was waiting for the rest of a line and is back at its prompt.
    PromptRecovered,
    /// Flow control is ineffective, so lines are sent at a slower pace.
    FlowControlIneffective {
        /// The number of characters of a burst that the monitor received.
        received: usize,
        /// The number of characters of the burst.
        sent: usize,
        /// The pace of the first lines.
        pace: Pace,
    },
    /// A property of this monitor to know before a program is started.
    Warning(&'static str),
    /// A line of the hex loader was corrupted and typed again; its number.
    LoaderLineRetyped(usize),
    /// The burst was received without an error.
    BurstPassed {
        /// The number of characters of the burst.
        char_count: usize,
        /// The pace at which it was sent.
        pace: Pace,
    },
    /// The burst, or a chunk, was corrupted.
    BytesLost {
        /// The number of bytes that differ on the board, if they were read back.
        mismatches: Option<usize>,
        /// The number of bytes sent.
        total: usize,
        /// The report of the monitor.
        report: String,
        /// The pace at which it was sent.
        pace: Pace,
        /// The pace of the next attempt.
        next_pace: Pace,
    },
    /// Lines that differ are resent.
    Resending {
        /// The number of lines.
        lines: usize,
        /// The pace at which they are resent.
        pace: Pace,
    },
}

impl fmt::Display for LoadEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(name) => f.write_str(name),
            Self::FlowControlOff => f.write_str(
                "CTS never became active, so it is probably not wired; flow control is off",
            ),
            Self::PromptRecovered => {
                f.write_str("the monitor waited for the rest of a line, which was ended")
            }
            Self::FlowControlIneffective { received, sent, pace } => write!(
                f,
                "flow control is ineffective: {received} of {sent} characters were received; \
                 sending {pace}"
            ),
            Self::Warning(text) => f.write_str(text),
            Self::LoaderLineRetyped(line) => {
                write!(f, "line {line} of the hex loader was corrupted and typed again")
            }
            Self::BurstPassed { char_count, pace } => {
                write!(f, "a burst of {char_count} characters {pace} was received correctly")
            }
            Self::BytesLost { mismatches, total, report, pace, next_pace } => {
                match mismatches {
                    Some(mismatches) => {
                        write!(f, "{pace}, {mismatches} of {total} bytes were corrupted")?;
                    }
                    None => write!(f, "{pace}, {total} bytes were not received correctly")?,
                }
                write!(f, " ({report}); continuing {next_pace}")
            }
            Self::Resending { lines, pace } => {
                write!(f, "{lines} lines differ and are sent again {pace}")
            }
        }
    }
}

/// Receives the progress and the events of a load; `()` ignores them.
pub trait LoadObserver {
    /// Called when `_done` of `_total` bytes are processed.
    fn on_progress(&mut self, _stage: LoadStage, _done: usize, _total: usize) {}
    /// Called for each event.
    fn on_event(&mut self, _note: LoadEvent) {}
}

impl LoadObserver for () {}
