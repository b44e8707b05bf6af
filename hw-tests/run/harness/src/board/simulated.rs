//! Simulated boards: in this process, and in a thread of their own, reached like real ones: through a
//! pseudo-terminal, or through a TCP port where there are no pseudo-terminals.

use std::io;

use cli_support::text::Escape;
use firmware::profile::BoardProfile;
use rcflash_transport::Transport;
use rcflash_transport::time::{Duration, Instant};

use super::{Board, BoardError, InProcessBoard, Instrumentation, ResetFn};
use board_simulator::{BoardServer, Pace, Probe, ServerOptions, board_spec};

/// How long a read waits until it looks how far the board has come.
const READ_SLICE: Duration = Duration::from_millis(5);

impl Board for InProcessBoard {
    fn name(&self) -> &str {
        Transport::name(self)
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        Ok(Box::new(self.line()))
    }

    fn reset_fn(&self) -> Option<ResetFn> {
        Some(self.reset_button())
    }

    fn sleep(&mut self, time: Duration) {
        self.run_for(time);
    }

    fn instrumentation(&self) -> Option<&dyn Instrumentation> {
        Some(self)
    }
}

/// A simulated board behind a pseudo-terminal. Dropping it cuts its power.
pub(crate) struct PtyBoard {
    server: BoardServer,
    name: String,
    baud: u32,
    /// The frequency of its clock, if that runs as fast as it can be simulated.
    free_clock_hz: Option<u64>,
}

impl PtyBoard {
    /// Powers up a board with `rom` in its ROM socket.
    ///
    /// # Errors
    /// Returns [`BoardError::Simulator`] if there is no pseudo-terminal or thread left.
    pub(crate) fn start(
        profile: &BoardProfile,
        rom: &[u8],
        pace: Pace,
        probe: Probe,
    ) -> Result<Self, BoardError> {
        let options = ServerOptions { pace, probe: Some(probe), ..ServerOptions::default() };
        let server = BoardServer::start(board_spec(profile), rom, options);
        let server = server.map_err(BoardError::Simulator)?;
        let name = format!("simulated {} at {}", profile.name, server.path().escaped());
        let free_clock_hz = (pace == Pace::Free).then_some(profile.clock_hz.max(1));
        Ok(Self { server, name, baud: profile.uart.baud, free_clock_hz })
    }
}

impl Board for PtyBoard {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let path = self.server.path().to_string_lossy();
        let line = rcflash_transport::network::open(&path, self.baud)?;
        let Some(clock_hz) = self.free_clock_hz else { return Ok(line) };
        let clock = self.server.clock_reader();
        Ok(Box::new(FreeLine { line, clock, clock_hz, ahead: Duration::ZERO }))
    }

    fn reset_fn(&self) -> Option<ResetFn> {
        Some(self.server.reset_button())
    }

    fn instrumentation(&self) -> Option<&dyn Instrumentation> {
        Some(&self.server)
    }
}

/// The line of a board that runs as fast as it can be simulated. While the host waits for a board
/// that computes, time passes by the board's clock: a deadline is as many T-states as on a real
/// board, so that one that hangs is not waited for by the computer's clock.
struct FreeLine {
    line: Box<dyn Transport + Send>,
    /// Returns the board's clock in T-states, which stands still while the board is idle.
    clock: Box<dyn Fn() -> u64 + Send>,
    clock_hz: u64,
    /// How far the line's time is ahead of the computer's.
    ahead: Duration,
}

impl Transport for FreeLine {
    fn inner(&self) -> Option<&dyn Transport> {
        Some(&*self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        Some(&mut *self.line)
    }

    fn now(&self) -> Instant {
        self.line.now() + self.ahead
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let end = self.now() + timeout;
        loop {
            let left = end.saturating_duration_since(self.now());
            let (began, clock) = (self.line.now(), (self.clock)());
            let count = self.line.read(buffer, left.min(READ_SLICE))?;
            // What has arrived was not waited for, however late this thread reads it.
            if count > 0 || left.is_zero() {
                return Ok(count);
            }
            let t_states = (self.clock)().saturating_sub(clock);
            let worked = Duration::from_micros(t_states * 1_000_000 / self.clock_hz);
            let waited = self.line.now().saturating_duration_since(began);
            self.ahead += worked.saturating_sub(waited);
        }
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.line.write(bytes, deadline.checked_sub(self.ahead).unwrap_or(deadline))
    }
}

#[cfg(test)]
mod tests {
    use firmware::ProgramKind;
    use firmware::build::build;
    use rcflash_link::Link;
    use rcflash_link::loader::identify;
    use rcflash_transport::ControlLine;

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
        assert!(!board.state().board.line_mut().ignores_rts);
        identify(&mut Link::new(line, profile.uart.baud)).expect("it answers");
    }
}
