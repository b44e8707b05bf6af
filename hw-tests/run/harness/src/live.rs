//! A connected board on which a program is loaded, verified and running: the application with the
//! code under test, or the caller of test files.
//!
//! [`LiveBoard::start`] connects to a board, loads the program and starts it. The suites send their
//! requests over [`LiveBoard::link`]; [`LiveBoard::recover`] restarts a board that was lost.

mod config;
mod error;
mod program_board;
mod programs;
mod recover;
mod stock_monitor;

pub use config::BoardConfig;
pub(crate) use config::choose_kind;
pub use error::SetupError;
pub use program_board::{ProgramBoard, ProgramEnd, ProgramError, ProgramLimits, ProgramOutput};
pub use programs::Programs;
pub use recover::Recovery;
pub use stock_monitor::end_address;

use std::sync::Arc;

use firmware::code_map::CodeMap;
use firmware_wire::Identity;
use rcflash_link::Link;
use rcflash_transport::time::Duration;

use crate::board::{Board, FaultCounts, Instrumentation, RunningApplication};
use crate::file_system::FileSystem;

/// A board on which a program is running.
pub struct LiveBoard {
    /// The line to the program.
    pub link: Link,
    /// The program.
    pub identity: Identity,
    /// The routines of the user's own in the program.
    pub own_routines: Vec<String>,
    /// The configuration of the connection.
    pub config: BoardConfig,
    /// The programs that were built for the board.
    pub programs: Arc<Programs>,
    /// Dropped after `link`, whose line it owns.
    board: Box<dyn Board>,
}

impl LiveBoard {
    /// Connects to a board, loads the application and starts it, unless the board has it already,
    /// as in a replay. A transcript is written to `disk`.
    ///
    /// # Errors
    /// Returns the error of the step that failed.
    pub fn start(
        config: &BoardConfig,
        board: Box<dyn Board>,
        programs: Arc<Programs>,
        disk: &dyn FileSystem,
    ) -> Result<Self, SetupError> {
        let (mut board, mut link) = config.connect_to(board, disk)?;
        let (identity, own_routines) = match board.take_preloaded() {
            Some(RunningApplication { application, user_routines, seq }) => {
                link.set_seq(seq);
                (application, user_routines)
            }
            None => {
                let own = programs.application.overridden.iter().map(ToString::to_string);
                (programs.load_and_start(config, &mut link)?, own.collect())
            }
        };
        link.set_window(identity.window);
        let mut live =
            Self { link, identity, own_routines, config: config.clone(), programs, board };
        live.report_ready();
        // What was recorded during the set-up belongs to no request.
        if let Some(instruments) = live.instrumentation() {
            let _ = (instruments.take_records(), instruments.take_violations());
        }
        Ok(live)
    }

    /// Reports to the board that it is ready for requests.
    fn report_ready(&mut self) {
        let (application, user_routines) = (self.identity.clone(), self.own_routines.clone());
        let seq = self.link.seq();
        self.board.on_ready(&RunningApplication { application, user_routines, seq });
    }

    /// Returns `true` if the program has one of [`firmware_wire::capability`].
    pub fn has_capability(&self, bit: u8) -> bool {
        self.identity.capabilities & bit != 0
    }

    /// Returns `true` if the program has one of [`firmware_wire::extended_capability`].
    pub fn has_extended_capability(&self, bit: u16) -> bool {
        self.identity.extended_capabilities & bit != 0
    }

    /// Returns the board's name.
    pub fn name(&self) -> &str {
        self.board.name()
    }

    /// Returns measurements from inside the board, if it is simulated.
    pub fn instrumentation(&self) -> Option<&dyn Instrumentation> {
        self.board.instrumentation()
    }

    /// Returns the faults injected so far; `None` without fault injection.
    pub fn faults(&self) -> Option<FaultCounts> {
        self.board.fault_counts()
    }

    /// Returns the duration of `t_states` by the clock of the board's profile.
    pub fn time_of(&self, t_states: u64) -> Duration {
        Duration::from_micros(t_states * 1_000_000 / self.config.profile.clock_hz.max(1))
    }

    /// Returns the simulated time since power-up; `None` for a board that is not simulated here.
    pub fn board_time(&self) -> Option<Duration> {
        self.instrumentation().map(|board| self.time_of(board.clock()))
    }

    /// Returns the board's program counter as text, with the nearest symbol of the programs built
    /// here. The board reports it itself, or the simulator does.
    pub fn describe_program_counter(&mut self) -> String {
        let reported = self.link.locate().ok().flatten();
        let simulated = || self.instrumentation().map(Instrumentation::program_counter);
        let note = reported.map_or("; interrupts are disabled", |_| "");
        match reported.or_else(simulated) {
            Some(at) => format!("the program counter was at {}{note}", self.describe_address(at)),
            None => "no reply to the program counter query: interrupts are disabled, or the line to the \
                     board is dead"
                .to_owned(),
        }
    }

    /// Returns an address with its label and source line.
    pub fn describe_address(&self, at: u16) -> String {
        CodeMap::new(&[&self.programs.application, &self.programs.monitor]).describe_address(at)
    }

    /// Leaves the program for the stock monitor, if the board has one. The board accepts no
    /// requests after that.
    ///
    /// # Errors
    /// Returns an error if the monitor does not reappear.
    pub fn return_to_monitor(&mut self) -> Result<(), SetupError> {
        let Some(monitor) = self.config.stock_monitor.take() else { return Ok(()) };
        self.config.return_to(&monitor, &mut self.link, self.board.name())
    }
}

impl Drop for LiveBoard {
    fn drop(&mut self) {
        if let Err(error) = self.return_to_monitor() {
            (self.config.on_notice)(&error.to_string());
        }
    }
}
