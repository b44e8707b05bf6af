//! A simulated board with the boot monitor in its ROM.

use board_simulator::{BoardModel, QueueLine, RunStop, StepOutcome, board_spec};
use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build};
use firmware::profile::BoardProfile;
use firmware_wire::{Decoder, DecoderEvent, Reply, Request};

const MAX_IDLE_WAIT_T_STATES: u64 = 250_000_000;
/// Returns the bytes of a request. All have the same number: no request is lost.
pub fn encode_request(request: &Request) -> Vec<u8> {
    request.frame(1).expect("it fits a frame").encode()
}

/// Returns the replies in what a board has sent.
pub fn parse_replies(sent: &[u8]) -> impl Iterator<Item = Reply> {
    let mut decoder = Decoder::default();
    sent.iter().filter_map(move |byte| match decoder.push(*byte) {
        Some(DecoderEvent::Frame(frame)) => Reply::parse(frame.kind, &frame.payload).ok(),
        _ => None,
    })
}

/// A simulated board with the boot monitor in its ROM.
pub struct Machine {
    /// The board.
    pub board: BoardModel<QueueLine>,
    /// The boot monitor.
    pub monitor: BuiltImage,
}

impl Machine {
    /// Creates a board at power-up.
    ///
    /// # Errors
    /// Returns `BuildError` if the monitor can't be built.
    pub fn new(profile: &BoardProfile) -> Result<Self, BuildError> {
        Ok(Self::with_monitor(profile, build(profile, ProgramKind::Monitor)?))
    }

    /// Creates a board at power-up with a monitor already built.
    pub fn with_monitor(profile: &BoardProfile, monitor: BuiltImage) -> Self {
        let board = BoardModel::new(board_spec(profile), &monitor.bytes, QueueLine::default());
        Self { board, monitor }
    }

    /// Loads a program into RAM, starts it by the monitor, and runs it until it waits for input.
    pub fn start(&mut self, program: &BuiltImage) {
        self.run_until_idle();
        self.board.bus_mut().load(program.address, &program.bytes);
        self.send(&Request::Run { address: program.address });
        self.run_until_idle();
        self.board.line_mut().from_board.clear();
    }

    /// Sends a request to the board.
    pub fn send(&mut self, request: &Request) {
        self.board.line_mut().to_board.extend(encode_request(request));
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
        parse_replies(&std::mem::take(&mut self.board.line_mut().from_board)).collect()
    }
}
