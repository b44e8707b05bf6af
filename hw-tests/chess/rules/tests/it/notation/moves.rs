//! Move generation compared with that of `cozy-chess`, and on positions that it rejects.

use std::collections::BTreeSet;

use crate::notation::file::truth;
use chess_rules::{Move, Position};
use cozy_chess::Board;

/// Both write moves in the same way: castling as the king taking its own rook.
fn moves_of(board: &Board) -> BTreeSet<String> {
    let mut moves = BTreeSet::new();
    board.generate_moves(|some| {
        moves.extend(some.into_iter().map(|m| m.to_string()));
        false
    });
    moves
}

/// Compares the moves of a position and of all that follow it.
fn compare(board: &Board, position: &Position, depth: usize) -> usize {
    let own: Vec<Move> = position.legal_moves();
    let texts: BTreeSet<_> = own.iter().map(Move::to_string).collect();
    assert_eq!(texts, moves_of(board), "{position}");
    if depth == 0 {
        return 1;
    }
    let follow = |m: &Move| {
        let mut after = board.clone();
        after.play(*m);
        compare(&after, &position.play(*m), depth - 1)
    };
    1 + own.iter().map(follow).sum::<usize>()
}

#[test]
fn moves_and_those_that_follow_are_those_of_cozy_chess() {
    let mut compared = 0;
    for entry in truth().iter().step_by(5) {
        let fen = entry.shredder.as_ref().unwrap_or(&entry.fen);
        let board = Board::from_fen(fen, true).or_else(|_| Board::from_fen(fen, false));
        let Ok(board) = board else { continue };
        let position = Position::from_fen(fen).expect("a FEN");
        compared += compare(&board, &position, 1);
    }
    assert!(compared > 15_000, "{compared}");
}

#[test]
fn odd_positions_have_moves_too_and_no_king_is_taken() {
    let count = |fen: &str| Position::from_fen(fen).expect("a FEN").legal_moves().len();
    assert_eq!(count("8/8/8/8/8/8/8/8 w - -"), 0);
    assert_eq!(count("8/8/8/8/3Q4/8/8/8 w - -"), 27);
    // Pawns on the last rank stand still; one on the first steps once.
    assert_eq!(count("P7/8/8/8/8/8/8/P7 w - -"), 1);
    // The queen attacks the king that is not to move: this is not a capture.
    let position = Position::from_fen("4k3/8/8/8/4Q3/8/8/4K3 w - -").expect("a FEN");
    assert!(position.legal_captures().is_empty());
}
