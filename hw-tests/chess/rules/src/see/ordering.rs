//! The legal captures in the order in which a search would try them.

use std::ops::AddAssign;

use crate::{IllegalReason, Move, Position};
use serde::Serialize;

use crate::see::definition::move_values_with;
use crate::see::exchange_start::Pins;
use crate::see::{PieceValues, SeeDefinition, ValuesByDefinition};

/// A legal capture and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValuedCapture {
    /// The move.
    pub played: Move,
    /// Its value, in the units of the values given.
    pub value: ValuesByDefinition,
}

/// Counts over captures, by the tutorial's names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct OrderingStats {
    /// Captures evaluated.
    pub evaluated: usize,
    /// Captures that gain.
    pub winning: usize,
    /// Captures that neither gain nor lose.
    pub equal: usize,
    /// Captures that lose.
    pub losing: usize,
    /// Captures left out of the search: the losing ones.
    pub pruned: usize,
}

impl AddAssign for OrderingStats {
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
pub struct OrderedCaptures {
    /// Best first; equal ones in the order of their squares.
    pub captures: Vec<ValuedCapture>,
    /// The captures that a search would drop, the worst last.
    pub dropped: Vec<ValuedCapture>,
    /// The captures that are not legal, as [`Position::illegal_captures`].
    pub illegal: Vec<(Move, IllegalReason)>,
    /// Counts over all captures, the dropped ones included.
    pub statistics: OrderingStats,
}

/// Evaluates every legal capture, sorts them by one definition and separates those that lose by
/// it. En passant counts as a capture, and each promotion of a capturing pawn as a separate one.
///
/// ```
/// use chess_rules::Position;
/// use chess_rules::see::{SeeDefinition, PieceValues, order_captures};
/// let position = Position::from_fen("4k3/8/4p3/3p4/8/8/6B1/4K3 w - -")?;
/// let ordered = order_captures(&position, PieceValues::UNITS, SeeDefinition::Swap);
/// assert_eq!(ordered.dropped[0].value.swap, -2);
/// # Ok::<(), chess_rules::FenError>(())
/// ```
pub fn order_captures(
    position: &Position,
    values: PieceValues,
    by: SeeDefinition,
) -> OrderedCaptures {
    let pins = Pins::of(position);
    let value = |played| move_values_with(position, played, values, &pins);
    let valued = |played| ValuedCapture { played, value: value(played) };
    let (legal, illegal) = position.captures();
    let mut captures: Vec<_> = legal.into_iter().map(valued).collect();
    let count = |wanted: fn(i32) -> bool| {
        captures.iter().filter(|capture| wanted(capture.value.by(by))).count()
    };
    let winning = count(|value| value > 0);
    let equal = count(|value| value == 0);
    let losing = count(|value| value < 0);
    let statistics =
        OrderingStats { evaluated: captures.len(), winning, equal, losing, pruned: losing };
    captures.sort_by_key(|capture| -capture.value.by(by));
    let dropped = captures.split_off(captures.len() - losing);
    OrderedCaptures { captures, dropped, illegal, statistics }
}
