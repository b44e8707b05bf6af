//! Names of sides and pieces in an explanation.

use sargon_reference::{Colour, PieceKind};

/// Returns the name of a side.
pub(super) fn side(colour: Colour) -> &'static str {
    match colour {
        Colour::White => "White",
        Colour::Black => "Black",
    }
}

/// Returns the name of a kind of piece.
pub(super) fn kind(kind: PieceKind) -> &'static str {
    ["pawn", "knight", "bishop", "rook", "queen", "king"][kind as usize]
}
