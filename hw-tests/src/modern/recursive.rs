//! The didactic forms: an exchange played out by recursion on the board itself.

use cozy_chess::{Color, Square};

use super::{Pieces, Values};

/// What `side` gains on `square` when it captures with its least valuable attacker first and may stop
/// at any time; never negative.
#[must_use]
pub fn swap_off(pieces: &Pieces, square: Square, side: Color, values: Values) -> i32 {
    let attacker = pieces.least_valuable(square, side, pieces.occupied());
    attacker
        .and_then(|(from, _)| capture(pieces, from, square, values))
        .map_or(0, |gain| gain.max(0))
}

/// What the capture `from` x `to` gains when it is forced, though the answers to it are not; negative
/// when it loses. `None` when either square is empty.
#[must_use]
pub fn capture(pieces: &Pieces, from: Square, to: Square, values: Values) -> Option<i32> {
    let (side, _) = pieces.on(from)?;
    let (_, taken) = pieces.on(to)?;
    let mut after = *pieces;
    after.play(from, to);
    Some(values.of(taken) - swap_off(&after, to, !side, values))
}
