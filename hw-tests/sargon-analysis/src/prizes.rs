//! The program's use of residues: the task of the routine that the article calls POINTS.
//!
//! The side that has just moved stands to lose the highest residue of its own pieces. Of the other
//! side's it wins none for sure: the other side moves now and rescues the highest, so that only the
//! second counts, and not in full, since otherwise an attack would look as good as a capture. When
//! the piece that has just moved is itself lost, the other side takes it and gains a move: its
//! highest prize is forgotten, the second becomes the first. The article and the program that its
//! authors published in the same year count differently.

use sargon_reference::{Colour, Piece, Square};

/// The highest residues of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prizes {
    /// Points that the side which has just moved stands to lose at most.
    pub lost: u8,
    /// The highest residue of the other side's pieces.
    pub first: u8,
    /// The second highest.
    pub second: u8,
    /// Whether the piece that has just moved is in danger: in the article whenever it has a
    /// residue.
    pub article_danger: bool,
    /// In the program of 1978 only if no square before it, from a1 on, has a higher one.
    pub book_danger: bool,
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
    /// Returns won less lost, in points.
    #[must_use]
    pub fn balance(self) -> f64 {
        (f64::from(self.won) - f64::from(self.lost)) / f64::from(self.parts)
    }
}

impl Prizes {
    /// Gathers the residues of a position. `mover` has just moved, to the square `moved` if that is
    /// known; `residues` come in the order a1 to h1, a2 and so on.
    #[must_use]
    pub fn gather(
        mover: Colour,
        moved: Option<Square>,
        residues: impl IntoIterator<Item = (Square, Piece, u8)>,
    ) -> Self {
        let mut prizes =
            Self { lost: 0, first: 0, second: 0, article_danger: false, book_danger: false };
        for (square, piece, residue) in residues {
            if residue == 0 {
                continue;
            }
            if piece.colour == mover {
                let is_moved = moved == Some(square);
                prizes.article_danger |= is_moved;
                prizes.book_danger |= is_moved && residue >= prizes.lost;
                prizes.lost = prizes.lost.max(residue);
            } else if residue > prizes.first {
                (prizes.first, prizes.second) = (residue, prizes.first);
            } else {
                prizes.second = prizes.second.max(residue);
            }
        }
        prizes
    }

    /// Counts as the article does, in quarters of a point: the loss in full, three quarters of the
    /// second prize.
    #[must_use]
    pub fn article(&self) -> ScoreAdjustment {
        let second = if self.article_danger { 0 } else { self.second };
        ScoreAdjustment { lost: 4 * self.lost, won: 3 * second, parts: 4 }
    }

    /// Counts as the program of 1978 does, in halves of a point: half a point less than the loss,
    /// and half of what is left of the second prize when half a point is taken off, rounded down.
    #[must_use]
    pub fn book(&self) -> ScoreAdjustment {
        let second = if self.book_danger { 0 } else { self.second };
        let less = |points: u8| (2 * points).saturating_sub(1);
        ScoreAdjustment { lost: less(self.lost), won: less(second) / 2, parts: 2 }
    }
}
