//! Boards and their connections. The trait [`Board`] covers simulated boards, real boards at a
//! serial device, MAME, and replayed transcripts.

mod fault_schedule;
mod faulty;
mod mame;
mod record;
mod replay;
mod simulated;
mod transcript;

pub use fault_schedule::{FaultCounts, InjectedFault};
pub(crate) use faulty::FaultyBoard;
pub use faulty::ResultByte;
pub use mame::{MameBoard, find_mame as mame};
pub use record::{RecordOptions, RecordedBoard};
pub use replay::read_header;
pub use transcript::{
    HexBytes, RunningApplication, TRANSCRIPT_FORMAT, TranscriptEntry, TranscriptEvent,
    TranscriptHeader,
};

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use board_simulator::{InProcessBoard, Instrumentation};
use board_simulator::{Pace, Probe};
use cli_support::text::Escape;
use firmware::profile::BoardProfile;
use rcflash_link::rig::Rig;
use rcflash_link::rig::reset::{self, ResetError, ResetOutcome};
use rcflash_transport::Transport;
use rcflash_transport::port::OpenError;

use replay::ReplayBoard;
use simulated::PtyBoard;

/// A board and its connection.
pub trait Board: Send {
    /// Returns the name that messages and reports show.
    fn name(&self) -> &str {
        self.inner().map_or("", |board| board.name())
    }

    /// Returns the board that this one wraps, which has what this one does not define itself, but
    /// for the line and its reset.
    fn inner(&self) -> Option<&dyn Board> {
        None
    }

    /// Like [`Self::inner`].
    fn inner_mut(&mut self) -> Option<&mut dyn Board> {
        None
    }

    /// Opens the line. A line opened earlier must have been dropped.
    ///
    /// # Errors
    /// Returns [`BoardError`] if the line can't be opened.
    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError>;

    /// Returns the reset button of a simulated board, which may be pressed at any time; `None` if
    /// there is none.
    fn reset_fn(&self) -> Option<ResetFn> {
        None
    }

    /// Resets the board, by `line` if that has its reset wire, unless only a person can.
    ///
    /// # Errors
    /// Returns [`ResetError`] if the reset failed.
    fn reset(&mut self, _line: &mut dyn Transport) -> Result<ResetOutcome, ResetError> {
        match self.reset_fn() {
            Some(press) => {
                press();
                Ok(ResetOutcome::Done)
            }
            None => Ok(ResetOutcome::ManualResetNeeded),
        }
    }

    /// Returns the factor by which the board may run slower than its own clock.
    fn slowdown_factor(&self) -> u32 {
        self.inner().map_or(1, |board| board.slowdown_factor())
    }

    /// Called when the board is ready for requests; a transcript records it.
    fn on_ready(&mut self, ready: &RunningApplication) {
        self.inner_mut().into_iter().for_each(|board| board.on_ready(ready));
    }

    /// Called when the board replies again after it was lost.
    fn on_recovered(&mut self) {
        self.inner_mut().into_iter().for_each(|board| board.on_recovered());
    }

    /// Takes the application that runs without an upload, as on a replayed board.
    fn take_preloaded(&mut self) -> Option<RunningApplication> {
        self.inner_mut()?.take_preloaded()
    }

    /// Waits for `time` by the clock of the board's line.
    fn sleep(&mut self, time: Duration) {
        match self.inner_mut() {
            Some(board) => board.sleep(time),
            None => rcflash_transport::time::sleep(time),
        }
    }

    /// Returns measurements from inside the board, if it is simulated.
    fn instrumentation(&self) -> Option<&dyn Instrumentation> {
        self.inner()?.instrumentation()
    }

    /// Returns the faults injected so far, or `None` if the line injects none.
    fn fault_counts(&self) -> Option<FaultCounts> {
        self.inner()?.fault_counts()
    }
}

/// Resets a board.
pub type ResetFn = Box<dyn Fn() + Send>;

/// The kind of board, with what starts or opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoardKind {
    /// A simulated board behind a pseudo-terminal, with the speed of the simulation.
    Simulated(Pace),
    /// A simulated board in this process, whose clock advances as fast as it can be simulated.
    InProcess,
    /// A real board at a serial device.
    Serial(rcflash_link::rig::Rig),
    /// A board emulated by MAME: MAME's name for it, or `None` for the first machine of the
    /// profile.
    Mame(Option<String>),
    /// The replay of a transcript.
    Replay(PathBuf),
}

/// Error returned if a board can't be started or opened.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The port could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The run was interrupted while it waited for the port.
    #[error("interrupted while waiting: {0}")]
    Interrupted(OpenError),
    /// The system has no pseudo-terminal or thread left.
    #[error("can't start the simulated board: {0}")]
    Simulator(io::Error),
    /// MAME is not installed.
    #[error("MAME is not installed; it is the package `mame` of Debian and others")]
    MameNotInstalled,
    /// MAME has no such machine: the requested name, the profile, and the known machines.
    #[error("invalid MAME machine '{0}' for the board {1}: expected one of {2}")]
    UnknownMachine(String, String, String),
    /// MAME failed.
    #[error("MAME: {0}")]
    Mame(io::Error),
    /// The transcript can't be read or written.
    #[error("transcript {}: {}", .0.escaped(), .1)]
    Transcript(PathBuf, io::Error),
    /// The transcript's path is taken by something else.
    #[error(
        "{} is not a transcript; it was not changed: replace it with --force, or name another file",
        .0.escaped()
    )]
    NotATranscript(PathBuf),
}

impl BoardKind {
    /// Returns the board, powered up with `rom` in its ROM socket and with a probe if it is
    /// simulated or emulated.
    ///
    /// # Errors
    /// Returns [`BoardError`] if the board can't be started.
    pub fn power_up(
        &self,
        profile: &BoardProfile,
        rom: &[u8],
        probe: Probe,
    ) -> Result<Box<dyn Board>, BoardError> {
        Ok(match self {
            Self::Simulated(pace) => Box::new(PtyBoard::start(profile, rom, *pace, probe)?),
            Self::InProcess => Box::new(InProcessBoard::new(profile, rom, probe)),
            Self::Mame(machine) => Box::new(MameBoard::new(profile, machine.as_deref(), rom)?),
            Self::Replay(file) => Box::new(ReplayBoard::new(file)?),
            Self::Serial(rig) => {
                Box::new(SerialBoard { rig: rig.clone(), baud: profile.uart.baud })
            }
        })
    }
}

/// A board reached through a serial device.
#[derive(Debug, Clone)]
struct SerialBoard {
    rig: Rig,
    /// Its speed unless the rig names one.
    baud: u32,
}

impl Board for SerialBoard {
    fn name(&self) -> &str {
        self.rig.name.as_deref().unwrap_or(&self.rig.port)
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        Ok(self.rig.open(self.baud)?)
    }

    fn reset(&mut self, line: &mut dyn Transport) -> Result<ResetOutcome, ResetError> {
        match reset::trigger(&self.rig.reset, line) {
            Err(ResetError::NotConfigured) => Ok(ResetOutcome::ManualResetNeeded),
            other => other,
        }
    }
}

/// Locks what a board shares with its line.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
