//! A simulated board with the programs on it, as debugger, profiler and coverage run it.

use board_simulator::{BoardModel, QueueLine, RunStop, StepOutcome, board_spec};
use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build, build_with};
use firmware::code_map::CodeMap;
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use firmware_wire::{Decoder, DecoderEvent, Reply, Request};

const MAX_IDLE_WAIT_T_STATES: u64 = 250_000_000;
/// The sequence number of all requests; one is enough on a line that loses nothing.
const SEQ: u8 = 1;

/// A simulated board and the programs for it.
pub struct Machine {
    /// The board.
    pub board: BoardModel<QueueLine>,
    /// The boot monitor, in ROM.
    pub monitor: BuiltImage,
    /// The application, which may not be loaded yet.
    pub application: BuiltImage,
}

impl Machine {
    /// Creates a board at power-up, with the monitor in its ROM.
    pub fn new(
        profile: &BoardProfile,
        kind: ProgramKind,
        evaluator: &Evaluator,
    ) -> Result<Self, BuildError> {
        let monitor = build(profile, ProgramKind::Monitor)?;
        let application = build_with(profile, kind, evaluator)?;
        Ok(Self::from_images(profile, monitor, application))
    }

    /// Creates a board on which the application runs from RAM and waits for requests.
    pub fn with_application(
        profile: &BoardProfile,
        evaluator: &Evaluator,
    ) -> Result<Self, BuildError> {
        let mut machine = Self::new(profile, ProgramKind::Application, evaluator)?;
        machine.start_application();
        Ok(machine)
    }

    /// Creates a board at power-up from programs already built.
    pub fn from_images(
        profile: &BoardProfile,
        monitor: BuiltImage,
        application: BuiltImage,
    ) -> Self {
        let board = BoardModel::new(board_spec(profile), &monitor.bytes, QueueLine::default());
        Self { board, monitor, application }
    }

    /// Loads the application into RAM and starts it.
    pub fn start_application(&mut self) {
        self.run_until_idle();
        let Self { board, application, .. } = self;
        board.bus_mut().load(application.address, &application.bytes);
        self.send(&Request::Run { address: self.application.address });
        self.run_until_idle();
        self.board.line_mut().from_board.clear();
    }

    /// The source lines and symbols of both programs.
    pub fn code(&self) -> CodeMap {
        CodeMap::new(&[&self.monitor, &self.application])
    }

    /// Sends a request to the board.
    pub fn send(&mut self, request: &Request) {
        let frame = request.frame(SEQ).expect("it fits a frame");
        self.board.line_mut().to_board.extend(frame.encode());
    }

    /// Runs until the board waits for input; returns `false` if it does not within half a minute.
    pub fn run_until_idle(&mut self) -> bool {
        self.board.run_for(MAX_IDLE_WAIT_T_STATES) == RunStop::Idle
    }

    /// Sends the idle monitor a RUN request; returns `false` if the board does not reach it.
    pub fn jump_to(&mut self, address: u16) -> bool {
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

    /// Returns the replies that the board has sent since the last call.
    pub fn take_replies(&mut self) -> Vec<Reply> {
        let mut decoder = Decoder::default();
        let received = std::mem::take(&mut self.board.line_mut().from_board);
        let frames = received.into_iter().filter_map(|byte| match decoder.push(byte) {
            Some(DecoderEvent::Frame(frame)) => Reply::parse(frame.kind, &frame.payload).ok(),
            _ => None,
        });
        frames.collect()
    }
}
