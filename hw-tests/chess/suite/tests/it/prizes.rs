//! Prizes and second-order attacks: the article's figures, and board compared with host.

use crate::board;

use board::Board;
use firmware_wire::{PointsReply, Reply, Request};
use sargon_corpus::analysis::{Prizes, RelationGroup, relations};
use sargon_corpus::encode;
use sargon_corpus::{CaseInput, builtin_corpus};
use sargon_reference::{Colour, Position, Square, SquareResult, evaluate, parse_fen};
use sargon_suite::compare::compare_points;

/// BYTE, September 1978, Figure 5, constructed from its text: a knight on c7 forks king and rook.
const FIGURE_5: &str = "r3k3/2N5/8/8/2q5/8/8/4K3 b - -";
/// The boxed example, likewise: the knight on d5 attacks a rook and a bishop.
const BOX: &str = "6k1/8/1b6/3N4/5r2/8/8/7K b - -";

fn position(fen: &str) -> Position {
    parse_fen(fen).unwrap_or_else(|error| panic!("{error}"))
}

fn gather(position: &Position, moved: Option<Square>) -> Prizes {
    let (_, verdicts) = evaluate(position);
    let residues = verdicts.iter().map(|v| (v.square, v.piece, v.outcome.residue));
    Prizes::gather(position.to_move.other(), moved, residues)
}

#[test]
fn figure_5s_useless_fork_gains_only_if_the_forking_piece_is_ignored() {
    let position = position(FIGURE_5);
    let blind = gather(&position, None);
    // Three quarters of the rook's value; less the knight's value it is still a gain.
    assert_eq!(f64::from(blind.article().won) / 4.0, 0.75 * 5.0);
    assert_eq!(blind.lost, 3);
    assert_eq!(blind.article().balance(), 0.75);
    let seeing = gather(&position, Square::named("c7"));
    assert!(seeing.article_danger && seeing.original_danger);
    assert_eq!(seeing.article().balance(), -3.0);
}

#[test]
fn the_boxs_capture_of_a_bishop_is_worth_more_than_the_attack_on_rook_and_bishop() {
    let attack = gather(&position(BOX), Square::named("d5"));
    assert_eq!((attack.first, attack.second, attack.lost), (5, 3, 0));
    assert!(!attack.article_danger);
    assert_eq!(attack.article().balance(), 0.75 * 3.0);
    assert!(attack.article().balance() < 3.0, "the bishop that could be captured");
}

#[test]
fn the_program_counts_a_rook_as_second_prize_as_two_pawns() {
    let original = gather(&position(FIGURE_5), None).original();
    assert_eq!(f64::from(original.won) / 2.0, 2.0);
    assert_eq!(f64::from(original.lost) / 2.0, 3.0 - 0.5);
}

/// Prizes from losses of White, who has just moved to the square of the last one.
fn losses(list: &[(&str, u8)]) -> Prizes {
    let square = |name| Square::named(name).expect("a square");
    let piece = sargon_reference::Piece::from_letter('Q').expect("a queen");
    let moved = list.last().map(|(name, _)| square(name));
    let residues = list.iter().map(|&(name, points)| (square(name), piece, points));
    Prizes::gather(Colour::White, moved, residues)
}

#[test]
fn article_and_program_differ_when_another_piece_is_lost_before_the_one_that_moved() {
    let danger = |list| {
        let prizes = losses(list);
        (prizes.article_danger, prizes.original_danger)
    };
    assert_eq!(danger(&[("a1", 5), ("b1", 3)]), (true, false));
    assert_eq!(danger(&[("a1", 3), ("b1", 3)]), (true, true));
    assert_eq!(danger(&[("a1", 3), ("b1", 0)]), (false, false));
}

/// The relation of the first piece in `fen`'s only line of three, as group and type.
fn only(fen: &str) -> (RelationGroup, &'static str, bool) {
    let found = relations(&position(fen));
    assert_eq!(found.len(), 1, "{fen}: {found:?}");
    (found[0].group, found[0].kind(), found[0].is_pin())
}

