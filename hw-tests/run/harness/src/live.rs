//! A connected board on which the application is loaded, verified and running.
//!
//! [`LiveBoard::prepare`] builds the programs, powers the board up and starts the application. Then
//! [`LiveBoard::submit`] sends a request and [`LiveBoard::next_reply`] receives the replies;
//! [`LiveBoard::recover`] restarts a board that was lost.

mod damage;
mod guard;
mod pipeline;
mod programs;
mod recover;
mod requests;
mod stock_monitor;
mod suite;

pub use damage::StatusFinding;
pub use guard::Finding;
pub use pipeline::CaseReply;
pub use recover::Recovery;
pub use stock_monitor::{StockLoader, end_address};
pub use suite::{BoardSuite, CasePlan, Response};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cli_support::exit::{CommandError, ENVIRONMENT, INTERRUPTED, USAGE};
use firmware::build::BuildError;
use firmware::profile::{BoardProfile, UartKind};
use firmware_wire::Identity;
use rcflash_link::flash::FlashError;
use rcflash_link::loader::LoadError;
use rcflash_link::{Link, LinkError, LinkStats};
use rcflash_monitors::LoaderError;
use rcflash_transport::Transport;
use rcflash_transport::time::{Duration, Instant, sleep};

use crate::board::{
    Board, BoardError, BoardKind, FaultCounts, FaultyBoard, PowerUpConfig, RecordOptions,
    RecordedBoard, RunningApplication,
};
use crate::file_system::{FileSystem, OsFileSystem};
use board_simulator::{CallRecord, Guard, Pace, Probe, Violation};
use damage::StatusBaseline;
use firmware::code_map::CodeMap;
pub use programs::{Programs, write_to_flash};
pub use rcflash_monitors::{HostedProgram, MonitorDescription, ResidentMonitor, StockMonitor};

/// How long to wait for a simulated board's port to reappear.
const DEFAULT_RECONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How often a port that is in use is tried.
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Which board to prepare, with which programs and options.
#[derive(Debug, Clone)]
pub struct BoardConfig<S> {
    /// The suite, with its options.
    pub suite: S,
    /// Hardware of the board.
    pub profile: BoardProfile,
    /// How the board is simulated or connected.
    pub board: BoardKind,
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

impl<S: BoardSuite> BoardConfig<S> {
    /// Returns `true` if several boards of this config can run at once: they are simulated at full
    /// speed, without transcript or faults.
    fn can_run_several(&self) -> bool {
        let is_free = matches!(
            self.board,
            BoardKind::InProcess { .. } | BoardKind::Simulated { pace: Pace::Free, .. }
        );
        is_free && self.recording.is_none() && self.fault_seed.is_none()
    }

    /// Returns the probe for a simulated board with these programs: it measures routines under
    /// test, and guards them.
    #[must_use]
    pub fn probe(&self, programs: &Programs) -> Probe {
        let application = &programs.application;
        self.suite.probe(application).with_guard(Guard::new(&S::guard(application)))
    }

    fn power_up(&self, programs: &Programs) -> Result<Box<dyn Board>, BoardError> {
        let profile = &self.profile;
        let probe = self.probe(programs);
        self.board.power_up(PowerUpConfig { profile, monitor: &programs.monitor.bytes, probe })
    }

    /// Adds fault injection to a board, as configured.
    fn inject_faults(&self, board: Box<dyn Board>) -> Box<dyn Board> {
        match self.fault_seed {
            Some(seed) => Box::new(FaultyBoard::new(board, seed, S::result_byte)),
            None => board,
        }
    }
}

impl<S> BoardConfig<S> {
    /// Adds the transcript to a board, as configured. It has the traffic with the faults that
    /// [`Self::inject_faults`] has added before, so a replay needs no fault injection.
    fn record(
        &self,
        mut board: Box<dyn Board>,
        disk: &dyn FileSystem,
    ) -> Result<Box<dyn Board>, BoardError> {
        if let Some(recording) = &self.recording {
            let heading = recording.header(board.name(), &self.profile.name, self.full_responses);
            board = Box::new(RecordedBoard::new(board, disk, recording, &heading)?);
        }
        Ok(board)
    }

