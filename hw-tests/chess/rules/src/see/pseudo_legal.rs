//! The order of capturers when pins and checks are ignored.

use crate::see::PieceValues;
use crate::{BitBoard, Color, Piece, Pieces, Rank, Square};

/// The next piece to capture on a square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextCapturer {
    /// The square that it leaves.
    pub from: Square,
    /// The piece on the square after its capture.
    pub becomes: Piece,
    /// The gain of its promotion, 0 without one.
    pub promotion: i32,
}

/// The pieces that may still take part in an exchange.
#[derive(Debug, Clone)]
pub(crate) struct RemainingCapturers<'a> {
    pieces: &'a Pieces,
    values: PieceValues,
    kinds: [Piece; 6],
    square: Square,
    occupied: BitBoard,
    absent: BitBoard,
    promotes: bool,
}

impl<'a> RemainingCapturers<'a> {
    /// With `promotes`, a pawn that captures on its last rank becomes a queen.
    pub(crate) fn new(
        pieces: &'a Pieces,
        square: Square,
        values: PieceValues,
        promotes: bool,
    ) -> Self {
        let last = matches!(square.rank(), Rank::First | Rank::Eighth);
        let occupied = pieces.occupied();
        let absent = BitBoard::EMPTY;
        let kinds = values.kinds_by_value();
        Self { pieces, values, kinds, square, occupied, absent, promotes: promotes && last }
    }

    /// Leaves out these pieces, which stay on their squares.
    pub(crate) fn without(self, absent: BitBoard) -> Self {
        Self { absent, ..self }
    }

    /// Removes the least valuable attacker of a side; of one kind, the one on the lowest square. A
    /// king captures only if no piece of the other side then attacks the square.
    pub(crate) fn next(&mut self, side: Color) -> Option<NextCapturer> {
        let attackers = self.pieces.attackers(self.square, self.occupied) & self.pieces.side(side);
        let attackers = attackers - self.absent;
        let lowest = |kind| (attackers & self.pieces.kind(kind)).next_square();
        let (kind, from) = self.kinds.into_iter().find_map(|kind| Some((kind, lowest(kind)?)))?;
        let after = self.occupied - from.bitboard();
        if kind == Piece::King && self.pieces.is_attacked(self.square, !side, after) {
            return None;
        }
        // This uncovers the pieces behind the capturer, of either side.
        self.occupied = after;
        Some(self.capturer(from, kind))
    }

    fn capturer(&self, from: Square, kind: Piece) -> NextCapturer {
        if self.promotes && kind == Piece::Pawn {
            let promotion = self.values.of(Piece::Queen) - self.values.of(Piece::Pawn);
            return NextCapturer { from, becomes: Piece::Queen, promotion };
        }
        NextCapturer { from, becomes: kind, promotion: 0 }
    }
}

/// Computes the gain of `side` on `square` if it captures with its least valuable attacker first
/// and may stop at any time; never negative. Pins, checks and promotion are ignored.
///
/// ```
/// use chess_rules::{Color, Position, Square};
/// use chess_rules::see::{PieceValues, pseudo_legal_gain};
/// let position = Position::from_fen("8/8/2n5/3p4/4P3/8/6B1/8 w - -")?;
/// let gain = pseudo_legal_gain(position.pieces(), Square::D5, Color::White, PieceValues::UNITS);
/// assert_eq!(gain, 1);
/// # Ok::<(), chess_rules::FenError>(())
/// ```
pub fn pseudo_legal_gain(pieces: &Pieces, square: Square, side: Color, values: PieceValues) -> i32 {
    let Some((_, occupant)) = pieces.on(square) else { return 0 };
    gain(&mut RemainingCapturers::new(pieces, square, values, false), side, values.of(occupant))
}

/// Computes the gain of a forced capture from one square to another, with optional recaptures;
/// negative if it loses. Legality is ignored. `None` if either square is empty.
pub fn pseudo_legal_value(
    pieces: &Pieces,
    from: Square,
    to: Square,
    values: PieceValues,
) -> Option<i32> {
    let (side, capturer) = pieces.on(from)?;
    let (_, taken) = pieces.on(to)?;
    let mut after = *pieces;
    after.remove(from);
    after.place(to, side, capturer);
    Some(values.of(taken) - pseudo_legal_gain(&after, to, !side, values))
}

/// The recursion: the better of stopping and of capturing the piece at stake.
pub(crate) fn gain(capturers: &mut RemainingCapturers<'_>, side: Color, stake: i32) -> i32 {
    let Some(capturer) = capturers.next(side) else { return 0 };
    let risked = capturers.values.of(capturer.becomes);
    (stake + capturer.promotion - gain(capturers, !side, risked)).max(0)
}
