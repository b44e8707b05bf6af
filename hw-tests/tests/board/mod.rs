//! The application on a simulated board, asked in the test's own thread.

use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::Profile;
use firmware::wire::{Decoder, Event, Frame, Reply, Request};
use hw_tests::rig::board_spec;
use hw_tests::sim::{QueueLine, SimBoard, Stop};

/// A board that answers.
pub(crate) struct Board(SimBoard<QueueLine>);

impl Board {
    /// Powers it up with the application in RAM.
    pub(crate) fn application() -> Self {
        let profile = Profile::named("rc2014-classic").expect("it ships");
        let app = build(&profile, ProgramKind::Application).unwrap_or_else(|e| panic!("{e}"));
        let jump = [0xC3, 0x00, 0x80];
        let mut board = SimBoard::new(board_spec(&profile), &jump, QueueLine::default());
        board.bus_mut().load(app.address, &app.bytes);
        let mut board = Self(board);
        board.rest();
        board
    }

    fn rest(&mut self) {
        while self.0.run_for(1_000_000) != Stop::Idle {}
    }

    /// Its one reply to a request.
    pub(crate) fn ask(&mut self, request: &Request) -> Reply {
        self.0.line_mut().from_board.clear();
        let frame = Frame { seq: 1, kind: request.kind(), payload: request.payload() };
        self.0.line_mut().to_board.extend(frame.encode());
        self.rest();
        let mut decoder = Decoder::default();
        let heard = std::mem::take(&mut self.0.line_mut().from_board);
        let reply = heard.into_iter().find_map(|byte| match decoder.push(byte) {
            Some(Event::Frame(frame)) => Reply::parse(frame.kind, &frame.payload).ok(),
            _ => None,
        });
        reply.unwrap_or_else(|| panic!("no reply to {request:?}"))
    }
}
