//! Boards and the way to them: one trait for what is simulated here, what is plugged in, and what
//! others emulate.

mod direct;
mod faulty;
mod mame;
mod mischief;
mod record;
mod replay;
mod serial;
mod simulated;
mod transcript;

pub use direct::DirectBoard;
pub use faulty::FaultyBoard;
pub use mame::{MameBoard, program as mame};
pub use mischief::{Fault, FaultCounts};
pub use record::{RecordedBoard, Recording};
pub use replay::{ReplayBoard, heading};
pub use serial::SerialBoard;
pub use simulated::SimulatedBoard;
pub(crate) use transcript::MARK;
pub use transcript::{Entry, Event, FORMAT, Heading, Hex, Ready};

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use cli_support::text::Show;
use firmware::profile::Profile;
use rcflash_transport::Transport;
use rcflash_transport::port::OpenError;

use board_simulator::{CallRecord, Pace, Probe, Registers};

/// A board, and the way to it.
pub trait Board: Send {
    /// The name for people.
    fn name(&self) -> &str;

    /// Opens the line. The line opened before, if any, must have been dropped.
    ///
    /// # Errors
    /// No line is available.
    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError>;

    /// The reset button, where it can be pressed from here.
    fn button(&self) -> Option<Button> {
        None
    }

    /// Returns the factor by which the board may run slower than its own clock.
    fn slowness(&self) -> u32 {
        1
    }

    /// Hears that the board is ready to be questioned, for a transcript.
    fn note_ready(&mut self, _ready: &Ready) {}

    /// Hears that the board answers again, after it had been lost.
    fn note_recovered(&mut self) {}

    /// Returns the programs that are on the board without an upload, as on one that is replayed.
    fn take_ready(&mut self) -> Option<Ready> {
        None
    }

    /// Lets time pass, by the clock of the board's line.
    fn rest(&mut self, time: Duration) {
        rcflash_transport::time::sleep(time);
    }

    /// Returns measurements taken on the board itself, where it can be looked into.
    fn instruments(&self) -> Option<&dyn Instruments> {
        None
    }

    /// The faults made on the line so far, where some are made.
    fn faults(&self) -> Option<FaultCounts> {
        None
    }
}

/// Presses a board's reset button.
pub type Button = Box<dyn Fn() + Send>;

/// Observations of a board besides its replies.
pub trait Instruments {
    /// Returns the last known program counter.
    fn program_counter(&self) -> u16;

    /// T-states since power came on, those in which the board waited for the host left out. All
    /// that passed before a character was sent are counted when the host has received that
    /// character.
    fn clock(&self) -> u64;

    /// T-states of these for which the processor has waited in HALT.
    fn halted_time(&self) -> u64;

    /// Takes what the probe measured so far. All calls that ended before a character was sent are
    /// in it when the host has received that character.
    fn take_records(&self) -> Vec<CallRecord>;

    /// Takes the registers at the probe's places, as soon as [`Self::take_records`] has its
    /// records.
    fn take_passages(&self) -> Vec<Registers>;
}

/// Which board is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The simulated one, behind a pseudo-terminal.
    Simulated {
        /// The content of its ROM socket, if not the monitor built here.
        rom: Option<Vec<u8>>,
        /// The speed at which it runs.
        pace: Pace,
    },
    /// The same within this program, in a time of its own.
    Direct {
        /// The content of its ROM socket, if not the monitor built here.
        rom: Option<Vec<u8>>,
    },
    /// A real one, by its serial device.
    Serial(rcflash_rig::Rig),
    /// One that MAME emulates.
    Mame {
        /// MAME's name for the machine, if not the first one for the profile.
        machine: Option<String>,
        /// The content of its ROM socket, if not the monitor built here.
        rom: Option<Vec<u8>>,
    },
    /// The replay of a transcript.
    Replay(PathBuf),
}

/// The programs for a board, as far as it needs to know them.
pub struct Outfit<'a> {
    /// The profile of the board.
    pub profile: &'a Profile,
    /// The monitor's bytes, from address 0 on.
    pub monitor: &'a [u8],
    /// The measurement to make, where that can be done.
    pub probe: Probe,
}

/// Error returned for a board that can't be reached.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The port could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The system has no pseudo-terminal or no thread left.
    #[error("can't start the simulated board: {0}")]
    Simulator(io::Error),
    /// MAME is not there.
    #[error("MAME is not installed; it is the package `mame` of Debian and others")]
    NoMame,
    /// It has no such machine: what was asked for, the profile, and what there is.
    #[error("MAME: {0} is no machine for the board {1}; there are {2}")]
    NoMachine(String, String, String),
    /// It failed.
    #[error("MAME: {0}")]
    Mame(io::Error),
    /// A transcript can't be read or written.
    #[error("transcript {}: {}", .0.shown(), .1)]
    Transcript(PathBuf, io::Error),
    /// There is something else where the transcript goes.
    #[error(
        "{} is not a transcript; it was not changed: replace it with --force, or name another file",
        .0.shown()
    )]
    NoTranscript(PathBuf),
}

impl Choice {
    /// The board itself, powered up where that is ours to do.
    ///
    /// # Errors
    /// It could not be started.
    pub fn power_up(&self, outfit: Outfit) -> Result<Box<dyn Board>, BoardError> {
        Ok(match self {
            Self::Simulated { rom, pace } => {
                let rom = rom.as_deref().unwrap_or(outfit.monitor);
                let profile = outfit.profile;
                let probe = outfit.probe;
                Box::new(SimulatedBoard::start(profile, rom, *pace, probe)?)
            }
            Self::Direct { rom } => {
                let rom = rom.as_deref().unwrap_or(outfit.monitor);
                Box::new(DirectBoard::new(outfit.profile, rom, outfit.probe))
            }
            Self::Mame { machine, rom } => {
                let rom = rom.as_deref().unwrap_or(outfit.monitor);
                Box::new(MameBoard::new(outfit.profile, machine.as_deref(), rom)?)
            }
            Self::Replay(file) => Box::new(ReplayBoard::new(file)?),
            Self::Serial(rig) => Box::new(SerialBoard::new(rig.clone(), outfit.profile.uart.baud)),
        })
    }
}
