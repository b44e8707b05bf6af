//! Captures of a side in the order in which a search would try them.

use std::ops::AddAssign;

use cozy_chess::{Color, Piece, Square};
use serde::Serialize;

use super::{Pieces, Values, swap};

/// A capture and what it gains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// Where the capturer stands.
    pub from: Square,
    /// What it captures on.
    pub to: Square,
    /// What the capture gains, in the units of the values given.
    pub value: i32,
}

/// Counts over captures, by the names that the tutorial gives them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// Captures looked at.
    pub evaluated: usize,
    /// Those that gain.
    pub winning: usize,
    /// Those that neither gain nor lose.
    pub equal: usize,
    /// Those that lose.
    pub losing: usize,
    /// Those left out of the search: the losing ones.
    pub pruned: usize,
}

impl AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        self.evaluated += other.evaluated;
        self.winning += other.winning;
        self.equal += other.equal;
        self.losing += other.losing;
        self.pruned += other.pruned;
    }
}

/// The captures worth a search, best first, and the counts over all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ordered {
    /// Best first; equal ones in the order of their squares.
    pub captures: Vec<Capture>,
    /// Those dropped, the worst last.
    pub dropped: Vec<Capture>,
    /// Counts over all captures, the dropped ones included.
    pub statistics: Statistics,
}

/// Evaluates every capture of `side`, drops those that lose, and puts the best first. A king's capture of a
/// guarded piece is no move and is not looked at; pins are not considered.
#[must_use]
pub fn order_captures(pieces: &Pieces, side: Color, values: Values) -> Ordered {
    let mut captures = all_captures(pieces, side, values);
    let count = |wanted: fn(i32) -> bool| captures.iter().filter(|c| wanted(c.value)).count();
    let (winning, equal, losing) = (count(|v| v > 0), count(|v| v == 0), count(|v| v < 0));
    let statistics =
        Statistics { evaluated: captures.len(), winning, equal, losing, pruned: losing };
    captures.sort_by_key(|capture| -capture.value);
    let dropped = captures.split_off(captures.len() - losing);
    Ordered { captures, dropped, statistics }
}

fn all_captures(pieces: &Pieces, side: Color, values: Values) -> Vec<Capture> {
    let occupied = pieces.occupied();
    let targets = pieces.side(!side).into_iter();
    let pairs = targets.flat_map(|to| {
        let attackers = pieces.attackers(to, occupied) & pieces.side(side);
        attackers.into_iter().map(move |from| (from, to))
    });
    pairs
        .filter(|&(from, to)| is_possible(pieces, side, from, to))
        .filter_map(|(from, to)| {
            let value = swap(pieces, from, to, values, false)?.value();
            Some(Capture { from, to, value })
        })
        .collect()
}

fn is_possible(pieces: &Pieces, side: Color, from: Square, to: Square) -> bool {
    let is_king = matches!(pieces.on(from), Some((_, Piece::King)));
    !is_king || !pieces.is_guarded(to, side, pieces.occupied(), from)
}
