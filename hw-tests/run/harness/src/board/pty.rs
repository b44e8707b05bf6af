//! A simulated board in its own thread, reached like a real one: through a pseudo-terminal, or
//! through a TCP port where there are no pseudo-terminals.

use cli_support::text::Escape;
use firmware::profile::BoardProfile;
use rcflash_transport::Transport;

use super::{Board, BoardError, Instrumentation, ResetFn};
use board_simulator::{BoardServer, Pace, Probe, ServerOptions, board_spec};

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
