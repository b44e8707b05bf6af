//! A board that runs one program after the other, each started by the monitor in its ROM.

use firmware::ProgramKind;
use firmware::build::build;
use rcflash_link::loader::{self, LoadError};
use rcflash_link::rig::reset::ResetOutcome;
use rcflash_link::{Link, LinkError};
use rcflash_monitors::{
    HostedProgram, LoaderError, MonitorSession, Peer, ProbedPeer, ResidentMonitor, StockMonitor,
    identify_prompt, probe_quick,
};
use rcflash_transport::time::{Duration, Instant};

use super::recover::reopen;
use super::stock_monitor::with_monitor_session;
use super::{BoardConfig, SetupError};
use crate::board::Board;
use crate::file_system::OsFileSystem;

/// How often a program is started again because the line or the load has failed.
const MAX_ATTEMPTS: u32 = 3;
/// How long a board may take to send the first character of its monitor after a reset.
const BOOT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long the end of the output is silent before a prompt there is taken for the monitor's.
const PROMPT_SILENCE: Duration = Duration::from_millis(300);
/// How often a wait for output checks whether the run was cancelled.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The end of the output in which a prompt is looked for.
const TAIL_BYTES: usize = 512;
const READING: &str = "reading the program's output";

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramEnd {
    /// Its output ended it.
    Output,
    /// The monitor replied instead of the program.
    Returned,
    /// It sent nothing for [`ProgramLimits::silence`].
    Silent,
    /// It had not ended after [`ProgramLimits::total`].
    TooLong,
}

/// How long a program may run, by the clock of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramLimits {
    /// The longest time without output.
    pub silence: Duration,
    /// The time from its start to its end.
    pub total: Duration,
}

/// Receives the output of a program.
pub trait ProgramOutput {
    /// Called before the program is started; more than once if the line fails meanwhile.
    fn start(&mut self);
    /// Receives output. Returns how many of the bytes it took if they end the program.
    fn receive(&mut self, bytes: &[u8]) -> Option<usize>;
}

/// Error returned if a program did not run to an end.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The monitor does not load the program; the others may run.
    #[error("{0}")]
    Refused(SetupError),
    /// The board failed.
    #[error(transparent)]
    Board(#[from] SetupError),
}

/// What the board is doing between two programs.
#[derive(Default)]
enum BoardState {
    /// Its monitor waits for a command; the prompt, if it was just received.
    AtMonitor(Vec<u8>),
    /// The program has ended by its output, and may return; what was received since.
    Ending(Vec<u8>),
    /// A program may be running.
    #[default]
    Lost,
}

/// A board that runs one program after the other. Before each it is reset if that needs no person;
/// otherwise only after a program that did not return to the monitor.
pub struct ProgramBoard {
    link: Link,
    config: BoardConfig,
    /// The build of this project's monitor for the board.
    monitor_build: u32,
    state: BoardState,
    /// Dropped after `link`, whose line it owns.
    board: Box<dyn Board>,
}

impl ProgramBoard {
    /// Connects to a board. `wrap` may replace it, for example by a simulated stock monitor.
    ///
    /// # Errors
    /// Returns the error of the step that failed; [`SetupError::NeedsReset`] if this project's
    /// monitor does not reply.
    pub fn connect(
        config: &BoardConfig,
        wrap: impl FnOnce(Box<dyn Board>) -> Box<dyn Board>,
    ) -> Result<Self, SetupError> {
        let monitor = build(&config.profile, ProgramKind::Monitor)?;
        let board = wrap(config.power_up(&monitor.bytes, board_simulator::Probe::default())?);
        let (board, link) = config.connect_to(board, &OsFileSystem)?;
        let state = BoardState::AtMonitor(Vec::new());
        let (config, monitor_build) = (config.clone(), monitor.build);
        let mut connected = Self { link, config, monitor_build, state, board };
        if connected.config.stock_monitor.is_none()
            && let Err(error) = connected.config.enter_monitor(&mut connected.link, monitor_build)
        {
            if !matches!(error, SetupError::Link(LinkError::Timeout { .. })) {
                return Err(error);
            }
            connected.state = BoardState::Lost;
            connected.make_ready()?;
        }
        Ok(connected)
    }

    /// Returns the board's name.
    pub fn name(&self) -> &str {
        self.board.name()
    }