    fn link(&self, board: &mut dyn Board) -> Result<Link, BoardError> {
        let mut link = Link::new(self.open(board)?, self.profile.uart.baud);
        link.set_timeout_scale(board.slowdown_factor());
        if let Some(stop) = &self.cancel {
            link.set_stop(Arc::clone(stop));
        }
        Ok(link)
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
            if self.cancel.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(BoardError::Interrupted(error));
            }
            if std::mem::take(&mut is_first) {
                (self.on_notice)(&format!("waiting: {error}"));
            }
            sleep(BUSY_POLL_INTERVAL);
        }
    }

    /// Connects without resetting the board or loading anything, and without fault injection. Drop
    /// the link before the board.
    ///
    /// # Errors
    /// Returns an error if the board can't be powered up or its port can't be opened.
    pub fn connect(&self, monitor: &[u8]) -> Result<(Box<dyn Board>, Link), BoardError> {
        let config = PowerUpConfig { profile: &self.profile, monitor, probe: Probe::default() };
        let board = self.board.power_up(config)?;
        let mut board = self.record(board, &OsFileSystem)?;
        let link = self.link(&mut *board)?;
        Ok((board, link))
    }

    /// Calls `prepare` with this config, and if the program that it starts through a stock monitor
    /// does not reply, with the other serial chip: kits have either one at the same ports.
    ///
    /// # Errors
    /// Returns the error of the last call.
    pub fn with_either_chip<T>(
        &self,
        prepare: impl Fn(&Self) -> Result<T, SetupError>,
    ) -> Result<T, SetupError>
    where
        S: Clone,
    {
        match prepare(self) {
            Err(SetupError::NoReply) => {}
            other => return other,
        }
        let other_kind = match self.profile.uart.kind {
            UartKind::Acia => UartKind::Sio,
            UartKind::Sio => UartKind::Acia,
            UartKind::Asci | UartKind::Ns550 => return Err(SetupError::NoReply),
        };
        let mut other = self.clone();
        other.profile.uart.kind = other_kind;
        (self.on_notice)(&format!("no reply; trying the driver of the {other_kind}"));
        prepare(&other)
    }

    /// Creates the config of a simulated board with the built-in programs.
    #[must_use]
    pub fn simulated(profile: BoardProfile) -> Self
    where
        S: Default,
    {
        let board = BoardKind::Simulated { rom: None, pace: Pace::Free };
        Self {
            suite: S::default(),
            profile,
            board,
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
}

/// Error returned if a board can't be prepared.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The images could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The board can't be powered up or connected.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The application could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The application could not be written to flash.
    #[error(transparent)]
    Flash(#[from] FlashError),
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The stock monitor did not load or start the application.
    #[error(transparent)]
    MonitorLoad(#[from] LoaderError),
    /// This project's monitor is in the ROM instead of a stock monitor.
    #[error("{0} is in this board's ROM: run again without --via")]
    OwnMonitor(Box<Identity>),
    /// A stock monitor is in the ROM instead of this project's monitor.
    #[error(
        "{port}: found {monitor} instead of this project's monitor; to load through it, \
         {first_step}use `--via {via}`"
    )]
    StockMonitor {
        /// The port, as the user named it.
        port: String,
        /// Name and version of the monitor.
        monitor: String,
        /// Its value of `--via`.
        via: &'static str,
        /// What to do on the board before; empty if nothing.
        first_step: &'static str,
    },
    /// The application was started but does not reply.
    #[error(
        "the application was started but does not reply with the 68B50 or the SIO driver: \
         press the board's reset button, and check that --board matches its serial chip and ports"
    )]
    NoReply,
    /// The stock monitor did not reappear after the application was left.
    #[error("the board's monitor ({0}) did not reappear: press the board's reset button")]
    MonitorNotBack(&'static str),
    /// A monitor of another build is in the ROM.
    #[error(
        "the monitor in ROM is {0}, expected build {1:08X}: program the current image \
         (`rcflash image`), or pass --any-monitor"
    )]
    StaleMonitor(Box<Identity>, u32),
    /// Another program than the loaded application replied.
    #[error("{0} replied instead of the application that was loaded")]
    WrongApplication(Box<Identity>),
    /// The application is not the one that the suite tests.
    #[error("{0}")]
    UntestedApplication(String),
}

impl From<SetupError> for CommandError {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Build(error) => error.into(),
            SetupError::Load(error) => error.into(),
            SetupError::Flash(error) => error.into(),
            SetupError::Board(
                error @ (BoardError::UnknownMachine(..) | BoardError::NotATranscript(_)),
            ) => Self::new(USAGE, error),
            SetupError::Board(error @ BoardError::Interrupted(_)) => Self::new(INTERRUPTED, error),
            SetupError::Link(error) => error.into(),
            SetupError::MonitorLoad(error) => error.into(),
            other => Self::new(ENVIRONMENT, other),
        }
    }
}

