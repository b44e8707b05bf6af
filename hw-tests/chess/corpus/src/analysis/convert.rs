//! Conversions between the reference's squares, pieces and positions and those of `chess_rules`.

use chess_rules::{Color, Piece as ChessPiece, Pieces, Square as ChessSquare};
use sargon_reference::{Colour, Piece, PieceKind, Position, Square};

/// Returns the bitboards' number of a square of the reference: both count a1, b1 and so on.
pub fn square(square: Square) -> ChessSquare {
    ChessSquare::index(usize::from(square.rank()) * 8 + usize::from(square.file()))
}

/// Returns the reference's square of a number of the bitboards.
pub fn reference_square(square: ChessSquare) -> Option<Square> {
    Square::new(square.file() as u8, square.rank() as u8)
}

/// Returns the bitboards' side of a colour of the reference.
pub fn side(colour: Colour) -> Color {
    match colour {
        Colour::White => Color::White,
        Colour::Black => Color::Black,
    }
}

/// Returns the pieces of a position as bitboards.
pub fn pieces(position: &Position) -> Pieces {
    let placed = position.pieces();
    Pieces::new(
        placed.map(|(at, piece)| {
            (square(at), side(piece.colour), ChessPiece::ALL[piece.kind as usize])
        }),
    )
}

/// Converts a position to the reference's: pieces and side to move. The evaluator does not use
/// castling rights and en passant.
///
/// ```
/// use sargon_corpus::analysis::convert;
/// use sargon_reference::parse_fen;
/// let fen = "4k3/8/8/3pP3/8/8/8/4K3 w - -";
/// let position = chess_rules::Position::from_fen(fen)?;
/// assert_eq!(convert::position(&position), parse_fen(fen)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn position(of: &chess_rules::Position) -> Position {
    let colour = |side| if side == Color::White { Colour::White } else { Colour::Black };
    let mut position = Position::empty(colour(of.to_move()));
    for at in of.pieces().occupied() {
        let Some((side, kind)) = of.pieces().on(at) else { continue };
        let piece = Piece { colour: colour(side), kind: PieceKind::ALL[kind as usize] };
        if let Some(square) = reference_square(at) {
            position.set(square, Some(piece));
        }
    }
    position
}
