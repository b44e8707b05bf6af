//! The simulated board in a thread of its own, reached as a real one: by the path of a serial
//! device, or by a TCP port where there are no pseudo-terminals.

use cli_support::text::Show;
use firmware::profile::Profile;
use rcflash_transport::Transport;

use super::{Board, BoardError, Button, Instruments};
use board_simulator::board_spec;
use board_simulator::{BoardServer, CallRecord, Pace, Probe, Registers, ServerOptions};

/// A simulated board behind a pseudo-terminal. Dropping it cuts its power.
pub struct SimulatedBoard {
    server: BoardServer,
    name: String,
    baud: u32,
}

impl SimulatedBoard {
    /// Powers a board up with these bytes in its ROM.
    ///
    /// # Errors
    /// No pseudo-terminal or no thread was available.
    pub fn start(
        profile: &Profile,
        rom: &[u8],
        pace: Pace,
        probe: Probe,
    ) -> Result<Self, BoardError> {
        let options = ServerOptions { pace, probe: Some(probe), ..ServerOptions::default() };
        let server = BoardServer::start(board_spec(profile), rom, options);
        let server = server.map_err(BoardError::Simulator)?;
        let name = format!("simulated {} at {}", profile.name, server.path().shown());
        Ok(Self { server, name, baud: profile.uart.baud })
    }
}

impl Board for SimulatedBoard {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        Ok(rcflash_transport::network::open(&self.server.path().to_string_lossy(), self.baud)?)
    }

    fn button(&self) -> Option<Button> {
        Some(self.server.reset_button())
    }

    fn instruments(&self) -> Option<&dyn Instruments> {
        Some(&self.server)
    }
}

impl Instruments for BoardServer {
    fn program_counter(&self) -> u16 {
        self.program_counter()
    }

    fn clock(&self) -> u64 {
        self.clock()
    }

    fn halted_time(&self) -> u64 {
        self.halted_time()
    }

    fn take_records(&self) -> Vec<CallRecord> {
        self.take_records()
    }

    fn take_passages(&self) -> Vec<Registers> {
        self.take_hits()
    }
}
