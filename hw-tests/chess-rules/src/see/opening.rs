//! The move that begins an exchange.

use crate::{Color, Move, Piece, Pieces, Position, Square};

use crate::see::Values;

/// The state after the move that begins an exchange.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    pub(crate) values: Values,
    /// The gain of the move itself: the piece taken, and that of a promotion.
    pub(crate) won: i32,
    /// The pieces after the move.
    pub(crate) pieces: Pieces,
    /// The square that is fought for; `None` after castling, which nobody answers.
    pub(crate) square: Option<Square>,
    /// The piece that stands there.
    pub(crate) stands: Piece,
    /// The side that answers.
    pub(crate) answers: Color,
}

impl Opening {
    /// Plays a legal move.
    ///
    /// ```
    /// use chess_rules::Position;
    /// use chess_rules::see::{Opening, Values};
    /// let position = Position::from_fen("4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -")?;
    /// let capture = position.find_move("exd5").expect("it is legal");
    /// let opening = Opening::of(&position, capture, Values::UNITS);
    /// assert_eq!(opening.list(false, false).value(), 1);
    /// assert!(opening.is_at_least(1, false) && !opening.is_at_least(2, false));
    /// # Ok::<(), chess_rules::FenError>(())
    /// ```
    #[must_use]
    pub fn of(position: &Position, m: Move, values: Values) -> Self {
        let taken = position.taken(m).and_then(|square| position.pieces().on(square));
        let promoted = m.promotion.map_or(0, |kind| values.of(kind) - values.of(Piece::Pawn));
        let mover = position.pieces().on(m.from).map_or(Piece::Pawn, |(_, kind)| kind);
        Self {
            values,
            won: taken.map_or(0, |(_, kind)| values.of(kind)) + promoted,
            pieces: *position.play(m).pieces(),
            square: position.castling(m).is_none().then_some(m.to),
            stands: m.promotion.unwrap_or(mover),
            answers: !position.to_move(),
        }
    }
}
