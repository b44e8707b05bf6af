//! LOCATE, a run of zeros on the line: an idle, a busy and a stuck board report the program
//! counter.

use std::collections::BTreeSet;

use firmware::ProgramKind;
use firmware_wire::{ExhaustReply, ExhaustRequest, LOCATE_SEQUENCE, Reply, Request};

use crate::protocol::board::{Board, image};
use crate::protocol::requests::BOARDS;

/// A jump to itself.
const STUCK: [u8; 2] = [0x18, 0xFE];
/// DI and a jump to itself.
const STUCK_WITHOUT_INTERRUPTS: [u8; 3] = [0xF3, 0x18, 0xFE];
/// T-states for LOCATE: 32 characters, the reply, and waiting until it is sent.
const LOCATE_T_STATES: u64 = 1_000_000;
/// T-states of a character on the board with the fastest clock.
const CHARACTER_T_STATES: u64 = 1_600;
/// A request that takes long and has a CRC over its results.
const WORK: Request = Request::Exhaust(ExhaustRequest {
    space: 2,
    attackers: 1,
    defenders: 700,
    piece: 2,
    count: 300,
    crc: 0,
});

/// Returns the address of a routine.
fn symbol(board: &str, kind: ProgramKind, name: &str) -> u16 {
    image(board, kind).program.symbol(name).expect("a routine")
}

/// An application whose XCHNG does not return, after a request for an exchange.
fn stuck(name: &str, code: &[u8]) -> Board {
    let mut board = Board::application(name);
    board.0.bus_mut().load(symbol(name, ProgramKind::Application, "XCHNG"), code);
    let request = Request::Exchange { piece: 2, array: [0; 14] };
    let frame = request.frame(1).expect("it fits a frame").encode();
    board.0.line_mut().to_board.extend(frame);
    board.0.run_for(LOCATE_T_STATES);
    board
}

impl Board {
    /// Sends bytes and returns the replies within a time.
    fn replies_within(&mut self, bytes: &[u8], t_states: u64) -> Vec<(u8, Reply)> {
        self.0.line_mut().to_board.extend(bytes);
        self.0.run_for(t_states);
        let received = std::mem::take(&mut self.0.line_mut().from_board);
        Self::decode_replies(received)
    }
}

#[test]
fn an_idle_board_reports_its_wait_loop_and_continues() {
    for name in BOARDS {
        let programs = [
            (Board::monitor(name), ProgramKind::Monitor),
            (Board::application(name), ProgramKind::Application),
        ];
        for (mut board, kind) in programs {
            let wait = symbol(name, kind, "IDLE");
            for _ in 0..40 {
                // In each round the pages of the receive ring end at a different zero.
                let replies = board.replies(&LOCATE_SEQUENCE);
                let [(0, Reply::ProgramCounter(at))] = replies[..] else {
                    panic!("{name}: {replies:?}")
                };
                assert!((wait..wait + 20).contains(&at), "{name}: {at:04X}h");
                board.answers();
            }
        }
    }
}

#[test]
fn as_many_zeros_as_a_request_may_contain_get_no_reply() {
    for name in BOARDS {
        let mut board = Board::application(name);
        for zeros in 0..LOCATE_SEQUENCE.len() - 2 {
            board.answers(); // its first delimiter is one more zero
            assert_eq!(board.replies(&LOCATE_SEQUENCE[..=zeros]), [], "{name}");
        }
        board.answers();
        let zeros = [0; 50]; // more than needed
        assert!(matches!(board.replies(&zeros)[..], [(0, Reply::ProgramCounter(_))]), "{name}");
        board.answers();
    }
}

#[test]
fn a_stuck_board_reports_its_program_counter_however_full_its_ring_is() {
    for name in BOARDS {
        let xchng = symbol(name, ProgramKind::Application, "XCHNG");
        for more in [0, 100, 500, 2000] {
            let mut board = stuck(name, &STUCK);
            board.0.line_mut().ignores_rts = true;
            let more = vec![0xA5; more];
            let quiet = board.replies_within(&more, LOCATE_T_STATES * 4);
            assert_eq!(quiet, [], "{name}");
            let replies = board.replies_within(&LOCATE_SEQUENCE, LOCATE_T_STATES);
            assert_eq!(replies, [(0, Reply::ProgramCounter(xchng))], "{name}, {} more", more.len());
        }
    }
}

#[test]
fn however_many_zeros_come_the_stack_stays_as_it_is() {
    for name in BOARDS {
        let mut board = stuck(name, &STUCK);
        board.0.line_mut().ignores_rts = true;
        let before = board.0.registers();
        let replies = board.replies_within(&[0; 5000], CHARACTER_T_STATES * 5000 + LOCATE_T_STATES);
        assert!(replies.len() > 10, "{name}: {replies:?}");
        let after = board.0.registers();
        assert_eq!((after.sp, after.pc), (before.sp, before.pc), "{name}");
        assert_eq!((after.bc, after.de, after.hl), (before.bc, before.de, before.hl), "{name}");
    }
}

#[test]
fn a_program_counter_request_during_work_does_not_change_results() {
    for name in BOARDS {
        let mut board = Board::application(name);
        let quiet = board.request(&WORK);
        let Reply::Exhaust(ExhaustReply { count: 300, .. }) = quiet else { panic!("{quiet:?}") };
        for moment in 0..150 {
            let frame = WORK.frame(9).expect("it fits a frame").encode();
            assert_eq!(board.replies_within(&frame, 40_000 + moment * 1_901), []);
            let replies = board.replies(&LOCATE_SEQUENCE);
            let [(0, Reply::ProgramCounter(_)), (9, tally)] = &replies[..] else {
                panic!("{replies:?}")
            };
            assert_eq!(*tally, quiet, "{name}, {moment}");
        }
    }
}

#[test]
fn a_reply_interrupted_by_a_program_counter_request_is_sent_again() {
    let pieces: [u8; 32] = std::array::from_fn(|at| if at % 2 == 0 { 0xA2 } else { 0x35 });
    let request = Request::Position { squares: pieces };
    for name in BOARDS {
        let mut board = Board::application(name);
        let quiet = board.replies(&request.frame(3).expect("it fits a frame").encode());
        assert!(quiet.len() > 4, "{quiet:?}");
        let is_place = |replies: &(u8, Reply)| matches!(replies, (0, Reply::ProgramCounter(_)));
        let mut places = BTreeSet::new();
        for moment in 0..150 {
            let frame = request.frame(3).expect("it fits a frame").encode();
            board.0.line_mut().to_board.extend(frame);
            board.0.run_for(30_000 + moment * 17_501);
            let replies = board.replies(&LOCATE_SEQUENCE); // with the earlier output of the board
            places.extend(replies.iter().position(is_place));
            let (located, others): (Vec<_>, Vec<_>) = replies.into_iter().partition(is_place);
            assert_eq!((located.len(), others), (1, quiet.clone()), "{name}, {moment}");
        }
        assert!(places.len() > 4, "{name}: after {places:?} frames");
    }
}

#[test]
fn a_board_without_interrupts_does_not_report_its_program_counter() {
    let mut board = stuck("rc2014-classic", &STUCK_WITHOUT_INTERRUPTS);
    assert_eq!(board.replies_within(&LOCATE_SEQUENCE, LOCATE_T_STATES), []);
}
