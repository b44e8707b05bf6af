//! The modern evaluators against the documents' worked examples and against each other.

use cozy_chess::{Board, Color, Square};
use hw_tests::modern::{Pieces, Values, at_least, capture, order_captures, soma, swap, swap_off};
use proptest::prelude::*;

/// Position 1 of the wiki's page on the swap algorithm: rook takes pawn.
const POSITION_1: &str = "1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1";
/// Position 2 of that page: knight takes pawn.
const POSITION_2: &str = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1";

fn pieces(board: &Board) -> Pieces {
    Pieces::new(
        Square::ALL
            .into_iter()
            .filter_map(|square| Some((square, board.color_on(square)?, board.piece_on(square)?))),
    )
}

fn position(fen: &str) -> Pieces {
    pieces(&fen.parse().expect("a document's position is legal"))
}

#[test]
fn first_worked_example_gives_the_printed_gains() {
    let list = swap(&position(POSITION_1), Square::E1, Square::E5, Values::CENTIPAWNS, false);
    let list = list.expect("both squares are occupied");
    assert_eq!(list.gains, [100, 400]);
    assert_eq!(list.value(), 100);
}

#[test]
fn second_worked_example_gives_the_printed_gains_and_fold() {
    let list = swap(&position(POSITION_2), Square::D3, Square::E5, Values::CENTIPAWNS, false);
    let list = list.expect("both squares are occupied");
    assert_eq!(list.gains, [100, 225, 100, 400, -75, 1075, -75]);
    assert_eq!(list.folded[..5], [-225, 225, -400, 400, -1075]);
    assert_eq!(list.value(), -225);
}

#[test]
fn sargons_points_give_the_examples_one_and_minus_two() {
    // Worked out by hand from the printed traces, with 1, 3, 5 and 9 in place of the centipawns.
    let list = |fen, from| {
        swap(&position(fen), from, Square::E5, Values::SARGON, false).expect("both are occupied")
    };
    let first = list(POSITION_1, Square::E1);
    assert_eq!((first.gains.as_slice(), first.value()), ([1, 4].as_slice(), 1));
    let second = list(POSITION_2, Square::D3);
    assert_eq!(second.gains, [1, 2, 1, 4, -1, 10, -1]);
    assert_eq!(second.folded[..5], [-2, 2, -4, 4, -10]);
}

#[test]
fn pruning_leaves_the_values_of_both_examples_alone() {
    for (fen, from, value) in [(POSITION_1, Square::E1, 100), (POSITION_2, Square::D3, -225)] {
        let list = swap(&position(fen), from, Square::E5, Values::CENTIPAWNS, true);
        assert_eq!(list.map(|list| list.value()), Some(value), "{fen}");
    }
}

#[test]
fn a_pawn_that_takes_a_queen_always_wins() {
    // The wiki's page "Static Exchange Evaluation": however well the queen is guarded.
    let board = position("k2rr3/8/2pqp3/4P3/8/8/8/K7 w - - 0 1");
    assert_eq!(capture(&board, Square::E5, Square::D6, Values::CENTIPAWNS), Some(1000 - 100));
    assert_eq!(at_least(&board, Square::E5, Square::D6, Values::CENTIPAWNS, 1), Some(true));
}

#[test]
fn pruning_keeps_the_sign_but_not_always_the_value() {
    let board = position("4k3/2p5/3b4/4P3/8/8/8/4K3 w - - 0 1");
    let value = |prune| {
        swap(&board, Square::E5, Square::D6, Values::SARGON, prune).map(|list| list.value())
    };
    // Pawn takes bishop, pawn takes pawn: 3 - 1.
    assert_eq!(value(false), Some(2));
    assert_eq!(value(true), Some(3));
}

#[test]
fn a_side_may_decline_but_a_forced_capture_may_not() {
    let board = position(POSITION_2);
    assert_eq!(swap_off(&board, Square::E5, Color::White, Values::CENTIPAWNS), 0);
    assert_eq!(capture(&board, Square::D3, Square::E5, Values::CENTIPAWNS), Some(-225));
}

#[test]
fn a_king_takes_only_what_is_not_guarded() {
    let free = position("4k3/8/8/8/8/8/4p3/4K3 w - - 0 1");
    let guarded = position("4k3/8/8/8/8/5p2/4p3/4K3 w - - 0 1");
    assert_eq!(swap_off(&free, Square::E2, Color::White, Values::SARGON), 1);
    assert_eq!(swap_off(&guarded, Square::E2, Color::White, Values::SARGON), 0);
}

#[test]
fn ordering_puts_the_best_first_and_drops_what_loses() {
    let ordered = order_captures(&position(POSITION_2), Color::White, Values::CENTIPAWNS);
    assert!(ordered.captures.iter().all(|capture| capture.value >= 0));
    assert!(ordered.captures.is_sorted_by_key(|capture| -capture.value));
    let counts = ordered.statistics;
    assert_eq!(counts.evaluated, counts.winning + counts.equal + counts.losing);
    assert_eq!(ordered.captures.len() + counts.pruned, counts.evaluated);
    assert!(counts.losing >= 1, "Nxe5 loses 225 by the document");
}

#[test]
fn swapping_off_takes_what_hangs_and_stops() {
    let line = soma(&position(POSITION_1), Color::White, Values::SARGON);
    assert_eq!(line.len(), 1, "{line:?}");
    assert_eq!((line[0].square, line[0].gain), (Square::E5, 1));
    assert_eq!(line[0].from, [Square::E1]);
}

/// Legal positions by seeded random play.
fn played(choices: impl Iterator<Item = usize>) -> Board {
    let mut board = Board::default();
    for choice in choices {
        let mut moves = Vec::new();
        board.generate_moves(|some| {
            moves.extend(some);
            false
        });
        if moves.is_empty() {
            break;
        }
        board.play(moves[choice % moves.len()]);
    }
    board
}

proptest! {
    #[test]
    fn all_forms_agree_on_every_capture(choices in prop::collection::vec(any::<usize>(), 10..120)) {
        let board = played(choices.into_iter());
        let side = board.side_to_move();
        let board = pieces(&board);
        for values in [Values::CENTIPAWNS, Values::SARGON] {
            for found in order_captures(&board, side, values).captures {
                let (from, to) = (found.from, found.to);
                let pruned = swap(&board, from, to, values, true).map(|list| list.value());
                prop_assert_eq!(pruned.map(i32::signum), Some(found.value.signum()));
                prop_assert!(pruned >= Some(found.value));
                prop_assert_eq!(capture(&board, from, to, values), Some(found.value));
                for threshold in found.value - 2..=found.value + 2 {
                    let enough = at_least(&board, from, to, values, threshold);
                    prop_assert_eq!(enough, Some(found.value >= threshold));
                }
            }
        }
    }
}
