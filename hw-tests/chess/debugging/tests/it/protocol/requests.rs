//! Every request, every error reply, garbage on the line.

use board_simulator::BoardSpec;
use board_simulator::board_spec;
use firmware::ProgramKind;
use firmware::profile::BoardProfile;
use firmware_wire::{ErrorCode, Frame, MAX_BLOCK, Reply, Request, Role, kind, memory_checksum};
use proptest::prelude::*;

use crate::protocol::board::{Board, image};

/// The boards of all tests here.
pub(crate) const BOARDS: [&str; 4] = ["rc2014-classic", "rc2014-zed", "sc126", "rc2014-16c550"];

impl Board {
    pub(crate) fn monitor(name: &str) -> Self {
        Self::start(name, true)
    }

    pub(crate) fn application(name: &str) -> Self {
        Self::monitor(name).with_application(name)
    }

    fn start(name: &str, host_obeys_rts: bool) -> Self {
        let profile = BoardProfile::named(name).expect("it ships");
        let spec = BoardSpec { host_obeys_rts, ..board_spec(&profile) };
        let chip = spec.programmed(&image(name, ProgramKind::Monitor).bytes);
        Self::power_up(spec, chip)
    }

    /// Puts the application into RAM and starts it.
    fn with_application(mut self, name: &str) -> Self {
        let image = image(name, ProgramKind::Application);
        self.0.bus_mut().load(image.address, &image.bytes);
        let address = image.address;
        assert_eq!(self.request(&Request::Run { address }), Reply::Running(address));
        self
    }

