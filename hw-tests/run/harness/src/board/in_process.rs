//! A simulated board in this process. Its line uses the simulated clock, so nothing waits, and the
//! same requests always give the same run.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use firmware::profile::BoardProfile;
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{ControlLine, Transport};

use super::{Board, BoardError, Instrumentation, ResetFn, lock};
use board_simulator::board_spec;
use board_simulator::{BoardModel, CallRecord, Probe, QueueLine, Registers, RunStop, Violation};

/// T-states simulated between two checks of the board's output.
const SLICE_T_STATES: u64 = 2_000;

/// A board that is simulated while the host reads from its line. Clones share one board.
#[derive(Clone)]
pub struct InProcessBoard {
    name: String,
    shared: SharedBoard,
}

/// The board and its clock, shared by [`InProcessBoard`] and its lines.
type SharedBoard = Arc<Mutex<BoardState>>;

/// A board and its clock.
pub struct BoardState {
    /// The board.
    pub board: BoardModel<QueueLine>,
    /// The probe as it was at power-on.
    pub probe: Probe,
    /// Violations of a board that was in its place before.
    pub violations: Vec<Violation>,
    clock_hz: u64,
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
        let clock_hz = profile.clock_hz.max(1);
        let state = BoardState {
            board,
            probe,
            violations: Vec::new(),
            clock_hz,
            skipped_t_states: 0,
            began: Instant::now(),
        };
        let name = format!("simulated {} within this program", profile.name);
        Self { name, shared: Arc::new(Mutex::new(state)) }
    }

    /// Returns the board and its clock, locked.
    pub fn state(&self) -> MutexGuard<'_, BoardState> {
        lock(&self.shared)
    }

    /// Returns the time by the board's clock.
    pub fn now(&self) -> Instant {
        lock(&self.shared).now()
    }
}

impl Board for InProcessBoard {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        // Serial drivers end a break when the port is closed, even if the program was killed, and
        // the next program to open the port sets flow control again.
        let mut state = lock(&self.shared);
        let line = state.board.line_mut();
        (line.low, line.ignores_rts) = (false, false);
        drop(state);
        Ok(Box::new(InProcessLine { name: self.name.clone(), shared: self.shared.clone() }))
    }

    fn reset_fn(&self) -> Option<ResetFn> {
        let shared = self.shared.clone();
        Some(Box::new(move || lock(&shared).board.reset()))
    }

    fn sleep(&mut self, time: Duration) {
        lock(&self.shared).run_for(time);
    }

    fn instrumentation(&self) -> Option<&dyn Instrumentation> {
        Some(self)
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
                (u128::from(self.time()) * 1_000_000_000 / u128::from(self.clock_hz)) as u64,
            )
    }

    /// T-states in a time, plus one, so that a wait shorter than a T-state ends, too.
    fn t_states(&self, time: Duration) -> u64 {
        (time.as_nanos() * u128::from(self.clock_hz) / 1_000_000_000) as u64 + 1
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

/// The line to an [`InProcessBoard`].
struct InProcessLine {
    name: String,
    shared: SharedBoard,
}

impl Transport for InProcessLine {
    fn name(&self) -> &str {
        &self.name
    }

    fn now(&self) -> Instant {
        lock(&self.shared).now()
    }

    fn set_control_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        if line != ControlLine::Break {
            return Err(io::ErrorKind::Unsupported.into());
        }
        lock(&self.shared).board.line_mut().low = on;
        Ok(())
    }

    fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
        let mut state = lock(&self.shared);
        let before = std::mem::replace(&mut state.board.line_mut().ignores_rts, !obey);
        Ok(!before)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        lock(&self.shared).board.line_mut().to_board.clear();
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let mut state = lock(&self.shared);
        state.run_until_output(timeout);
        let received = &mut state.board.line_mut().from_board;
        let count = received.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(received.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        lock(&self.shared).board.line_mut().to_board.extend(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use firmware::ProgramKind;
    use firmware::build::build;
    use rcflash_link::Link;
    use rcflash_link::loader::identify;

    use super::*;

    #[test]
    fn opening_the_line_ends_a_break_left_on() {
        let profile = BoardProfile::named("rc2014-classic").expect("it ships");
        let monitor = build(&profile, ProgramKind::Monitor).expect("it is built");
        let mut board = InProcessBoard::new(&profile, &monitor.bytes, Probe::default());
        let mut line = board.open().expect("it is there");
        line.set_control_line(ControlLine::Break, true).expect("it can");
        line.set_flow_control(false).expect("it can");
        drop(line);
        let line = board.open().expect("it is there");
        assert!(!lock(&board.shared).board.line_mut().ignores_rts);
        identify(&mut Link::new(line, profile.uart.baud)).expect("it answers");
    }
}
