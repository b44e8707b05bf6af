//! Which board to prepare, and how it is connected.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use board_simulator::{Pace, Probe};
use firmware::ProgramKind;
use firmware::profile::{BoardProfile, UartKind};
use rcflash_link::Link;
use rcflash_monitors::ResidentMonitor;
use rcflash_transport::Transport;
use rcflash_transport::time::{Duration, Instant, sleep};

use super::SetupError;
use crate::board::{
    Board, BoardError, BoardKind, FaultyBoard, RecordOptions, RecordedBoard, ResultByte,
};
use crate::file_system::{FileSystem, OsFileSystem};

/// How long to wait for a simulated board's port to reappear.
const DEFAULT_RECONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How often a port that is in use is tried.
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Which board to prepare, and with which options.
#[derive(Debug, Clone)]
pub struct BoardConfig {
    /// Hardware of the board.
    pub profile: BoardProfile,
    /// How the board is simulated or connected.
    pub board: BoardKind,
    /// The content of a simulated board's ROM socket; `None` for the monitor that this program
    /// builds.
    pub rom: Option<Vec<u8>>,
    /// Address and bytes of an application to load instead of the one built here.
    pub application: Option<(u16, Vec<u8>)>,
    /// Writes the application to flash instead of RAM.
    pub in_flash: bool,
    /// Accepts a monitor of another build.
    pub any_monitor: bool,
    /// The stock monitor in the board's ROM, through which the application is loaded; `None` if
    /// this project's monitor is there.
    pub stock_monitor: Option<ResidentMonitor>,
    /// How long to wait for a port that is in use.
    pub wait_timeout: Duration,
    /// How long to wait for a disconnected port.
    pub reconnect_timeout: Duration,
    /// Called with messages for the user.
    pub on_notice: fn(&str),
    /// Where to record all line traffic.
    pub recording: Option<RecordOptions>,
    /// Injects faults into the line, from this seed.
    pub fault_seed: Option<u64>,
    /// Requests each case by itself, with all its values. Otherwise cases share requests, if the
    /// application supports that.
    pub full_responses: bool,
    /// Set to end every wait.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl BoardConfig {
    /// Creates the config of a simulated board with the built-in programs.
    pub fn simulated(profile: BoardProfile) -> Self {
        let board = BoardKind::Simulated(Pace::Free);
        Self {
            profile,
            board,
            rom: None,
            application: None,
            in_flash: false,
            any_monitor: false,
            stock_monitor: None,
            wait_timeout: Duration::ZERO,
            reconnect_timeout: DEFAULT_RECONNECT_TIMEOUT,
            on_notice: |_| {},
            recording: None,
            fault_seed: None,
            full_responses: false,
            cancel: None,
        }
    }

    /// Powers up the board with a monitor in its ROM, and with a probe if it is simulated.
    ///
    /// # Errors
    /// Returns [`BoardError`] if it can't be started.
    pub fn power_up(&self, monitor: &[u8], probe: Probe) -> Result<Box<dyn Board>, BoardError> {
        self.board.power_up(&self.profile, self.rom.as_deref().unwrap_or(monitor), probe)
    }

    /// Adds fault injection to a board, as configured.
    pub fn inject_faults(&self, board: Box<dyn Board>, result_byte: ResultByte) -> Box<dyn Board> {
        match self.fault_seed {
            Some(seed) => Box::new(FaultyBoard::new(board, seed, result_byte)),
            None => board,
        }
    }

    /// Connects without resetting the board or loading anything, and without fault injection. Drop
    /// the link before the board.
    ///
    /// # Errors
    /// Returns an error if the board can't be powered up or its port can't be opened.
    pub fn connect(&self, monitor: &[u8]) -> Result<(Box<dyn Board>, Link), BoardError> {
        self.connect_to(self.power_up(monitor, Probe::default())?, &OsFileSystem)
    }

    /// Connects to a board, and records its line as configured. Injected faults are in the
    /// transcript, so a replay needs no fault injection.
    pub(super) fn connect_to(
        &self,
        mut board: Box<dyn Board>,
        disk: &dyn FileSystem,
    ) -> Result<(Box<dyn Board>, Link), BoardError> {
        if let Some(recording) = &self.recording {
            let header = recording.header(board.name(), &self.profile.name, self.full_responses);
            board = Box::new(RecordedBoard::new(board, disk, recording, &header)?);
        }
        let mut link = Link::new(self.open(&mut *board)?, self.profile.uart.baud);
        link.set_timeout_scale(board.slowdown_factor());
        if let Some(stop) = &self.cancel {
            link.set_stop(Arc::clone(stop));
        }
        Ok((board, link))
    }

    /// Opens the line, as soon as it is free.
    fn open(&self, board: &mut dyn Board) -> Result<Box<dyn Transport + Send>, BoardError> {
        let deadline = Instant::now() + self.wait_timeout;
        let mut is_first = true;
        loop {
            let error = match board.open() {
                Err(BoardError::Open(error)) if error.is_busy() => error,
                other => return other,
            };
            if Instant::now() >= deadline {
                return Err(error.into());
            }
            if self.is_cancelled() {
                return Err(BoardError::Interrupted(error));
            }
            if std::mem::take(&mut is_first) {
                (self.on_notice)(&format!("waiting: {error}"));
            }
            sleep(BUSY_POLL_INTERVAL);
        }
    }

    /// Returns `true` if the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Calls `prepare` with this config, and if the program that it starts through a stock monitor
    /// does not reply, with the other serial chip: kits have either one at the same ports.
    ///
    /// # Errors
    /// Returns the error of the last call.
    pub fn with_either_chip<T>(
        &self,
        prepare: impl Fn(&Self) -> Result<T, SetupError>,
    ) -> Result<T, SetupError> {
        match prepare(self) {
            Err(SetupError::NoReply(_)) => {}
            other => return other,
        }
        let other_kind = match self.profile.uart.kind {
            UartKind::Acia => UartKind::Sio,
            UartKind::Sio => UartKind::Acia,
            kind @ (UartKind::Asci | UartKind::Ns550) => return Err(SetupError::NoReply(kind)),
        };
        let mut other = self.clone();
        other.profile.uart.kind = other_kind;
        (self.on_notice)(&format!("no reply; trying the driver of the {other_kind}"));
        prepare(&other)
    }
}

/// Returns the kind of a program in RAM, in flash, or beside a stock monitor.
pub(crate) fn choose_kind(
    [ram, flash, hosted]: [ProgramKind; 3],
    in_flash: bool,
    is_hosted: bool,
) -> ProgramKind {
    match (is_hosted, in_flash) {
        (true, _) => hosted,
        (false, true) => flash,
        (false, false) => ram,
    }
}