    /// Loads a program, verifies it, starts it, and passes its output on until it ends. Returns how
    /// it ended, and the time since its start by the clock of the line.
    ///
    /// # Errors
    /// Returns [`ProgramError`] if it could not be loaded, or the board is lost.
    pub fn run(
        &mut self,
        program: HostedProgram,
        limits: ProgramLimits,
        output: &mut dyn ProgramOutput,
    ) -> Result<(ProgramEnd, Duration), ProgramError> {
        for _ in 1..MAX_ATTEMPTS {
            match self.run_once(program, limits, output) {
                Err(ProgramError::Board(error))
                    if !matches!(error, SetupError::NeedsReset(_))
                        && !self.config.is_cancelled() =>
                {
                    self.state = BoardState::Lost;
                    if error.is_line_error() {
                        reopen(&mut self.link, &mut *self.board, &self.config)?;
                    }
                }
                other => return other,
            }
        }
        self.run_once(program, limits, output)
    }

    fn run_once(
        &mut self,
        program: HostedProgram,
        limits: ProgramLimits,
        output: &mut dyn ProgramOutput,
    ) -> Result<(ProgramEnd, Duration), ProgramError> {
        let prompt = self.make_ready()?;
        let first = self.load_and_start(program, &prompt)?;
        // Until it has returned, nothing is known about the board.
        self.state = BoardState::Lost;
        output.start();
        let began = self.link.now();
        let scale = self.board.slowdown_factor();
        let limits = ProgramLimits { silence: limits.silence * scale, total: limits.total * scale };
        let end = self.watch(first, began, limits, output)?;
        Ok((end, self.link.now().saturating_duration_since(began)))
    }

    /// Brings the board to its monitor, and returns the prompt of a stock monitor that was received.
    fn make_ready(&mut self) -> Result<Vec<u8>, SetupError> {
        let prompt = match std::mem::take(&mut self.state) {
            BoardState::AtMonitor(prompt) => prompt,
            state => self.leave_program(&state)?,
        };
        self.state = BoardState::AtMonitor(Vec::new());
        Ok(prompt)
    }

    /// Resets the board. If only a person can, waits for the monitor to which the program returns,
    /// or starts an emulated board again.
    fn leave_program(&mut self, state: &BoardState) -> Result<Vec<u8>, SetupError> {
        if self.board.reset(self.link.transport_mut())? == ResetOutcome::Done {
            return self.await_monitor(None);
        }
        if let BoardState::Ending(rest) = state
            && let Ok(prompt) = self.await_monitor(Some(rest))
        {
            return Ok(prompt);
        }
        reopen(&mut self.link, &mut *self.board, &self.config)?;
        self.await_monitor(None).map_err(|error| SetupError::NeedsReset(error.into()))
    }

    /// Waits until the monitor has started: after a reset, or after `received` of the output of a
    /// program. Returns the prompt of a stock monitor.
    fn await_monitor(&mut self, received: Option<&[u8]>) -> Result<Vec<u8>, SetupError> {
        if let Some(monitor) = self.config.stock_monitor.clone() {
            let received = received.unwrap_or_default();
            return Ok(self.session(received, |session| monitor.wait_for_return(session))?.1);
        }
        // A request before the banner would be lost, and repeated only after a second.
        if received.and_then(identify_prompt) != Some(Peer::OwnFirmware) {
            self.link.drain_banner("waiting for the monitor", BOOT_TIMEOUT)?;
        }
        self.config.enter_monitor(&mut self.link, self.monitor_build)?;
        Ok(Vec::new())
    }

    /// Loads a program at the monitor's prompt. Returns the first output of the program.
    fn load_and_start(
        &mut self,
        program: HostedProgram,
        prompt: &[u8],
    ) -> Result<Vec<u8>, ProgramError> {
        let refused = |error: SetupError| match error {
            SetupError::Load(LoadError::DoesNotFit { .. } | LoadError::Empty)
            | SetupError::MonitorLoad(LoaderError::DoesNotFit { .. } | LoaderError::Empty) => {
                ProgramError::Refused(error)
            }
            error => ProgramError::Board(error),
        };
        if let Some(monitor) = self.config.stock_monitor.clone() {
            let start = |session: &mut MonitorSession| monitor.start(session, program, &mut ());
            return self.session(prompt, start).map(|((), first)| first).map_err(refused);
        }
        let found = self.config.enter_monitor(&mut self.link, self.monitor_build)?;
        let (first, _) = program.image.bounds().unwrap_or_default();
        let bytes = program.image.flat(0xFF);
        loader::upload_missing(&mut self.link, &found, first, &bytes, |_| {})
            .and_then(|_| loader::jump(&mut self.link, program.entry))
            .map_err(|error| refused(error.into()))?;
        Ok(self.link.take_unframed())
    }

