//! A simulated board on a line of its own, with the programs on it: what debugger, profile and
//! coverage run.

use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build, build_with};
use firmware::evaluator::Evaluator;
use firmware::profile::Profile;
use firmware_wire::{Decoder, Event, Reply, Request};

use board_simulator::board_spec;
use board_simulator::{BoardModel, QueueLine, RunStop, StepOutcome};
use firmware::code::CodeMap;

/// T-states after which a board is taken not to come to rest: half a minute of its own time.
const MAX_IDLE_WAIT_T_STATES: u64 = 250_000_000;
/// The sequence number of our requests; one is enough where nothing is lost.
const SEQ: u8 = 1;

/// A board, and the programs for it.
pub struct Machine {
    /// The board.
    pub board: BoardModel<QueueLine>,
    /// The boot monitor, in ROM.
    pub monitor: BuiltImage,
    /// The application; it may not be loaded yet.
    pub application: BuiltImage,
}

impl Machine {
    /// A board that is just powered up, with the monitor in its ROM.
    ///
    /// # Errors
    /// Returns `BuildError` if a program can't be built.
    pub fn new(
        profile: &Profile,
        kind: ProgramKind,
        evaluator: &Evaluator,
    ) -> Result<Self, BuildError> {
        let monitor = build(profile, ProgramKind::Monitor)?;
        let application = build_with(profile, kind, evaluator)?;
        Ok(Self::of(profile, monitor, application))
    }

    /// A board on which the application for RAM runs and waits for requests.
    ///
    /// # Errors
    /// Returns `BuildError` if a program can't be built.
    pub fn with_application(profile: &Profile, evaluator: &Evaluator) -> Result<Self, BuildError> {
        let mut machine = Self::new(profile, ProgramKind::Application, evaluator)?;
        machine.start_application();
        Ok(machine)
    }

    /// A board that is just powered up, with programs that are built.
    #[must_use]
    pub fn of(profile: &Profile, monitor: BuiltImage, application: BuiltImage) -> Self {
        let board = BoardModel::new(board_spec(profile), &monitor.bytes, QueueLine::default());
        Self { board, monitor, application }
    }

    /// Puts the application into RAM and starts it.
    pub fn start_application(&mut self) {
        self.rest();
        let Self { board, application, .. } = self;
        board.bus_mut().load(application.address, &application.bytes);
        self.send(&Request::Run { address: self.application.address });
        self.rest();
        self.board.line_mut().from_board.clear();
    }

    /// The lines and names of both programs.
    #[must_use]
    pub fn code(&self) -> CodeMap {
        CodeMap::new(&[&self.monitor, &self.application])
    }

    /// Puts a request on the line.
    pub fn send(&mut self, request: &Request) {
        let frame = request.frame(SEQ).expect("it fits a frame");
        self.board.line_mut().to_board.extend(frame.encode());
    }

    /// Runs until nothing can happen any more without the host; returns whether that came about.
    pub fn rest(&mut self) -> bool {
        self.board.run_for(MAX_IDLE_WAIT_T_STATES) == RunStop::Idle
    }

    /// Has the monitor, which waits for requests, jump to an address, and stops there; returns
    /// whether it came there.
    pub fn enter(&mut self, address: u16) -> bool {
        self.send(&Request::Run { address });
        let end = self.board.clock() + MAX_IDLE_WAIT_T_STATES;
        while self.board.clock() < end && self.board.registers().pc != address {
            if self.board.advance() == StepOutcome::Idle {
                return false;
            }
        }
        self.board.line_mut().from_board.clear();
        self.board.registers().pc == address
    }

    /// Takes what the board has sent since this was last called.
    pub fn replies(&mut self) -> Vec<Reply> {
        let mut decoder = Decoder::default();
        let heard = std::mem::take(&mut self.board.line_mut().from_board);
        let frames = heard.into_iter().filter_map(|byte| match decoder.push(byte) {
            Some(Event::Frame(frame)) => Reply::parse(frame.kind, &frame.payload).ok(),
            _ => None,
        });
        frames.collect()
    }
}
