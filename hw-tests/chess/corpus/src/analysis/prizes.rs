//! The program's use of residues, in the routine that the article calls POINTS.
//!
//! The side that has just moved may lose the highest residue of its own pieces. It does not win the
//! highest residue of the other side: the other side moves now and rescues that piece. So only the
//! second-highest counts, and not in full, since otherwise an attack would score like a capture. If
//! the piece that has just moved is itself lost, the other side captures it and gains a move: its
//! highest prize is dropped, and the second becomes the first. The article and the program that its
//! authors published in the same year count differently.

use sargon_reference::{Colour, Piece, Square};

/// The highest residues of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prizes {
    /// The maximum number of points that the side which has just moved may lose.
    pub lost: u8,
    /// The highest residue of the other side's pieces.
    pub first: u8,
    /// The second highest.
    pub second: u8,
    /// `true` if the piece that has just moved has a residue, which the article counts as lost.
    pub article_danger: bool,
    /// The same by the original: only if no earlier square has a higher residue.
    pub original_danger: bool,
}

/// Losses and gains by one scoring rule, in fractions of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScoreAdjustment {
    /// Subtracted from the score of the side that has just moved.
    pub lost: u8,
    /// Added to it.
    pub won: u8,
    /// Fractions in a point: 4 for quarters, 2 for halves.
    pub parts: u8,
}

impl ScoreAdjustment {
    /// Returns the gain less the loss, in points.
    #[must_use]
    pub fn balance(self) -> f64 {
        (f64::from(self.won) - f64::from(self.lost)) / f64::from(self.parts)
    }
}

impl Prizes {
    /// Collects the residues of a position. `mover` has just moved, to the square `moved` if that
    /// is known; `residues` must be in the order a1 to h1, a2 and so on.
    pub fn gather(
        mover: Colour,
        moved: Option<Square>,
        residues: impl IntoIterator<Item = (Square, Piece, u8)>,
    ) -> Self {
        let mut prizes =
            Self { lost: 0, first: 0, second: 0, article_danger: false, original_danger: false };
        for (square, piece, residue) in residues {
            if residue == 0 {
                continue;
            }
            if piece.colour == mover {
                let is_moved = moved == Some(square);
                prizes.article_danger |= is_moved;
                prizes.original_danger |= is_moved && residue >= prizes.lost;
                prizes.lost = prizes.lost.max(residue);
            } else if residue > prizes.first {
                (prizes.first, prizes.second) = (residue, prizes.first);
            } else {
                prizes.second = prizes.second.max(residue);
            }
        }
        prizes
    }

    /// Returns the article's score in quarters of a point: the loss, 3/4 of the second prize.
    pub fn article(&self) -> ScoreAdjustment {
        let second = if self.article_danger { 0 } else { self.second };
        ScoreAdjustment { lost: 4 * self.lost, won: 3 * second, parts: 4 }
    }

    /// Returns the score by the original, in halves of a point: the loss less half a point,
    /// and half of the second prize less half a point, rounded down.
    pub fn original(&self) -> ScoreAdjustment {
        let second = if self.original_danger { 0 } else { self.second };
        let less = |points: u8| (2 * points).saturating_sub(1);
        ScoreAdjustment { lost: less(self.lost), won: less(second) / 2, parts: 2 }
    }
}