    /// Receives output until the program ends.
    fn watch(
        &mut self,
        first: Vec<u8>,
        began: Instant,
        limits: ProgramLimits,
        output: &mut dyn ProgramOutput,
    ) -> Result<ProgramEnd, SetupError> {
        let mut received = first;
        let mut tail = Vec::new();
        let mut heard = began;
        let mut has_asked = false;
        loop {
            if !received.is_empty() {
                if let Some(taken) = output.receive(&received) {
                    self.state = BoardState::Ending(received.split_off(taken));
                    return Ok(ProgramEnd::Output);
                }
                (heard, has_asked) = (self.link.now(), false);
                tail.append(&mut received);
                tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
            }
            let now = self.link.now();
            let silence = now.saturating_duration_since(heard);
            if !has_asked && silence >= PROMPT_SILENCE {
                has_asked = true;
                if self.is_at_monitor(&tail)? {
                    self.state = BoardState::AtMonitor(Vec::new());
                    return Ok(ProgramEnd::Returned);
                }
            } else if now.saturating_duration_since(began) >= limits.total {
                return Ok(ProgramEnd::TooLong);
            } else if silence >= limits.silence {
                return Ok(ProgramEnd::Silent);
            }
            let ends = [heard + limits.silence, began + limits.total, now + STOP_POLL_INTERVAL];
            let end = ends.into_iter().min().unwrap_or(now);
            received = self.read(end.saturating_duration_since(now))?;
        }
    }

    /// Reads what arrives within `timeout`.
    fn read(&mut self, timeout: Duration) -> Result<Vec<u8>, SetupError> {
        if self.config.is_cancelled() {
            let hint = "the program may still be running".to_owned();
            return Err(LinkError::Interrupted { operation: READING, hint }.into());
        }
        let mut buffer = vec![0; 1024];
        let line = self.link.transport_mut();
        let count = line.read(&mut buffer, timeout).map_err(|source| LinkError::Io {
            port: line.name().to_owned(),
            operation: READING,
            source,
        })?;
        buffer.truncate(count);
        Ok(buffer)
    }

    /// Returns `true` if the output ends with the monitor's prompt or banner, and the monitor
    /// replies.
    fn is_at_monitor(&mut self, output: &[u8]) -> Result<bool, SetupError> {
        let seen = identify_prompt(output);
        let Some(monitor) = self.config.stock_monitor.clone() else {
            return Ok(seen == Some(Peer::OwnFirmware)
                && self.config.enter_monitor(&mut self.link, self.monitor_build).is_ok());
        };
        if matches!(monitor, ResidentMonitor::Memory(StockMonitor::Described(_))) {
            return Ok(self.session(output, |session| monitor.wait_for_return(session)).is_ok());
        }
        if seen.is_none() {
            return Ok(false);
        }
        let (found, _) = self.session(&[], probe_quick)?;
        Ok(matches!(found, ProbedPeer::Known(peer, _) if peer != Peer::OwnFirmware))
    }

    /// Calls `dialogue` in a session with the stock monitor, which has sent `received` before.
    /// Returns the bytes that it has not read, too.
    fn session<T>(
        &mut self,
        received: &[u8],
        dialogue: impl FnOnce(&mut MonitorSession) -> Result<T, LoaderError>,
    ) -> Result<(T, Vec<u8>), SetupError> {
        let cancel = self.config.cancel.as_ref();
        Ok(with_monitor_session(cancel, &mut self.link, received, dialogue)?)
    }
}

impl Drop for ProgramBoard {
    fn drop(&mut self) {
        if !matches!(self.state, BoardState::AtMonitor(_)) {
            // Nobody waits for the board any more.
            let _ = self.board.reset(self.link.transport_mut());
        }
    }
}
