//! The tutorial "Static Exchange Evaluation (SEE)" of the Chess Programming Guide: its numbers, and
//! the places where it contradicts itself (`hw-tests/experiments/README.md`). Its examples give no
//! positions; these are constructed from its text.

use chess_rules::see::{
    ExchangeStart, PieceValues, SeeDefinition, order_captures, pseudo_legal_gain,
    pseudo_legal_value,
};
use chess_rules::{Color, Position, Square};

fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap_or_else(|error| panic!("{error}"))
}

/// The gain of a capture in the tutorial's values; the iterative and the recursive form agree on
/// it.
fn gain(fen: &str, from: Square, to: Square) -> i32 {
    let position = position(fen);
    let m = position.find_move(&format!("{from}{to}")).expect("it is legal");
    let list = ExchangeStart::after_move(&position, m, PieceValues::TUTORIAL).list(false, false);
    let forced = pseudo_legal_value(position.pieces(), from, to, PieceValues::TUTORIAL);
    assert_eq!(forced, Some(list.value()), "{fen}");
    list.value()
}

#[test]
fn why_it_matters_knight_takes_a_pawn_that_a_queen_guards_loses_200() {
    // The tutorial puts knight and queen on one square, e4, from which no knight reaches d5.
    assert_eq!(gain("3qk3/8/8/3p4/8/2N5/8/4K3 w - -", Square::C3, Square::D5), 100 - 300);
}

#[test]
fn simple_capture_of_a_knight_gains_300() {
    assert_eq!(gain("4k3/8/8/3n4/4P3/8/8/4K3 w - -", Square::E4, Square::D5), 300);
}

#[test]
fn equal_trade_gains_25_and_not_325() {
    // Knight takes bishop, pawn takes knight: the tutorial's value is +25, and then its pawn does
    // not recapture. It does: it wins a knight without loss.
    assert_eq!(gain("4k3/8/2p5/3b4/8/2N5/8/4K3 w - -", Square::C3, Square::D5), 325 - 300);
}

#[test]
fn losing_capture_is_worth_minus_800_and_not_100() {
    let fen = "4k3/8/2p5/3p4/8/8/8/3QK3 w - -";
    assert_eq!(gain(fen, Square::D1, Square::D5), 100 - 900);
    // Where White need not capture, the same square is worth nothing to it: this is the max 0.
    assert_eq!(
        pseudo_legal_gain(position(fen).pieces(), Square::D5, Color::White, PieceValues::TUTORIAL),
        0
    );
}

#[test]
fn the_x_ray_example_stands_on_no_line() {
    // "Rook a1, bishop b2, target c3": a rook does not move along the diagonal, so there is no
    // x-ray.
    let pieces = *position("4k3/8/8/8/8/2p5/1B6/R3K3 w - -").pieces();
    let behind = pieces.attackers(Square::C3, pieces.occupied() - Square::B2.bitboard());
    assert!(!behind.has(Square::A1));
    // A queen on a1 does.
    let pieces = *position("4k3/8/8/8/8/2p5/1B6/Q3K3 w - -").pieces();
    let behind = pieces.attackers(Square::C3, pieces.occupied() - Square::B2.bitboard());
    assert!(behind.has(Square::A1));
}

#[test]
fn statistics_count_every_capture_once_and_prune_the_losing_ones() {
    let position = position("4k3/8/2p5/3p4/8/8/1p6/B2QK3 w - -");
    let ordered = order_captures(&position, PieceValues::TUTORIAL, SeeDefinition::Swap);
    let named = |c: &chess_rules::see::ValuedCapture| (position.uci(c.played), c.value.swap);
    let found: Vec<_> = ordered.captures.iter().map(named).collect();
    assert_eq!(found, [("a1b2".to_owned(), 100)]);
    let dropped: Vec<_> = ordered.dropped.iter().map(named).collect();
    assert_eq!(dropped, [("d1d5".to_owned(), -800)]);
    let counts = ordered.statistics;
    assert_eq!((counts.evaluated, counts.winning, counts.equal), (2, 1, 0));
    assert_eq!((counts.losing, counts.pruned), (1, 1));
}

/// The fold of the tutorial's iterative version, over the gains that it would have if it removed
/// each capturer from the board, which it omits: `others` are the values of the recapturers.
fn tutorials_iterative(captured: i32, capturer: i32, others: &[i32]) -> i32 {
    let mut gain = vec![captured];
    let mut attacker = capturer;
    for &next in others {
        gain.push(attacker - gain[gain.len() - 1]);
        attacker = next;
    }
    gain.push(attacker - gain[gain.len() - 1]);
    fn fold(gain: &[i32]) -> i32 {
        match gain {
            [last] => *last,
            [first, rest @ ..] => (*first).max(-fold(rest)),
            [] => 0,
        }
    }
    if others.is_empty() { gain[0] } else { fold(&gain[1..]) }
}

#[test]
fn the_iterative_versions_fold_turns_a_loss_of_800_into_a_gain() {
    assert_eq!(tutorials_iterative(100, 900, &[]), 100);
    assert_eq!(tutorials_iterative(100, 900, &[100]), 800);
}
