//! The move that begins an exchange.

use crate::see::PieceValues;
use crate::{BitBoard, Color, Move, Piece, Pieces, Position, Rank, Square};
use cozy_chess::get_line_rays;

/// The state after the move that begins an exchange.
#[derive(Debug, Clone, Copy)]
pub struct ExchangeStart {
    pub(crate) values: PieceValues,
    /// The gain of the move itself: the piece taken, and that of a promotion.
    pub(crate) initial_gain: i32,
    /// The pieces after the move.
    pub(crate) pieces: Pieces,
    /// The square of the exchange; `None` after castling, which allows no recapture.
    pub(crate) square: Option<Square>,
    /// The piece on the square after the move.
    pub(crate) occupant: Piece,
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
        let occupant = m.promotion.unwrap_or(mover);
        let castles = position.castling(m).is_some();
        let pieces = if castles {
            *position.play(m).pieces()
        } else {
            let mut pieces = *position.pieces();
            pieces.remove(m.from);
            position.taken(m).into_iter().for_each(|taken| pieces.remove(taken));
            pieces.place(m.to, side, occupant);
            pieces
        };
        Self {
            values,
            initial_gain: gain_of(position, m, values),
            pieces,
            square: (!castles).then_some(m.to),
            occupant,
            recapturing_side: !side,
            absent: BitBoard::EMPTY,
        }
    }

    /// Returns `true` if a pawn that captures on the square promotes.
    pub(crate) fn is_on_last_rank(&self) -> bool {
        self.square.is_some_and(|square| matches!(square.rank(), Rank::First | Rank::Eighth))
    }

    /// Returns the pieces that may recapture, regardless of pins and checks.
    pub(crate) fn recapturers(&self) -> BitBoard {
        let attackers = |square| self.pieces.attackers(square, self.pieces.occupied());
        self.square.map_or(BitBoard::EMPTY, attackers) & self.pieces.side(self.recapturing_side)
    }

    /// Leaves out the pieces that are pinned before the move, unless the square is on the line of
    /// the pin.
    pub(crate) fn without_pinned(self, pins: &Pins) -> Self {
        let Some(square) = self.square else { return self };
        Self { absent: pins.off(square), ..self }
    }
}

/// The kings of a position and the pieces that are pinned to them.
pub(crate) struct Pins([Option<(Square, BitBoard)>; 2]);

impl Pins {
    pub(crate) fn of(position: &Position) -> Self {
        Self(Color::ALL.map(|side| {
            position.king(side).map(|king| (king, position.pieces().pinned(king, side)))
        }))
    }

    /// Returns the pinned pieces on whose lines a square does not lie.
    fn off(&self, square: Square) -> BitBoard {
        let off = |(king, pinned): (Square, BitBoard)| {
            pinned.into_iter().filter(move |piece| !get_line_rays(king, *piece).has(square))
        };
        self.0.into_iter().flatten().flat_map(off).collect()
    }
}