#[test]
fn all_eight_relations_of_table_4_are_distinguished() {
    use RelationGroup::{Discovered, Transparent};
    // A rook on a1 acts along the first rank; the second piece is one that does not move along it.
    assert_eq!(only("8/8/8/8/8/8/8/R2n3N w - -"), (Discovered, "W1 -> B1 -> W2", false));
    assert_eq!(only("8/8/8/8/8/8/8/R2N3N w - -"), (Discovered, "W1 -> W2 -> W3", false));
    assert_eq!(only("8/8/8/8/8/8/8/R2n3n w - -"), (Discovered, "W1 -> B1 -> B2", true));
    assert_eq!(only("8/8/8/8/8/8/8/R2N3n w - -"), (Discovered, "W1 -> W2 -> B1", false));
    // Pawns and kings attack or defend their neighbours along a bishop's line.
    assert_eq!(only("8/8/8/8/8/2p5/1N6/B7 w - -").0, Discovered);
    assert_eq!(only("8/8/8/2B5/3p4/4N3/8/8 w - -"), (Transparent, "W1 -> B1 -> W2", false));
    assert_eq!(only("8/8/8/8/8/2N5/1P6/B7 w - -"), (Transparent, "W1 -> W2 -> W3", false));
    assert_eq!(only("8/8/8/8/8/2n5/1k6/B7 w - -"), (Transparent, "W1 -> B1 -> B2", true));
    assert_eq!(only("8/8/8/8/8/2n5/1P6/B7 w - -"), (Transparent, "W1 -> W2 -> B1", false));
    // A pawn does not attack backwards.
    assert_eq!(only("8/8/8/2B5/3P4/4N3/8/8 w - -").0, Discovered);
}

#[test]
fn figure_1s_bishop_acts_through_the_queen_and_a_bishop_pins_the_knight() {
    // As in the article's description of Figure 1.
    let found = relations(&position("2kr4/6q1/8/5n2/2Kp4/3N3B/5Q2/6B1 w - -"));
    let texts: Vec<_> = found.iter().map(ToString::to_string).collect();
    let through = "Bg1 defends Qf2. Qf2 attacks pd4. Bg1 attacks pd4 through Qf2.";
    let pin = "Bh3 attacks nf5. If nf5 moves, Bh3 attacks kc8. (pin)";
    assert!(texts.iter().any(|text| text == through), "{texts:#?}");
    assert!(texts.iter().any(|text| text == pin), "{texts:#?}");
}

fn on_board(board: &mut Board, position: &Position, moved: Option<Square>) -> PointsReply {
    let request = Request::Points {
        squares: encode::squares(position),
        mover: encode::colour(position.to_move.other()),
        moved: moved.map_or(0, encode::square),
    };
    match board.request(&request) {
        Reply::Points(found) => found,
        other => panic!("{other:?}"),
    }
}

/// Chooses the square of the last move: none, one with a loss, or the last own one.
fn moved(position: &Position, turn: usize) -> Option<Square> {
    let (_, verdicts) = evaluate(position);
    let mover = position.to_move.other();
    let mut own = verdicts.iter().filter(|verdict| verdict.piece.colour == mover);
    let lost = |verdict: &&SquareResult| verdict.outcome.residue > 0;
    match turn % 4 {
        0 => None,
        1 => own.clone().find(lost).map(|verdict| verdict.square),
        2 => own.rfind(lost).map(|verdict| verdict.square),
        _ => own.next_back().map(|verdict| verdict.square),
    }
}

#[test]
fn the_board_finds_the_prizes_that_the_host_finds() {
    let mut board = Board::application();
    let cases = builtin_corpus().unwrap_or_else(|error| panic!("{error}"));
    let mut dangers = [0; 3];
    for (turn, case) in cases.iter().enumerate() {
        let CaseInput::Position { fen, position, .. } = &case.subject else { continue };
        let moved = moved(position, turn);
        let expected = gather(position, moved);
        let seen = on_board(&mut board, position, moved);
        let differences = compare_points(&expected, &seen);
        assert!(differences.is_empty(), "{fen} {moved:?}: {differences:?}");
        dangers[usize::from(expected.article_danger) + usize::from(expected.original_danger)] += 1;
    }
    assert!(dangers.iter().all(|count| *count > 20), "{dangers:?}: not every kind occurs");
}
