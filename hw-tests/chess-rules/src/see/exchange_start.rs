//! The move that begins an exchange.

use crate::see::PieceValues;
use crate::{BitBoard, Color, Move, Piece, Pieces, Position, Rank, Square};
use cozy_chess::get_line_rays;

/// The state after the move that begins an exchange.
#[derive(Debug, Clone, Copy)]
pub struct ExchangeStart {
    pub(crate) values: PieceValues,
    /// The gain of the move itself: the piece taken, and that of a promotion.
    pub(crate) won: i32,
    /// The pieces after the move.
    pub(crate) pieces: Pieces,
    /// The square of the exchange; `None` after castling, which allows no recapture.
    pub(crate) square: Option<Square>,
    pub(crate) stands: Piece,
    pub(crate) recapturing_side: Color,
    /// The pieces that do not capture.
    pub(crate) absent: BitBoard,
}

/// Returns the gain of a move itself: the piece taken, and that of a promotion.
pub(crate) fn gain_of(position: &Position, m: Move, values: PieceValues) -> i32 {
    let taken = position.taken(m).and_then(|square| position.pieces().kind_on(square));
    let promoted = m.promotion.map_or(0, |kind| values.of(kind) - values.of(Piece::Pawn));
    taken.map_or(0, |kind| values.of(kind)) + promoted
}

impl ExchangeStart {
    /// Plays a legal move.
    ///
    /// ```
    /// use chess_rules::Position;
    /// use chess_rules::see::{ExchangeStart, PieceValues};
    /// let position = Position::from_fen("4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -")?;
    /// let capture = position.find_move("exd5").expect("it is legal");
    /// let start = ExchangeStart::after_move(&position, capture, PieceValues::UNITS);
    /// assert_eq!(start.list(false, false).value(), 1);
    /// assert!(start.see_ge(1, false) && !start.see_ge(2, false));
    /// # Ok::<(), chess_rules::FenError>(())
    /// ```
    pub fn after_move(position: &Position, m: Move, values: PieceValues) -> Self {
        let side = position.to_move();
        let mover = position.pieces().kind_on(m.from).unwrap_or(Piece::Pawn);
        let stands = m.promotion.unwrap_or(mover);
        let castles = position.castling(m).is_some();
        let pieces = if castles {
            *position.play(m).pieces()
        } else {
            let mut pieces = *position.pieces();
            pieces.remove(m.from);
            position.taken(m).into_iter().for_each(|taken| pieces.remove(taken));
            pieces.place(m.to, side, stands);
            pieces
        };
        Self {
            values,
            won: gain_of(position, m, values),
            pieces,
            square: (!castles).then_some(m.to),
            stands,
            recapturing_side: !side,
            absent: BitBoard::EMPTY,
        }
    }

    /// Returns `true` if a pawn that captures on the square promotes.
    pub(crate) fn is_on_last_rank(&self) -> bool {
        self.square.is_some_and(|square| matches!(square.rank(), Rank::First | Rank::Eighth))
    }

    /// Leaves out the pieces that are pinned to their king in `before`, unless the square is on the
    /// line of the pin.
    pub(crate) fn without_pinned(self, before: &Position) -> Self {
        let Some(square) = self.square else { return self };
        let pieces = before.pieces();
        let mut absent = BitBoard::EMPTY;
        for side in Color::ALL {
            let Some(king) = before.king(side) else { continue };
            let pinned = pieces.pinned(king, side);
            absent |= pinned
                .into_iter()
                .filter(|piece| !get_line_rays(king, *piece).has(square))
                .collect();
        }
        Self { absent, ..self }
    }
}
