//! Loaders for boards that keep the monitor they came with: what is sent, what must come back, and
//! how it is verified.
//!
//! | who listens | file |
//! |---|---|
//! | Small Computer Monitor | `scm` |
//! | RomWBW's debug monitor | `romwbw` |
//! | ROM BASIC, with a hex loader of ours | `basic`, `stub` |
//! | CP/M, by XMODEM | `cpm`, `xmodem` |
//! | all of them, for a program that runs beside them | `host` |
//!
//! The first three take Intel HEX and share one way to deliver it (`deliver`): a burst to measure
//! the line, pieces at the pace that it bears, everything read back, and what differs sent again.

mod basic;
mod contact;
mod cpm;
mod deliver;
mod dump;
mod error;
mod exit;
mod host;
mod identify;
mod knock;
mod pace;
mod probe;
mod prompt;
mod records;
mod romwbw;
mod romwbw_two;
mod scm;
mod stub;
mod talk;
mod xmodem;

use std::fmt;
use std::ops::RangeInclusive;

use tdlasm::image::Image;

use error::Result;

pub use cpm::{CpmName, FileOrder, transfer};
pub use deliver::{Delivered, deliver};
pub use error::LoaderError;
pub use host::{Guest, Host};
pub use pace::Pace;
pub use probe::{Found, Who, glance, probe};
pub use prompt::{Peer, recognise};
pub use records::{Record, records};
pub use talk::Talk;
pub use xmodem::{Form, Sender, Sent, receive};

/// The stock monitors that take Intel HEX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stock {
    /// The Small Computer Monitor.
    Scm,
    /// RomWBW's debug monitor.
    Romwbw,
    /// A ROM BASIC.
    Basic,
}

impl Stock {
    fn monitor(self) -> Box<dyn HexMonitor> {
        match self {
            Self::Scm => Box::<scm::Scm>::default(),
            Self::Romwbw => Box::<romwbw::Romwbw>::default(),
            Self::Basic => Box::<basic::Basic>::default(),
        }
    }

    /// Whether an image keeps off the memory that the monitor itself needs.
    ///
    /// # Errors
    /// [`LoaderError::DoesNotFit`], or [`LoaderError::Empty`].
    pub fn check(self, image: &Image) -> std::result::Result<(), LoaderError> {
        if image.bounds().is_none() {
            return Err(LoaderError::Empty);
        }
        self.monitor().check(image)
    }

    /// Returns the input that loads and starts an image by hand: commands and lines in the order
    /// in which they go out.
    #[must_use]
    pub fn script(self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String> {
        self.monitor().script(image, entry, pace)
    }
}

/// Whether the host obeys the board's RTS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FlowChoice {
    /// It does, unless nothing gets through that way.
    #[default]
    Auto,
    /// It does.
    RtsCts,
    /// It does not.
    None,
}

/// The program to put on the board, and how.
#[derive(Debug, Clone)]
pub struct Order<'a> {
    /// The program.
    pub image: &'a Image,
    /// The place to start it, if it is to be started.
    pub entry: Option<u16>,
    /// Whether all of it is read back.
    pub verify: bool,
    /// The speed at which lines go out; it is measured when this is not given.
    pub pace: Option<Pace>,
    /// Whether RTS is obeyed.
    pub flow: FlowChoice,
}

/// A step that takes a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Bytes go to the board.
    Sending,
    /// Bytes come back to be compared.
    ReadingBack,
}

