//! A simulated board that is asked in the test's own thread, byte by byte.

use board_simulator::{BoardModel, BoardSpec, QueueLine, RomChip, RunStop};
use firmware::ProgramKind;
use firmware::build::{BuiltImage, build};
use firmware::profile::Profile;
use firmware_wire::{Decoder, Event, Frame, Reply, Request};

/// The sequence number of requests that are asked one at a time.
const SEQ: u8 = 77;

/// A shipped board's program.
pub(crate) fn image(board: &str, kind: ProgramKind) -> BuiltImage {
    let profile = Profile::named(board).expect("it ships");
    build(&profile, kind).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) struct Board(pub(crate) BoardModel<QueueLine>);

impl Board {
    /// Powers it up and lets it say its banner.
    pub(crate) fn power_up(spec: BoardSpec, chip: RomChip) -> Self {
        let mut board = Self(BoardModel::with_chip(spec, chip, QueueLine::default()));
        board.hear(&[]);
        board
    }

    /// Returns the replies of the board to these bytes.
    pub(crate) fn hear(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.0.line_mut().to_board.extend(bytes);
        for _ in 0..1000 {
            if self.0.run_for(1_000_000) == RunStop::Idle {
                return std::mem::take(&mut self.0.line_mut().from_board);
            }
        }
        panic!("the board never comes to rest");
    }

    /// Its replies to these bytes, with the sequence number of each.
    pub(crate) fn replies(&mut self, bytes: &[u8]) -> Vec<(u8, Reply)> {
        Self::decoded(self.hear(bytes))
    }

    /// The replies in what was heard.
    pub(crate) fn decoded(heard: Vec<u8>) -> Vec<(u8, Reply)> {
        let mut decoder = Decoder::default();
        let events = heard.into_iter().filter_map(|byte| decoder.push(byte));
        let frames = events.filter_map(|e| if let Event::Frame(f) = e { Some(f) } else { None });
        frames
            .map(|f| (f.seq, Reply::parse(f.kind, &f.payload).unwrap_or_else(|e| panic!("{e}"))))
            .collect()
    }

    /// Its one reply to a request.
    pub(crate) fn ask(&mut self, request: &Request) -> Reply {
        self.send(request.kind(), request.payload())
    }

    /// Its one reply to a frame, which may be no request.
    pub(crate) fn send(&mut self, kind: u8, payload: Vec<u8>) -> Reply {
        let mut replies = self.replies(&Frame::new(SEQ, kind, payload).expect("it fits").encode());
        assert_eq!(replies.len(), 1, "{replies:?}");
        let (seq, reply) = replies.remove(0);
        assert_eq!(seq, SEQ);
        reply
    }
}
