//! Names of sides and pieces in an explanation.

use sargon_reference::{Colour, PieceKind};

pub(crate) fn side(colour: Colour) -> &'static str {
    match colour {
        Colour::White => "White",
        Colour::Black => "Black",
    }
}

pub(super) fn kind(kind: PieceKind) -> &'static str {
    ["pawn", "knight", "bishop", "rook", "queen", "king"][kind as usize]
}
