//! Positions as the page shows them.

use chess_rules::{Color, Piece, Position, Square};
use serde::Serialize;

use crate::error::PageError;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PositionView {
    fen: String,
    to_move: &'static str,
    pieces: Vec<PieceView>,
    legal: bool,
    /// Fields that the FEN lacked, in words.
    assumed: &'static str,
}

#[derive(Debug, Serialize)]
struct PieceView {
    square: String,
    piece: char,
}

impl PositionView {
    pub(crate) fn of(fen: &str) -> Result<Self, PageError> {
        let fen = fen.trim();
        let (missing, assumed) = match fen.split_whitespace().count() {
            1 => (" w - -", "White to move, no castling, no en passant"),
            2 => (" - -", "no castling, no en passant"),
            3 => (" -", "no en passant"),
            _ => ("", ""),
        };
        Ok(Self { assumed, ..Self::new(&Position::from_fen(&format!("{fen}{missing}"))?) })
    }

    /// Reads a FEN, and puts a piece on a square or takes it away.
    pub(crate) fn with(fen: &str, square: &str, piece: Option<char>) -> Result<Self, PageError> {
        let position = Position::from_fen(fen.trim())?;
        let square: Square = square
            .parse()
            .map_err(|_| PageError::new(format!("invalid square '{square}': expected a1 to h8")))?;
        let mut pieces = *position.pieces();
        pieces.remove(square);
        if let Some(letter) = piece {
            let piece: Piece = letter.to_string().to_lowercase().parse().map_err(|_| {
                PageError::new(format!("invalid piece '{letter}': expected one of KQRBNPkqrbnp"))
            })?;
            let side = if letter.is_uppercase() { Color::White } else { Color::Black };
            pieces.place(square, side, piece);
        }
        // Castling rights and en passant belong to the previous position.
        Ok(Self::new(&Position::new(pieces, position.to_move())))
    }

    fn new(position: &Position) -> Self {
        let pieces = position.pieces();
        let placed = pieces.occupied().into_iter().filter_map(|square| {
            let (side, kind) = pieces.on(square)?;
            Some(PieceView { square: square.to_string(), piece: letter(side, kind) })
        });
        let to_move = if position.to_move() == Color::White { "white" } else { "black" };
        Self {
            fen: position.to_string(),
            to_move,
            pieces: placed.collect(),
            legal: is_reachable(position),
            assumed: "",
        }
    }
}

fn letter(side: Color, kind: Piece) -> char {
    let letter = char::from(kind);
    if side == Color::White { letter.to_ascii_uppercase() } else { letter }
}

/// Returns `true` if each side has one king, no pawn is on a last rank, and the side that has moved
/// is not in check.
fn is_reachable(position: &Position) -> bool {
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
        let placement = PositionView::of(START).expect("a position");
        assert_eq!((placement.fen.as_str(), placement.pieces.len()), (START, 32));
        assert!(placement.legal);
        let fault = PositionView::of("4k3/8/8/3x4/8/8/8/4K3 w - -").expect_err("x is not a piece");
        assert_eq!(fault.column, Some(10), "{}", fault.message);
    }

    #[test]
    fn missing_fields_are_assumed_and_named() {
        let placed = PositionView::of("4k3/8/8/3p4/8/8/8/4K3").expect("a placement");
        assert_eq!(placed.fen, "4k3/8/8/3p4/8/8/8/4K3 w - - 0 1");
        assert_eq!(placed.assumed, "White to move, no castling, no en passant");
        let placed = PositionView::of("4k3/8/8/3p4/8/8/8/4K3 b").expect("a placement and a side");
        assert_eq!((placed.to_move, placed.assumed), ("black", "no castling, no en passant"));
        assert_eq!(PositionView::of(START).expect("a position").assumed, "");
        let fault = PositionView::of("4k3/8/8/3x4/8/8/8/4K3").expect_err("x is not a piece");
        assert_eq!(fault.column, Some(10), "{}", fault.message);
    }

    #[test]
    fn pieces_are_put_and_taken_away() {
        let put = PositionView::with("4k3/8/8/8/8/8/8/4K3 b - -", "d5", Some('N')).expect("it can");
        assert_eq!(put.fen, "4k3/8/8/3N4/8/8/8/4K3 b - - 0 1");
        let gone = PositionView::with(&put.fen, "e1", None).expect("it can");
        assert!(!gone.legal, "White has no king: {}", gone.fen);
        assert!(PositionView::with(&put.fen, "i9", None).is_err());
        assert!(PositionView::with(&put.fen, "a1", Some('x')).is_err());
    }
}
