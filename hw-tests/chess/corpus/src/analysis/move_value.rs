//! The value of one move by Sargon's rules, for comparison with Static Exchange Evaluation.

use chess_rules::see::PieceValues;
use chess_rules::{Move, Piece, Position};
use sargon_reference::{Colour, PieceKind, attackers, exchange, find_pins, minimax};

use super::convert;

/// A move's value in Sargon's points: its gain, less what its owner then loses on the square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SargonMoveValue {
    /// With the corrected evaluator's residue of the square.
    pub sargon: i32,
    /// With minimax over Sargon's array in place of the residue.
    pub minimax: i32,
}

/// Evaluates a legal move by the residue of its square after it. Sargon itself evaluates squares,
/// not moves; this value corresponds to that of Static Exchange Evaluation.
///
/// ```
/// use chess_rules::Position;
/// use sargon_corpus::analysis::sargon_move_value;
/// // The wiki's second position: the knight loses itself for a pawn.
/// let fen = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -";
/// let position = Position::from_fen(fen)?;
/// let capture = position.find_move("Nxe5").expect("it is legal");
/// assert_eq!(sargon_move_value(&position, capture).sargon, -2);
/// # Ok::<(), chess_rules::FenError>(())
/// ```
pub fn sargon_move_value(position: &Position, m: Move) -> SargonMoveValue {
    let points = |kind| PieceValues::SARGON.of(kind);
    let taken = position.taken(m).and_then(|square| position.pieces().on(square));
    let promotion = m.promotion.map_or(0, |kind| points(kind) - points(Piece::Pawn));
    let won = taken.map_or(0, |(_, kind)| points(kind)) + promotion;
    let after = convert::position(&position.play(m));
    let square = convert::reference_square(m.to);
    let Some(piece) = square.and_then(|square| after.on(square)) else {
        // After castling the king is on another square, and nothing is won or lost.
        return SargonMoveValue { sargon: won, minimax: won };
    };
    let Some(square) = square else { return SargonMoveValue { sargon: won, minimax: won } };
    let array = attackers(&after, square, &find_pins(&after)).array;
    let residue = i32::from(exchange(piece, &array).residue);
    let in_order = |colour: Colour| array.in_order(colour);
    let stake = PieceKind::value(piece.kind);
    let best = minimax(stake, &in_order(piece.colour.other()), &in_order(piece.colour));
    SargonMoveValue { sargon: won - residue, minimax: won - i32::from(best) }
}
