//! The attackers of a square and the defenders of the piece on it.

use super::array::{AttackersArray, Filing};
use super::pins::Pin;
use super::position::{Direction, Kind, Piece, Position, Square};

/// A piece that bears on a square.
pub(super) struct Met {
    /// Its square.
    pub(super) square: Square,
    /// The piece.
    pub(super) piece: Piece,
    /// From the attacked square towards it.
    pub(super) direction: Direction,
    /// A queen stands before it on its line, or it is one.
    pub(super) behind_queen: bool,
}

/// Files everyone who bears on a square, of both colours, directly or through pieces of their own
/// colour that attack along the same line. Nobody is seen through a piece of the other colour,
/// through a knight or through a king. The piece on the square itself is not looked at.
///
/// # Examples
/// ```
/// use sargon_reference::{Square, attackers, parse_fen};
///
/// let position = parse_fen("6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -")?;
/// let e4 = Square::named("e4").expect("a square of the board");
/// let array = attackers(&position, e4, &[]).array;
/// assert_eq!(array.to_bytes(), [3, 0, 0x33, 3, 0, 0, 0, 2, 1, 0, 0, 0, 9, 0]);
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
#[must_use]
pub fn attackers(position: &Position, target: Square, pins: &[Pin]) -> Filing {
    let mut filing = Filing { array: AttackersArray::default(), overflow: false };
    scan(position, target, &mut |met| {
        if may_leave(met.square, met.direction, pins) {
            filing.file(met.piece, met.behind_queen);
        }
    });
    filing
}

/// A piece that bears on a square, pinned or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bearer {
    /// Its square.
    pub square: Square,
    /// The piece.
    pub piece: Piece,
    /// A queen stands before it on its line, or it is one.
    pub behind_queen: bool,
    /// Another piece of its colour stands before it on its line.
    pub is_behind: bool,
    /// It is pinned, whether it may capture along the pin or not.
    pub is_pinned: bool,
    /// Its pins let it capture.
    pub may_capture: bool,
}

/// Returns everyone who bears on a square, in the order in which [`attackers`] files them.
///
/// # Examples
/// ```
/// use sargon_reference::{Square, bearers, find_pins, parse_fen};
///
/// // The rook behind the other one, and a knight that its king holds.
/// let position = parse_fen("3r2k1/3r4/8/8/3R4/1K1N3r/8/8 w - -")?;
/// let d4 = Square::named("d4").expect("a square of the board");
/// let found = bearers(&position, d4, &find_pins(&position));
/// let behind: Vec<bool> = found.iter().map(|bearer| bearer.is_behind).collect();
/// assert_eq!(behind, [false, true]);
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
#[must_use]
pub fn bearers(position: &Position, target: Square, pins: &[Pin]) -> Vec<Bearer> {
    let mut found = Vec::new();
    let mut last = None;
    scan(position, target, &mut |Met { square, piece, direction, behind_queen }| {
        let is_behind = last.replace(direction) == Some(direction);
        let is_pinned = pins.iter().any(|pin| pin.square == square);
        let may_capture = may_leave(square, direction, pins);
        found.push(Bearer { square, piece, behind_queen, is_behind, is_pinned, may_capture });
    });
    found
}

/// Finds everyone who bears on a square, pinned or not, in the program's order.
pub(super) fn scan(position: &Position, target: Square, found: &mut impl FnMut(Met)) {
    for (slider, directions) in
        [(Kind::Bishop, Direction::DIAGONAL), (Kind::Rook, Direction::STRAIGHT)]
    {
        for direction in directions {
            along_line(position, target, slider, direction, found);
        }
    }
    for direction in Direction::LEAPS {
        let there = target.step(direction).and_then(|at| Some((at, position.on(at)?)));
        if let Some((square, piece)) = there
            && piece.kind == Kind::Knight
        {
            found(Met { square, piece, direction, behind_queen: false });
        }
    }
}

fn along_line(
    position: &Position,
    target: Square,
    slider: Kind,
    direction: Direction,
    found: &mut impl FnMut(Met),
) {
    let squares = std::iter::successors(target.step(direction), |square| square.step(direction));
    let pieces = squares
        .enumerate()
        .filter_map(|(distance, square)| Some((distance == 0, square, position.on(square)?)));
    let mut side = None;
    let mut behind_queen = false;
    for (adjacent, square, piece) in pieces {
        let colour = *side.get_or_insert(piece.colour);
        if piece.colour != colour || !attacks(piece, slider, direction, adjacent) {
            return;
        }
        behind_queen |= piece.kind == Kind::Queen;
        found(Met { square, piece, direction, behind_queen });
        if piece.kind == Kind::King {
            return;
        }
    }
}

/// Whether a piece met along `direction` from the target attacks it. White's pawns attack upwards,
/// so they are met downwards.
fn attacks(piece: Piece, slider: Kind, direction: Direction, adjacent: bool) -> bool {
    use super::position::Colour::{Black, White};
    match piece.kind {
        Kind::Queen => true,
        Kind::King => adjacent,
        Kind::Pawn => {
            let met = if direction.ranks < 0 { White } else { Black };
            adjacent && slider == Kind::Bishop && piece.colour == met
        }
        kind => kind == slider,
    }
}

/// Whether pins let a piece move along `direction` or back: one pin along the same line does, two
/// never do.
fn may_leave(square: Square, direction: Direction, pins: &[Pin]) -> bool {
    let mut own = pins.iter().filter(|pin| pin.square == square);
    match (own.next(), own.next()) {
        (None, _) => true,
        (Some(pin), None) => pin.direction == direction || pin.direction == direction.reversed(),
        _ => false,
    }
}
