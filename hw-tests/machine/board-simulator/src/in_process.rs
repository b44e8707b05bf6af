//! A simulated board in this process, whose line uses the simulated clock: nothing waits, and the
//! same requests always give the same run.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use firmware::profile::BoardProfile;
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{ControlLine, Transport};

use crate::board::{BoardModel, RunStop};
use crate::line::QueueLine;
use crate::probe::{CallRecord, Instrumentation, Probe};
use crate::spec::board_spec;
use crate::violation::Violation;
use z80_core::Registers;

/// T-states simulated between two checks of the board's output.
const SLICE_T_STATES: u64 = 2_000;

/// A board and its line, simulated while the host reads from it. Clones share one board.
#[derive(Clone)]
pub struct InProcessBoard {
    name: String,
    shared: Arc<Mutex<BoardState>>,
}

/// A board and its clock.
pub struct BoardState {
    /// The board.
    pub board: BoardModel<QueueLine>,
    /// The probe as it was at power-on.
    pub probe: Probe,
    /// Violations of a board that was in its place before.
    pub violations: Vec<Violation>,
    /// T-states skipped because the board waited in HALT for the host, or of an earlier board.
    pub skipped_t_states: u64,
    began: Instant,
}

impl InProcessBoard {
    /// Powers up a board with `rom` in its ROM socket.
    pub fn new(profile: &BoardProfile, rom: &[u8], probe: Probe) -> Self {
        let board = BoardModel::new(board_spec(profile), rom, QueueLine::default());
        Self::with_model(profile, board, probe)
    }

    /// Powers up a board whose hardware may differ from the profile's.
    pub fn with_model(
        profile: &BoardProfile,
        mut board: BoardModel<QueueLine>,
        probe: Probe,
    ) -> Self {
        board.set_probe(probe.clone());
        let (violations, skipped_t_states, began) = (Vec::new(), 0, Instant::now());
        let state = BoardState { board, probe, violations, skipped_t_states, began };
        let name = format!("simulated {} within this program", profile.name);
        Self { name, shared: Arc::new(Mutex::new(state)) }
    }

    /// Returns the board and its clock, locked.
    pub fn state(&self) -> MutexGuard<'_, BoardState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time by the board's clock.
    pub fn now(&self) -> Instant {
        self.state().now()
    }

    /// Lets the board run for this time, whatever it sends.
    pub fn run_for(&self, time: Duration) {
        self.state().run_for(time);
    }

    /// Returns the line, newly opened: serial drivers end a break when the port is closed, even if the
    /// program was killed, and the next program to open it sets flow control again.
    pub fn line(&self) -> Self {
        let mut state = self.state();
        let line = state.board.line_mut();
        (line.low, line.ignores_rts) = (false, false);
        self.clone()
    }

    /// Returns a function that presses the reset button, for use in another thread.
    pub fn reset_button(&self) -> Box<dyn Fn() + Send> {
        let board = self.clone();
        Box::new(move || board.state().board.reset())
    }
}

impl BoardState {
    /// T-states since the first power-on.
    pub fn time(&self) -> u64 {
        self.board.clock() + self.skipped_t_states
    }

    fn now(&self) -> Instant {
        self.began
            + Duration::from_nanos(
                (u128::from(self.time()) * 1_000_000_000 / u128::from(self.board.clock_hz().max(1)))
                    as u64,
            )
    }

    /// T-states in a time, plus one, so that a wait shorter than a T-state ends, too.
    fn t_states(&self, time: Duration) -> u64 {
        (time.as_nanos() * u128::from(self.board.clock_hz().max(1)) / 1_000_000_000) as u64 + 1
    }

    /// Runs the board until it has sent something or the timeout has passed.
    fn run_until_output(&mut self, timeout: Duration) {
        let end = self.time() + self.t_states(timeout);
        while self.board.line_mut().from_board.is_empty() && self.time() < end {
            let slice = SLICE_T_STATES.min(end - self.time());
            let is_idle = self.board.run_for(slice) == RunStop::Idle;
            if is_idle && self.board.line_mut().from_board.is_empty() {
                self.skipped_t_states += end.saturating_sub(self.time());
            }
        }
    }

    /// Runs the board for this time, whatever it sends.
    fn run_for(&mut self, time: Duration) {
        let end = self.time() + self.t_states(time);
        self.board.run_for(end - self.time());
        self.skipped_t_states += end.saturating_sub(self.time());
    }
}

impl Instrumentation for InProcessBoard {
    fn program_counter(&self) -> u16 {
        self.state().board.registers().pc
    }

    fn clock(&self) -> u64 {
        self.state().board.clock()
    }

    fn take_records(&self) -> Vec<CallRecord> {
        self.state().board.probe_mut().map(Probe::take).unwrap_or_default()
    }

    fn take_hits(&self) -> Vec<Registers> {
        self.state().board.probe_mut().map(Probe::take_hits).unwrap_or_default()
    }

    fn take_violations(&self) -> Vec<Violation> {
        let mut state = self.state();
        let mut violations = std::mem::take(&mut state.violations);
        violations.extend(state.board.take_violations());
        violations
    }
}

impl Transport for InProcessBoard {
    fn name(&self) -> &str {
        &self.name
    }

    fn now(&self) -> Instant {
        self.state().now()
    }

    fn set_control_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        if line != ControlLine::Break {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.state().board.line_mut().low = on;
        Ok(())
    }

    fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
        let mut state = self.state();
        let before = std::mem::replace(&mut state.board.line_mut().ignores_rts, !obey);
        Ok(!before)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.state().board.line_mut().to_board.clear();
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let mut state = self.state();
        state.run_until_output(timeout);
        let received = &mut state.board.line_mut().from_board;
        let count = received.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(received.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        self.state().board.line_mut().to_board.extend(bytes);
        Ok(())
    }
}
