//! The forms against the documents' worked examples and against each other.

use chess_rules::see::{
    ExchangeStart, PieceValues, SeeDefinition, SwapList, order_captures, pseudo_legal_gain,
    pseudo_legal_value, soma,
};
use chess_rules::{Color, Position, Square};
use proptest::prelude::*;

use crate::see::forms::Exchange;

/// Position 1 of the wiki's page on the swap algorithm: rook takes pawn.
const POSITION_1: &str = "1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1";
/// Position 2 of that page: knight takes pawn.
const POSITION_2: &str = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1";

fn position(fen: &str) -> Position {
    Position::from_fen(fen).expect("a document's position")
}

fn list(fen: &str, text: &str, values: PieceValues, prune: bool) -> SwapList {
    let position = position(fen);
    let m = position.find_move(text).expect("it is legal");
    ExchangeStart::after_move(&position, m, values).list(false, prune)
}

#[test]
fn first_worked_example_gives_the_printed_gains() {
    let list = list(POSITION_1, "Rxe5", PieceValues::WIKI, false);
    assert_eq!(list.gains, [100, 400]);
    assert_eq!(list.value(), 100);
}

#[test]
fn second_worked_example_gives_the_printed_gains_and_fold() {
    let list = list(POSITION_2, "Nxe5", PieceValues::WIKI, false);
    assert_eq!(list.gains, [100, 225, 100, 400, -75, 1075, -75]);
    assert_eq!(list.folded[..5], [-225, 225, -400, 400, -1075]);
    assert_eq!(list.value(), -225);
}

#[test]
fn sargons_points_give_the_examples_one_and_minus_two() {
    // Computed by hand from the printed traces, with 1, 3, 5 and 9 in place of the centipawns.
    let first = list(POSITION_1, "Rxe5", PieceValues::SARGON, false);
    assert_eq!((first.gains.as_slice(), first.value()), ([1, 4].as_slice(), 1));
    let second = list(POSITION_2, "Nxe5", PieceValues::SARGON, false);
    assert_eq!(second.gains, [1, 2, 1, 4, -1, 10, -1]);
    assert_eq!(second.folded[..5], [-2, 2, -4, 4, -10]);
}

#[test]
fn pruning_leaves_the_values_of_both_examples_alone() {
    for (fen, text, value) in [(POSITION_1, "Rxe5", 100), (POSITION_2, "Nxe5", -225)] {
        assert_eq!(list(fen, text, PieceValues::WIKI, true).value(), value, "{fen}");
    }
}

#[test]
fn a_pawn_that_takes_a_queen_always_wins() {
    // The wiki's page "Static Exchange Evaluation": however well the queen is guarded.
    let position = position("k2rr3/8/2pqp3/4P3/8/8/8/K7 w - - 0 1");
    let taken = pseudo_legal_value(position.pieces(), Square::E5, Square::D6, PieceValues::WIKI);
    assert_eq!(taken, Some(1000 - 100));
    let m = position.find_move("exd6").expect("it is legal");
    assert!(ExchangeStart::after_move(&position, m, PieceValues::WIKI).see_ge(1, false));
}

#[test]
fn pruning_keeps_the_sign_but_not_always_the_value() {
    let value = |prune| {
        list("4k3/2p5/3b4/4P3/8/8/8/4K3 w - - 0 1", "exd6", PieceValues::SARGON, prune).value()
    };
    // Pawn takes bishop, pawn takes pawn: 3 - 1.
    assert_eq!(value(false), 2);
    assert_eq!(value(true), 3);
}

#[test]
fn a_side_may_decline_but_a_forced_capture_may_not() {
    let pieces = *position(POSITION_2).pieces();
    assert_eq!(pseudo_legal_gain(&pieces, Square::E5, Color::White, PieceValues::WIKI), 0);
    let forced = pseudo_legal_value(&pieces, Square::D3, Square::E5, PieceValues::WIKI);
    assert_eq!(forced, Some(-225));
}

#[test]
fn a_king_takes_only_what_is_not_guarded() {
    let gain = |fen| {
        pseudo_legal_gain(position(fen).pieces(), Square::E2, Color::White, PieceValues::SARGON)
    };
    assert_eq!(gain("4k3/8/8/8/8/8/4p3/4K3 w - - 0 1"), 1);
    assert_eq!(gain("4k3/8/8/8/8/5p2/4p3/4K3 w - - 0 1"), 0);
}