/// A board on which the application is running.
pub struct LiveBoard<S: BoardSuite> {
    link: Link,
    clock_hz: u64,
    /// The identity of the application.
    pub application: Identity,
    /// What the suite knows of the application.
    pub state: S::State,
    /// Measured calls of requests whose replies have not been received.
    records: Vec<CallRecord>,
    /// Violations of requests whose replies have not been received.
    violations: Vec<Violation>,
    /// The last good status; `None` if the application has none, or it could not be read.
    status: Option<StatusBaseline>,
    config: BoardConfig<S>,
    programs: Arc<Programs>,
    /// Dropped after `link`, whose line it owns.
    board: Box<dyn Board>,
}

impl<S: BoardSuite> LiveBoard<S> {
    /// Builds the programs, connects to the board, loads the application and starts it.
    ///
    /// # Errors
    /// Returns the error of the step that failed.
    pub fn prepare(config: &BoardConfig<S>) -> Result<Self, SetupError> {
        config.with_either_chip(|config| {
            let mut programs = Programs::build(config)?;
            let config = config.with_build_id(&mut programs.application);
            Self::prepare_with(&config, Arc::new(programs), &OsFileSystem, |board| board)
        })
    }

    /// Prepares `max` equal boards, or one if the config allows no more.
    ///
    /// # Errors
    /// Returns the error of the step that failed.
    pub fn prepare_pool(config: &BoardConfig<S>, max: usize) -> Result<Vec<Self>, SetupError> {
        let first = Self::prepare(config)?;
        let more = if config.can_run_several() { max.saturating_sub(1) } else { 0 };
        let (programs, config) = (Arc::clone(&first.programs), first.config.clone());
        let another =
            |_| Self::prepare_with(&config, Arc::clone(&programs), &OsFileSystem, |it| it);
        std::iter::once(Ok(first)).chain((0..more).map(another)).collect()
    }

    /// Like [`Self::prepare`], with given programs and file system. `wrap` may replace the board,
    /// for example by a test double around it.
    ///
    /// # Errors
    /// Returns the error of the step that failed.
    pub fn prepare_with(
        config: &BoardConfig<S>,
        programs: Arc<Programs>,
        disk: &dyn FileSystem,
        wrap: impl FnOnce(Box<dyn Board>) -> Box<dyn Board>,
    ) -> Result<Self, SetupError> {
        let board = wrap(config.power_up(&programs)?);
        let mut board = config.record(config.inject_faults(board), disk)?;
        let mut link = config.link(&mut *board)?;
        let ready = programs.prepare_board(config, &mut *board, &mut link)?;
        link.set_seq(ready.seq);
        link.set_window(ready.application.window);
        Ok(Self::from_parts(board, link, ready, programs, config))
    }

    fn from_parts(
        board: Box<dyn Board>,
        link: Link,
        ready: RunningApplication,
        programs: Arc<Programs>,
        config: &BoardConfig<S>,
    ) -> Self {
        let mut live = Self {
            link,
            clock_hz: config.profile.clock_hz,
            state: S::state(&programs.application, &ready.application, &ready.user_routines),
            application: ready.application,
            records: Vec::new(),
            violations: Vec::new(),
            status: None,
            config: config.clone(),
            programs,
            board,
        };
        live.record_status();
        live
    }

    /// Returns the traffic counters of the line.
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        self.link.stats()
    }

    /// Returns the board's program counter as text, with the nearest symbol of the programs built
    /// here. The board reports it itself, or the simulator does.
    pub fn describe_program_counter(&mut self) -> String {
        let reported = self.link.locate().ok().flatten();
        let simulated = || self.board.instrumentation().map(|board| board.program_counter());
        let note = reported.map_or("; interrupts are disabled", |_| "");
        match reported.or_else(simulated) {
            Some(at) => format!("the program counter was at {}{note}", self.describe_address(at)),
            None => "no reply to the program counter query: interrupts are disabled, or the line to the \
                     board is dead"
                .to_owned(),
        }
    }

    /// Returns an address with its label and source line.
    fn describe_address(&self, at: u16) -> String {
        CodeMap::new(&[&self.programs.application, &self.programs.monitor]).describe_address(at)
    }

    /// Returns the faults injected so far; `None` without fault injection.
    #[must_use]
    pub fn faults(&self) -> Option<FaultCounts> {
        self.board.fault_counts()
    }

    /// Returns the time by the clock of the line.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.link.now()
    }

    /// Returns the board's name.
    #[must_use]
    pub fn board(&self) -> &str {
        self.board.name()
    }

    /// Returns the title of the board's profile.
    #[must_use]
    pub fn profile_title(&self) -> &str {
        &self.config.profile.title
    }

    /// Returns the simulated time since power-up; `None` for a board that is not simulated here.
    #[must_use]
    pub fn board_time(&self) -> Option<Duration> {
        let clock = self.board.instrumentation()?.clock();
        Some(Duration::from_secs_f64(clock as f64 / self.clock_hz.max(1) as f64))
    }
}
