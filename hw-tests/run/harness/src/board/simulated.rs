//! Simulated boards: in this process, and in a thread of their own, reached like real ones: through a
//! pseudo-terminal, or through a TCP port where there are no pseudo-terminals.

use cli_support::text::Escape;
use firmware::profile::BoardProfile;
use rcflash_transport::Transport;
use rcflash_transport::time::Duration;

use super::{Board, BoardError, InProcessBoard, Instrumentation, ResetFn};
use board_simulator::{BoardServer, Pace, Probe, ServerOptions, board_spec};

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
        Ok(Self { server, name, baud: profile.uart.baud })
    }
}

impl Board for PtyBoard {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        Ok(rcflash_transport::network::open(&self.server.path().to_string_lossy(), self.baud)?)
    }

    fn reset_fn(&self) -> Option<ResetFn> {
        Some(self.server.reset_button())
    }

    fn instrumentation(&self) -> Option<&dyn Instrumentation> {
        Some(&self.server)
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