    fn error(&mut self, kind: u8, payload: &[u8]) -> (ErrorCode, u8, u16) {
        match self.send_frame(kind, payload.to_vec()) {
            Reply::Error(error) => (error.code, error.request, error.detail),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn answers(&mut self) {
        assert!(matches!(self.request(&Request::Identify), Reply::Identity(_)));
    }
}

#[test]
fn the_monitor_stores_reads_and_checks_memory() {
    for name in BOARDS {
        let mut board = Board::monitor(name);
        let data: Vec<u8> = (0..MAX_BLOCK as u8).collect();
        let address = 0xEFFF - (MAX_BLOCK as u16 - 1);
        let written = board.request(&Request::Write { address, data: data.clone() });
        assert_eq!(written, Reply::Written { address, count: MAX_BLOCK as u8 });
        let read = board.request(&Request::Read { address, count: MAX_BLOCK as u8 });
        assert_eq!(read, Reply::Memory { address, data: data.clone() });
        let check = board.request(&Request::Crc { address, length: MAX_BLOCK as u16 });
        assert_eq!(check, Reply::Crc(memory_checksum(&data)));
        let rom = image(name, ProgramKind::Monitor).bytes;
        let check = board.request(&Request::Crc { address: 0x100, length: 600 });
        assert_eq!(check, Reply::Crc(memory_checksum(&rom[0x100..][..600])));
    }
}

#[test]
fn the_monitor_refuses_what_the_protocol_forbids() {
    for name in BOARDS {
        let mut board = Board::monitor(name);
        let write =
            |address: u16, count: usize| [&address.to_le_bytes()[..], &vec![0; count]].concat();
        use ErrorCode::{Address, BadArgument, BadLength, UnknownType};
        assert_eq!(board.error(kind::WRITE, &write(0x7FFF, 1)), (Address, kind::WRITE, 0x7FFF));
        assert_eq!(board.error(kind::WRITE, &write(0x0000, 4)), (Address, kind::WRITE, 0x0000));
        assert_eq!(board.error(kind::WRITE, &write(0xF000, 1)), (Address, kind::WRITE, 0xF000));
        assert_eq!(board.error(kind::WRITE, &write(0xFFFF, 2)), (Address, kind::WRITE, 0xFFFF));
        assert_eq!(board.error(kind::WRITE, &write(0xEFFF, 2)), (Address, kind::WRITE, 0xF000));
        assert_eq!(board.error(kind::WRITE, &write(0x8000, 0)), (BadLength, kind::WRITE, 2));
        assert_eq!(board.error(kind::WRITE, &write(0x8000, 237)), (BadLength, kind::WRITE, 239));
        assert_eq!(board.error(kind::CRC, &[0, 0x80, 0, 0]), (BadArgument, kind::CRC, 2));
        assert_eq!(board.error(kind::READ, &[0, 0x80, 0]), (BadArgument, kind::READ, 2));
        assert_eq!(board.error(kind::READ, &[0, 0x80, 237]), (BadArgument, kind::READ, 2));
        assert_eq!(board.error(kind::IDENT, &[1]), (BadLength, kind::IDENT, 1));
        assert_eq!(board.error(kind::POSITION, &[0; 32]), (UnknownType, kind::POSITION, 0));
        assert_eq!(board.error(0x7F, &[]), (UnknownType, 0x7F, 0));
        board.answers();
    }
}

#[test]
fn the_application_refuses_invalid_pieces() {
    for name in BOARDS {
        let mut board = Board::application(name);
        use ErrorCode::{BadArgument, BadLength, UnknownType};
        for piece in [0x00, 0x07, 0x80, 0x87] {
            let payload = [&[piece][..], &[0; 14]].concat();
            assert_eq!(board.error(kind::EXCHANGE, &payload), (BadArgument, kind::EXCHANGE, 0));
        }
        for (offset, byte) in [(0, 0x07), (0, 0x70), (17, 0x08), (31, 0xF0)] {
            let mut squares = [0; 32];
            squares[offset] = byte;
            let refused = (BadArgument, kind::POSITION, offset as u16);
            assert_eq!(board.error(kind::POSITION, &squares), refused, "{byte:02X}");
        }
        assert_eq!(board.error(kind::POSITION, &[0; 31]), (BadLength, kind::POSITION, 31));
        assert_eq!(board.error(kind::WRITE, &[0; 3]), (UnknownType, kind::WRITE, 0));
        board.answers();
    }
}

#[test]
fn the_application_refuses_invalid_sides_and_values() {
    for name in BOARDS {
        let mut board = Board::application(name);
        use ErrorCode::{BadArgument, BadLength};
        let points = |squares: [u8; 32], mover| [&squares[..], &[mover, 0]].concat();
        let mut seven = [0; 32];
        seven[3] = 0x70;
        assert_eq!(board.error(kind::POINTS, &points([0; 32], 1)), (BadArgument, kind::POINTS, 32));
        assert_eq!(board.error(kind::POINTS, &points(seven, 0x80)), (BadArgument, kind::POINTS, 3));
        assert_eq!(board.error(kind::POINTS, &[0; 33]), (BadLength, kind::POINTS, 33));
        for (head, offset) in [([0, 1], 0), ([0x87, 1], 0), ([1, 0], 1), ([0x82, 16], 1)] {
            let payload = [&head[..], &[0; 14]].concat();
            assert_eq!(board.error(kind::TRACE, &payload), (BadArgument, kind::TRACE, offset));
        }
        assert_eq!(board.error(kind::TRACE, &[1; 15]), (BadLength, kind::TRACE, 15));
        let no_attackers = Request::Trace { piece: 1, stake: 15, array: [0; 14] };
        assert_eq!(
            board.request(&no_attackers),
            Reply::Trace { residue: 0, status: 0, steps: Vec::new() }
        );
    }
}

#[test]
fn corrupted_frames_are_reported_and_dropped() {
    for name in BOARDS {
        let good = Frame::empty(9, kind::IDENT).encode();
        let too_long = [&[0][..], &[1; 300], &[0]].concat();
        let mut wrong_check = good.clone();
        wrong_check[4] ^= 0x40;
        for damaged in [too_long, wrong_check, vec![0, 9, 1, 2, 0], vec![0, 1, 0]] {
            for mut board in [Board::monitor(name), Board::application(name)] {
                let replies = board.replies(&damaged);
                let is_reported = matches!(replies.as_slice(),
                    [(0, Reply::Error(error))] if error.code == ErrorCode::CorruptedFrame && error.request == 0);
                assert!(is_reported, "{damaged:02X?}: {replies:?}");
                board.answers();
            }
        }
    }
}

#[test]
fn a_carriage_return_brings_the_banner_and_reset_the_monitor() {
    for name in BOARDS {
        let mut board = Board::monitor(name);
        let banner = String::from_utf8_lossy(&board.send_bytes(b"\r")).into_owned();
        assert!(banner.starts_with("\r\nSargon board monitor 1, build "), "{banner:?}");
        assert_eq!(board.request(&Request::Reset), Reply::Resetting);
        assert!(board.send_bytes(&[]).is_empty(), "the banner came with the reply's run");
        let Reply::Identity(identity) = board.request(&Request::Identify) else { panic!() };
        assert_eq!((identity.role, identity.load_range), (Role::Monitor, (0x8000, 0xEFFF)));
    }
}

/// Requests that keep the processor busy for long, numbered from 1.
fn crowded_positions(count: u8) -> Vec<u8> {
    let request = Request::Position { squares: [0x55; 32] };
    let frame = |seq| request.frame(seq).expect("it fits a frame");
    (1..=count).flat_map(|seq| frame(seq).encode()).collect()
}

/// The numbers of the positions with complete results.
fn examined(replies: &[(u8, Reply)]) -> Vec<u8> {
    let ended = |(seq, reply): &(u8, Reply)| matches!(reply, Reply::PositionEnd(_)).then_some(*seq);
    replies.iter().filter_map(ended).collect()
}

#[test]
fn requests_within_the_window_lose_nothing_without_flow_control() {
    for name in BOARDS {
        let mut board = Board::start(name, false).with_application(name);
        let Reply::Identity(identity) = board.request(&Request::Identify) else { panic!() };
        let fit = (usize::from(identity.window) / crowded_positions(1).len()) as u8;
        // Several rounds, so that the receive ring is in every state.
        for _ in 0..7 {
            let replies = board.replies(&crowded_positions(fit));
            assert_eq!(examined(&replies), (1..=fit).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_host_that_sends_without_end_is_throttled() {
    // The SIO does not: it lets RTS go high only when its transmitter is empty.
    let mut board = Board::start("rc2014-classic", true).with_application("rc2014-classic");
    assert_eq!(examined(&board.replies(&crowded_positions(60))), (1..=60).collect::<Vec<_>>());
}

#[test]
fn losses_without_flow_control_beyond_the_window_are_reported() {
    for name in BOARDS {
        let mut board = Board::start(name, false).with_application(name);
        let done = examined(&board.replies(&crowded_positions(60)));
        assert!(done.len() < 60 && done.starts_with(&[1, 2, 3]), "{done:?}");
        // The truncated frame ends where the next begins.
        let next = Frame::empty(61, kind::IDENT).encode();
        let is_overrun = |(_, reply): &(u8, Reply)| matches!(reply, Reply::Error(error) if error.code == ErrorCode::Overrun);
        assert!(board.replies(&next).iter().any(is_overrun), "{name}");
        assert!(matches!(board.request(&Request::Identify), Reply::Identity(_)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn whatever_was_on_the_line_the_second_request_is_answered(noise in prop::collection::vec(any::<u8>(), 0..600)) {
        let both = |name| [Board::monitor(name), Board::application(name)];
        for mut board in BOARDS.into_iter().flat_map(both) {
            // RESET and RUN in the noise would need a valid 16-bit checksum.
            board.send_bytes(&noise);
            let request = Frame::empty(3, kind::IDENT).encode();
            let first = board.replies(&request);
            let second = board.replies(&request);
            let answered = |replies: &[(u8, Reply)]| {
                matches!(replies.last(), Some((3, Reply::Identity(_))))
            };
            prop_assert!(answered(&first) || answered(&second), "{:?} {:?}", first, second);
        }
    }
}
