//! Positions as the page shows them.

use chess_rules::{Color, Piece, Position, Square};
use serde::Serialize;

use crate::fault::Fault;

/// The answer to `normalise` and `place`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Placement {
    fen: String,
    to_move: &'static str,
    pieces: Vec<Placed>,
    legal: bool,
}

/// A piece on its square.
#[derive(Debug, Serialize)]
struct Placed {
    square: String,
    piece: char,
}

impl Placement {
    /// Reads a FEN.
    pub(crate) fn of(fen: &str) -> Result<Self, Fault> {
        Ok(Self::new(&Position::from_fen(fen.trim())?))
    }

    /// Reads a FEN, and puts a piece on a square or takes it away.
    pub(crate) fn with(fen: &str, square: &str, piece: Option<char>) -> Result<Self, Fault> {
        let position = Position::from_fen(fen.trim())?;
        let square: Square =
            square.parse().map_err(|_| Fault::new(format!("{square} is no square")))?;
        let mut pieces = *position.pieces();
        pieces.remove(square);
        if let Some(letter) = piece {
            let piece: Piece = letter
                .to_string()
                .to_lowercase()
                .parse()
                .map_err(|_| Fault::new(format!("{letter} is no piece")))?;
            let side = if letter.is_uppercase() { Color::White } else { Color::Black };
            pieces.place(square, side, piece);
        }
        // Rights to castle and to capture in passing are those of a position that is gone.
        Ok(Self::new(&Position::new(pieces, position.to_move())))
    }

    fn new(position: &Position) -> Self {
        let pieces = position.pieces();
        let placed = pieces.occupied().into_iter().filter_map(|square| {
            let (side, kind) = pieces.on(square)?;
            Some(Placed { square: square.to_string(), piece: letter(side, kind) })
        });
        let to_move = if position.to_move() == Color::White { "white" } else { "black" };
        Self {
            fen: position.to_string(),
            to_move,
            pieces: placed.collect(),
            legal: is_of_a_game(position),
        }
    }
}

fn letter(side: Color, kind: Piece) -> char {
    let letter = char::from(kind);
    if side == Color::White { letter.to_ascii_uppercase() } else { letter }
}

/// Whether each side has one king, no pawn stands on a last rank, and the side that has moved is
/// not in check.
fn is_of_a_game(position: &Position) -> bool {
    let pieces = position.pieces();
    let has_king = |side| (pieces.kind(Piece::King) & pieces.side(side)).len() == 1;
    let pawns = pieces.kind(Piece::Pawn).into_iter();
    let mut ranks = pawns.map(|square| square.rank() as usize);
    has_king(Color::White)
        && has_king(Color::Black)
        && ranks.all(|rank| (1..7).contains(&rank))
        && !pieces.is_in_check(!position.to_move())
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn a_fen_is_completed_and_its_fault_has_a_column() {
        let placement = Placement::of(START).expect("a position");
        assert_eq!((placement.fen.as_str(), placement.pieces.len()), (START, 32));
        assert!(placement.legal);
        let fault = Placement::of("4k3/8/8/3x4/8/8/8/4K3 w - -").expect_err("x is no piece");
        assert_eq!(fault.column, Some(10), "{}", fault.message);
    }

    #[test]
    fn pieces_are_put_and_taken_away() {
        let put = Placement::with("4k3/8/8/8/8/8/8/4K3 b - -", "d5", Some('N')).expect("it can");
        assert_eq!(put.fen, "4k3/8/8/3N4/8/8/8/4K3 b - - 0 1");
        let gone = Placement::with(&put.fen, "e1", None).expect("it can");
        assert!(!gone.legal, "White has no king: {}", gone.fen);
        assert!(Placement::with(&put.fen, "i9", None).is_err());
        assert!(Placement::with(&put.fen, "a1", Some('x')).is_err());
    }
}