#[test]
fn the_value_decides_which_piece_captures_first() {
    // A queen worth less than a rook recaptures first, and the rook behind her last.
    let position = position("4k3/8/8/3p4/8/3R4/3Q4/3rK3 b - - 0 1");
    let cheap = PieceValues([1, 3, 3, 5, 2, 20_000]);
    let answers = |values: PieceValues| {
        let m = position.find_move("d5d4").expect("it is legal");
        let start = ExchangeStart::after_move(&position, m, values);
        start.capturers(false).map(|(_, capturer)| capturer.from).collect::<Vec<_>>()
    };
    assert_eq!(answers(PieceValues::UNITS), [Square::D3]);
    assert_eq!(answers(cheap), [Square::D3]);
    let both = Position::from_fen("4k3/8/8/3p4/8/8/3R4/Q3K3 b - - 0 1").expect("a FEN");
    let first = |values: PieceValues| {
        let m = both.find_move("d5d4").expect("it is legal");
        let start = ExchangeStart::after_move(&both, m, values);
        start.capturers(false).next().map(|(_, capturer)| capturer.from)
    };
    assert_eq!(first(PieceValues::UNITS), Some(Square::D2));
    assert_eq!(first(cheap), Some(Square::A1));
}

#[test]
fn ordering_puts_the_best_first_and_drops_what_loses() {
    let ordered = order_captures(&position(POSITION_2), PieceValues::WIKI, SeeDefinition::Swap);
    let value = |capture: &chess_rules::see::ValuedCapture| capture.value.swap;
    assert!(ordered.captures.iter().all(|capture| value(capture) >= 0));
    assert!(ordered.captures.is_sorted_by_key(|capture| -value(capture)));
    let counts = ordered.statistics;
    assert_eq!(counts.evaluated, counts.winning + counts.equal + counts.losing);
    assert_eq!(ordered.captures.len() + counts.pruned, counts.evaluated);
    assert!(counts.losing >= 1, "Nxe5 loses 225 by the document");
}

#[test]
fn swapping_off_takes_what_hangs_and_stops() {
    let line = soma(&position(POSITION_1), PieceValues::SARGON);
    assert_eq!(line.len(), 1, "{line:?}");
    assert_eq!((line[0].square, line[0].gain), (Square::E5, 1));
    assert_eq!(line[0].from, [Square::E1]);
}

#[test]
fn swapping_off_never_takes_a_king_nor_leaves_one_attacked() {
    // The rook gives check along the e file: White may not capture the queen, and Black, to move
    // next, must not capture a king.
    let line = soma(&position("4r1k1/8/8/8/3q4/2P5/8/4K3 w - - 0 1"), PieceValues::UNITS);
    assert!(line.iter().all(|exchange| exchange.square != Square::E1), "{line:?}");
    assert!(line.iter().all(|exchange| exchange.side != Color::White), "{line:?}");
}

/// Legal positions by seeded random play.
fn played(choices: impl Iterator<Item = usize>) -> Position {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let mut position = position(start);
    for choice in choices {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        position = position.play(moves[choice % moves.len()]);
    }
    position
}

proptest! {
    #[test]
    fn all_forms_agree_on_every_move(choices in prop::collection::vec(any::<usize>(), 10..120)) {
        let position = played(choices.into_iter());
        for values in [PieceValues::WIKI, PieceValues::SARGON] {
            for m in position.legal_moves() {
                let exchange = Exchange::after_move(&position, m, values);
                let opening = exchange.start;
                let value = opening.list(false, false).value();
                let pruned = opening.list(false, true).value();
                prop_assert_eq!(pruned.signum(), value.signum());
                let pays = position.is_capture(m) && value >= 0;
                prop_assert!(!pays || pruned >= value);
                prop_assert_eq!(opening.swap_value(false), value);
                prop_assert_eq!(exchange.value_by_recursion(false), value);
                prop_assert_eq!(exchange.value_by_bounds(false), value);
                for threshold in value - 2..=value + 2 {
                    prop_assert_eq!(opening.see_ge(threshold, false), value >= threshold);
                }
            }
        }
    }
}
