//! Swap-off of a whole position, after SOMA (Maynard Smith and Michie, "Machines that play games",
//! New Scientist 12, 1961): no search, only the exchanges that pay, played until none is left.

use std::cmp::Reverse;

use crate::see::exchange_start::gain_of;
use crate::see::{ExchangeStart, OrderedCaptures, PieceValues, SeeDefinition, ValuedCapture};
use crate::{Color, Move, Position, Square};

/// One exchange of the line: all captures on one square, until a side stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SomaExchange {
    /// The side that begins it.
    pub side: Color,
    /// The square on which the captures happen.
    pub square: Square,
    /// The squares that the capturers leave, in order, sides alternating.
    pub from: Vec<Square>,
    /// The gain of the side that begins it.
    pub gain: i32,
}

/// Returns the exchanges that would be played if both sides only captured where it pays, the most
/// profitable first. Every capture is legal and none takes a king; a side with nothing to gain
/// passes, and the line ends when neither gains.
pub fn soma(position: &Position, values: PieceValues) -> Vec<SomaExchange> {
    line(position, best(position, None, values), values)
}

/// Returns the exchanges as [`soma()`] does, given the values of the position's captures.
pub fn soma_of(
    position: &Position,
    captures: &OrderedCaptures,
    values: PieceValues,
) -> Vec<SomaExchange> {
    let all = captures.captures.iter().chain(&captures.dropped);
    let legal = |capture: &ValuedCapture| (capture.played, capture.value.by(SeeDefinition::Legal));
    let gaining = all.map(legal).filter(|(_, value)| *value > 0);
    // Of several, the one that `best` finds first.
    let first = gaining.min_by_key(|(m, value)| {
        (Reverse(*value), m.from as usize, m.to as usize, Reverse(m.promotion))
    });
    line(position, first, values)
}

/// Returns the exchanges that follow if the side to move begins with `first`, or passes.
fn line(position: &Position, first: Option<(Move, i32)>, values: PieceValues) -> Vec<SomaExchange> {
    let mut position = *position;
    let mut line = Vec::new();
    let mut has_passed = false;
    let mut next = first;
    loop {
        match next {
            Some((first, gain)) => {
                line.push(play_out(&mut position, first, gain, values));
                has_passed = false;
            }
            None if has_passed => return line,
            None => {
                has_passed = true;
                position = Position::new(*position.pieces(), !position.to_move());
            }
        }
        next = best(&position, None, values);
    }
}

/// Returns the most profitable legal capture, on one square or anywhere; `None` if none gains.
fn best(position: &Position, on: Option<Square>, values: PieceValues) -> Option<(Move, i32)> {
    let mut found: Option<(Move, i32)> = None;
    for m in position.pseudo_legal_captures(on) {
        let best = found.map_or(0, |(_, best)| best);
        // No reply can make the capture worth more than its immediate gain.
        if gain_of(position, m, values) > best && position.keeps_king_safe(m) {
            let value = ExchangeStart::after_move(position, m, values).legal_value();
            if value > best {
                found = Some((m, value));
            }
        }
    }
    found
}

/// Plays the captures on one square as long as each gains for its side. Every capture removes a
/// piece from the board, so that this terminates.
fn play_out(position: &mut Position, first: Move, gain: i32, values: PieceValues) -> SomaExchange {
    let side = position.to_move();
    let square = first.to;
    let mut from = vec![first.from];
    *position = position.play(first);
    while let Some((next, _)) = best(position, Some(square), values) {
        from.push(next.from);
        *position = position.play(next);
    }
    SomaExchange { side, square, from, gain }
}
