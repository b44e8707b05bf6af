//! Zeros on the line: where the program is, told by a board that waits, that works, and that is
//! stuck.

use std::collections::BTreeSet;

use firmware::ProgramKind;
use firmware_wire::{CALL, ExhaustRequest, Reply, Request, Tally};

use crate::protocol::board::{Board, image};
use crate::protocol::requests::BOARDS;

/// A jump to itself.
const STUCK: [u8; 2] = [0x18, 0xFE];
/// The loop with interrupts off.
const DEAF: [u8; 3] = [0xF3, 0x18, 0xFE];
/// T-states in which a board tells its place: 32 characters, the reply, and waiting until it has
/// left.
const PATIENCE: u64 = 400_000;
/// Work for a while, with a check over all that it comes to.
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

/// An application whose XCHNG does not return, asked for an exchange.
fn stuck(name: &str, code: &[u8]) -> Board {
    let mut board = Board::application(name);
    board.0.bus_mut().load(symbol(name, ProgramKind::Application, "XCHNG"), code);
    let request = Request::Exchange { piece: 2, array: [0; 14] };
    let frame = request.frame(1).expect("it fits a frame").encode();
    board.0.line_mut().to_board.extend(frame);
    board.0.run_for(PATIENCE);
    board
}

impl Board {
    /// Returns the place that it reports within a time.
    fn hear_for(&mut self, bytes: &[u8], t_states: u64) -> Vec<(u8, Reply)> {
        self.0.line_mut().to_board.extend(bytes);
        self.0.run_for(t_states);
        let heard = std::mem::take(&mut self.0.line_mut().from_board);
        Self::decoded(heard)
    }
}

#[test]
fn a_board_that_waits_tells_so_and_goes_on() {
    for name in BOARDS {
        let programs = [
            (Board::monitor(name), ProgramKind::Monitor),
            (Board::application(name), ProgramKind::Application),
        ];
        for (mut board, kind) in programs {
            let wait = symbol(name, kind, "IDLE");
            for _ in 0..40 {
                let said = board.replies(&CALL); // the ring's pages end at other zeros each time
                let [(0, Reply::Place(at))] = said[..] else { panic!("{name}: {said:?}") };
                assert!((wait..wait + 20).contains(&at), "{name}: {at:04X}h");
                board.answers();
            }
        }
    }
}

#[test]
fn a_row_that_a_request_may_have_says_nothing() {
    for name in BOARDS {
        let mut board = Board::application(name);
        for zeros in 0..CALL.len() - 2 {
            board.answers(); // its first delimiter is one more in the row
            assert_eq!(board.replies(&CALL[..=zeros]), [], "{name}");
        }
        board.answers();
        let zeros = [0; 50]; // once more than needed, and many more
        assert!(matches!(board.replies(&zeros)[..], [(0, Reply::Place(_))]), "{name}");
        board.answers();
    }
}

#[test]
fn a_board_that_is_stuck_tells_where_however_full_its_ring_is() {
    for name in BOARDS {
        let xchng = symbol(name, ProgramKind::Application, "XCHNG");
        for more in [0, 100, 500, 2000] {
            let mut board = stuck(name, &STUCK);
            board.0.line_mut().ignores_rts = true;
            let more = vec![0xA5; more];
            let quiet = board.hear_for(&more, PATIENCE * 4);
            assert_eq!(quiet, [], "{name}");
            let said = board.hear_for(&CALL, PATIENCE);
            assert_eq!(said, [(0, Reply::Place(xchng))], "{name}, {} more", more.len());
        }
    }
}

#[test]
fn however_many_zeros_come_the_stack_stays_as_it_is() {
    for name in BOARDS {
        let mut board = stuck(name, &STUCK);
        board.0.line_mut().ignores_rts = true;
        let before = board.0.registers();
        let said = board.hear_for(&[0; 5000], 640 * 5000 + PATIENCE);
        assert!(said.len() > 10, "{name}: {said:?}");
        let after = board.0.registers();
        assert_eq!((after.sp, after.pc), (before.sp, before.pc), "{name}");
        assert_eq!((after.bc, after.de, after.hl), (before.bc, before.de, before.hl), "{name}");
    }
}

#[test]
fn a_question_in_the_midst_of_work_changes_nothing_that_comes_of_it() {
    for name in BOARDS {
        let mut board = Board::application(name);
        let quiet = board.ask(&WORK);
        let Reply::Tally(Tally { count: 300, .. }) = quiet else { panic!("{quiet:?}") };
        for moment in 0..150 {
            let frame = WORK.frame(9).expect("it fits a frame").encode();
            assert_eq!(board.hear_for(&frame, 40_000 + moment * 1_901), []);
            let said = board.replies(&CALL);
            let [(0, Reply::Place(_)), (9, tally)] = &said[..] else { panic!("{said:?}") };
            assert_eq!(*tally, quiet, "{name}, {moment}");
        }
    }
}

#[test]
fn a_reply_that_is_broken_off_by_the_question_is_sent_once_more() {
    let pieces: [u8; 32] = std::array::from_fn(|at| if at % 2 == 0 { 0xA2 } else { 0x35 });
    let request = Request::Position { squares: pieces };
    for name in BOARDS {
        let mut board = Board::application(name);
        let quiet = board.replies(&request.frame(3).expect("it fits a frame").encode());
        assert!(quiet.len() > 4, "{quiet:?}");
        let is_place = |said: &(u8, Reply)| matches!(said, (0, Reply::Place(_)));
        let mut places = BTreeSet::new();
        for moment in 0..150 {
            let frame = request.frame(3).expect("it fits a frame").encode();
            board.0.line_mut().to_board.extend(frame);
            board.0.run_for(30_000 + moment * 7_001);
            let said = board.replies(&CALL); // and what the board has sent before
            places.extend(said.iter().position(is_place));
            let (told, others): (Vec<_>, Vec<_>) = said.into_iter().partition(is_place);
            assert_eq!((told.len(), others), (1, quiet.clone()), "{name}, {moment}");
        }
        assert!(places.len() > 4, "{name}: after {places:?} frames");
    }
}

#[test]
fn a_board_without_interrupts_says_nothing() {
    let mut board = stuck("rc2014-classic", &DEAF);
    assert_eq!(board.hear_for(&CALL, PATIENCE), []);
}
