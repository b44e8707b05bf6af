//! The reference's attackers against the attack sets of a chess library, where both are defined
//! alike: without pins and without a battery on the square.

use cozy_chess::{
    BitBoard, Board, Color, Piece as Chess, Square as At, get_bishop_moves, get_king_moves,
    get_knight_moves, get_pawn_attacks, get_rook_moves,
};
use sargon_corpus::{CaseInput, builtin_corpus};
use sargon_reference::{Colour, PieceKind, SquareResult, evaluate};

/// Returns the attackers of `color` on `at`; `None` if another piece would attack through one.
fn direct(board: &Board, at: At, color: Color) -> Option<BitBoard> {
    let seen = |occupied: BitBoard| {
        let slide = |kind, moves| moves & (board.pieces(kind) | board.pieces(Chess::Queen));
        (slide(Chess::Bishop, get_bishop_moves(at, occupied))
            | slide(Chess::Rook, get_rook_moves(at, occupied))
            | get_knight_moves(at) & board.pieces(Chess::Knight)
            | get_king_moves(at) & board.pieces(Chess::King)
            | get_pawn_attacks(at, !color) & board.pieces(Chess::Pawn))
            & board.colors(color)
    };
    let first = seen(board.occupied());
    (seen(board.occupied() ^ first) | first == first).then_some(first)
}

/// Returns the values of pieces, lowest first.
fn values(board: &Board, attackers: BitBoard) -> Vec<u8> {
    let kinds = [
        (Chess::Pawn, PieceKind::Pawn),
        (Chess::Knight, PieceKind::Knight),
        (Chess::Bishop, PieceKind::Bishop),
        (Chess::Rook, PieceKind::Rook),
        (Chess::Queen, PieceKind::Queen),
        (Chess::King, PieceKind::King),
    ];
    let of_kind = |(chess, kind): (Chess, PieceKind)| {
        let count = (attackers & board.pieces(chess)).len() as usize;
        std::iter::repeat_n(kind.value(), count)
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

/// Compares both sides of a square; returns the number of compared sides.
fn check(id: &str, board: &Board, verdict: &SquareResult) -> usize {
    let at: At = verdict.square.to_string().parse().expect("a square");
    let sides = [(Colour::White, Color::White), (Colour::Black, Color::Black)];
    let known = sides.into_iter().filter_map(|(ours, theirs)| {
        direct(board, at, theirs).map(|attackers| (ours, values(board, attackers)))
    });
    let mut compared = 0;
    for (colour, values) in known {
        assert_eq!(verdict.array.in_order(colour), values, "{id} {} {colour:?}", verdict.square);
        compared += 1;
    }
    compared
}

#[test]
fn attackers_are_those_of_a_chess_library_without_pins_and_batteries() {
    let mut compared = 0;
    for case in builtin_corpus().unwrap_or_else(|error| panic!("{error}")) {
        let CaseInput::Position { fen, position, .. } = &case.subject else { continue };
        let Ok(board) = fen.parse::<Board>() else { continue };
        let (pins, verdicts) = evaluate(position);
        if pins.is_empty() {
            let fits = verdicts.iter().filter(|verdict| !verdict.overflow);
            compared += fits.map(|verdict| check(&case.id, &board, verdict)).sum::<usize>();
        }
    }
    assert!(compared > 5_000, "{compared}");
}