/// Something that the user may want to know while it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The program that answers.
    Found(String),
    /// The board did not answer while RTS was obeyed, but does now.
    FlowOff,
    /// The monitor waited for the rest of a line and is back at its prompt.
    Unstuck,
    /// Without flow control that works, lines go out at another pace than the fastest.
    NoFlow {
        /// Characters of a burst that the monitor took.
        kept: usize,
        /// Characters of the burst.
        of: usize,
        /// The pace at first.
        pace: Pace,
    },
    /// Something to know of this monitor before a program is started there.
    Warning(&'static str),
    /// A line of the hex loader arrived damaged and was typed again.
    Retyped(usize),
    /// The burst arrived whole.
    Bears {
        /// Characters of the burst.
        characters: usize,
        /// The pace at which it was sent.
        pace: Pace,
    },
    /// The burst, or a piece, did not arrive whole.
    Lost {
        /// The number of bytes that are wrong on the board, if they were read back.
        wrong: Option<usize>,
        /// Of how many.
        of: usize,
        /// The monitor's words.
        report: String,
        /// The pace at which it was sent.
        pace: Pace,
        /// The pace at which it continues.
        next: Pace,
    },
    /// Lines differ and are sent again.
    Mending {
        /// The number of lines.
        lines: usize,
        /// The pace at which they are sent again.
        pace: Pace,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(who) => f.write_str(who),
            Self::FlowOff => f.write_str(
                "the host's CTS forbids to send, so it is not wired: flow control is off",
            ),
            Self::Unstuck => f.write_str("it waited for the rest of a line; that is ended now"),
            Self::NoFlow { kept, of, pace } => write!(
                f,
                "the board does not stop this computer in time: {kept} of {of} characters were \
                 taken; sending {pace}"
            ),
            Self::Warning(text) => f.write_str(text),
            Self::Retyped(line) => {
                write!(f, "line {line} of the hex loader arrived damaged; typed again")
            }
            Self::Bears { characters, pace } => {
                write!(f, "a burst of {characters} characters {pace} arrived whole")
            }
            Self::Lost { wrong, of, report, pace, next } => {
                match wrong {
                    Some(wrong) => write!(f, "{pace}, {wrong} of {of} bytes went wrong")?,
                    None => write!(f, "{pace}, {of} bytes did not arrive well")?,
                }
                write!(f, " ({report}); going on {next}")
            }
            Self::Mending { lines, pace } => {
                write!(f, "{lines} lines differ, sending them again {pace}")
            }
        }
    }
}

/// Receives the progress of a load.
pub trait Watch {
    /// So many bytes of so many are done.
    fn progress(&mut self, stage: Stage, done: usize, of: usize);
    /// Something worth knowing.
    fn note(&mut self, note: Note);
}

/// Refuses an image that leaves the memory `free`; `keeper` makes of its addresses a clause for the
/// message.
fn keep_within(
    image: &Image,
    free: RangeInclusive<u16>,
    keeper: impl FnOnce(&str) -> String,
) -> Result<()> {
    match image.bounds() {
        Some(needs) if !free.contains(&needs.0) || !free.contains(&needs.1) => {
            let keeper = keeper(&format!("{:04X}h-{:04X}h", free.start(), free.end()));
            Err(LoaderError::DoesNotFit { needs, keeper })
        }
        _ => Ok(()),
    }
}

/// The end of a load.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Loaded {
    /// The monitor said so, and nothing else.
    Clean,
    /// It said something else, or nothing; it is at its prompt again.
    Failed(String),
}

/// A monitor that takes Intel HEX. Every step leaves it at its prompt, or fails.
trait HexMonitor {
    /// Returns the name for messages.
    fn name(&self) -> &'static str;

    /// Finds it at its prompt, or brings it there, and returns its kind.
    fn reach(&mut self, talk: &mut Talk, watch: &mut dyn Watch) -> Result<String>;

    /// Whether the image keeps off the monitor's own memory.
    fn check(&self, image: &Image) -> Result<()>;

    /// Sends lines and the end; `sent` hears how many bytes each line carried.
    fn load(
        &mut self,
        talk: &mut Talk,
        lines: &[Record],
        pace: Pace,
        sent: &mut dyn FnMut(usize),
    ) -> Result<Loaded>;

    /// Reads back `first` to `last`, both multiples of 16 but for the low bits of `last`, all ones.
    fn read(&mut self, talk: &mut Talk, first: u16, last: u16) -> Result<dump::Memory>;

    /// Starts a program.
    fn start(&mut self, talk: &mut Talk, entry: u16) -> Result<()>;

    /// After an interruption: tries to get back to the prompt, and says how the board is left.
    fn abandon(&mut self, talk: &mut Talk) -> &'static str;

    /// Returns the output line by line.
    fn script(&self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String>;

    /// The pace at which the first lines go out, if none was asked for; called once it is reached.
    fn first_pace(&mut self, _talk: &mut Talk, _watch: &mut dyn Watch) -> Result<Pace> {
        Ok(Pace::FULL)
    }

    /// Makes ready for an image; called once it is reached.
    fn prepare(&mut self, _talk: &mut Talk, _image: &Image, _watch: &mut dyn Watch) -> Result<()> {
        Ok(())
    }

    /// Goes back to where it was before; called when no program is started.
    fn leave(&mut self, _talk: &mut Talk) -> Result<()> {
        Ok(())
    }
}
