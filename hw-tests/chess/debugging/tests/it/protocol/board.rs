//! A simulated board in the test's thread.

use board_simulator::{BoardModel, BoardSpec, QueueLine, RomChip, RunStop};
use firmware::ProgramKind;
use firmware::build::{BuiltImage, build};
use firmware::profile::BoardProfile;
use firmware_wire::{Decoder, DecoderEvent, Frame, Reply, Request};

/// The sequence number of single requests.
const SEQ: u8 = 77;

/// Builds a program for a board.
pub(crate) fn image(board: &str, kind: ProgramKind) -> BuiltImage {
    let profile = BoardProfile::named(board).expect("it ships");
    build(&profile, kind).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) struct Board(pub(crate) BoardModel<QueueLine>);

impl Board {
    /// Powers up a board and discards its banner.
    pub(crate) fn power_up(spec: BoardSpec, chip: RomChip) -> Self {
        let mut board = Self(BoardModel::with_chip(spec, chip, QueueLine::default()));
        board.send_bytes(&[]);
        board
    }

    /// Sends bytes and returns the output of the board.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.0.line_mut().to_board.extend(bytes);
        for _ in 0..1000 {
            if self.0.run_for(1_000_000) == RunStop::Idle {
                return std::mem::take(&mut self.0.line_mut().from_board);
            }
        }
        panic!("the board does not become idle");
    }

    /// Sends bytes and returns the replies with their sequence numbers.
    pub(crate) fn replies(&mut self, bytes: &[u8]) -> Vec<(u8, Reply)> {
        Self::decode_replies(self.send_bytes(bytes))
    }

    /// Decodes the replies in an output.
    pub(crate) fn decode_replies(output: Vec<u8>) -> Vec<(u8, Reply)> {
        let mut decoder = Decoder::default();
        let events = output.into_iter().filter_map(|byte| decoder.push(byte));
        let frames =
            events.filter_map(|e| if let DecoderEvent::Frame(f) = e { Some(f) } else { None });
        frames
            .map(|f| (f.seq, Reply::parse(f.kind, &f.payload).unwrap_or_else(|e| panic!("{e}"))))
            .collect()
    }

    /// Sends a request and returns the only reply.
    pub(crate) fn request(&mut self, request: &Request) -> Reply {
        self.send_frame(request.kind(), request.payload())
    }

    /// Sends a frame, which need not be a valid request, and returns the only reply.
    pub(crate) fn send_frame(&mut self, kind: u8, payload: Vec<u8>) -> Reply {
        let mut replies = self.replies(&Frame::new(SEQ, kind, payload).expect("it fits").encode());
        assert_eq!(replies.len(), 1, "{replies:?}");
        let (seq, reply) = replies.remove(0);
        assert_eq!(seq, SEQ);
        reply
    }
}
