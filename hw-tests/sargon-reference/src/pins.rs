//! Pieces that may not leave a line without giving up their king or queen.

use super::attack::attackers;
use super::position::{Colour, Direction, Kind, Piece, Position, Square};

/// A pinned piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Its square.
    pub square: Square,
    /// From the king or queen towards it, and on to the piece that pins.
    pub direction: Direction,
}

/// A piece that stands between a king or queen and an enemy who moves along their line.
pub(super) struct Candidate {
    /// The king or queen.
    pub(super) royal: Piece,
    /// Its square.
    pub(super) square: Square,
    /// The piece between.
    pub(super) pin: Pin,
    /// Whether the enemy is a queen.
    pub(super) by_queen: bool,
}

/// Finds the pins against both kings and both queens, in the order White's king, Black's king,
/// White's queen, Black's queen. A queen is watched as jealously as a king, guarded or not, but for
/// one case: a pin of a queen by a queen counts only if the pinned side's queen has no more
/// defenders than attackers.
///
/// # Examples
/// ```
/// use sargon_reference::{Square, find_pins, parse_fen};
///
/// // The knight may not leave the line between its king and the rook.
/// let position = parse_fen("4r1k1/8/8/8/8/8/4N3/4K3 w - -")?;
/// let pins = find_pins(&position);
/// assert_eq!(pins.len(), 1);
/// assert_eq!(Some(pins[0].square), Square::named("e2"));
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
#[must_use]
pub fn find_pins(position: &Position) -> Vec<Pin> {
    let mut pins = Vec::new();
    candidates(position, &mut |Candidate { royal, square, pin, by_queen }| {
        let can_be_held = royal.kind == Kind::Queen && by_queen;
        if !(can_be_held && is_held(position, square, royal, &pins)) {
            pins.push(pin);
        }
    });
    pins
}

/// Finds the pieces that may be pinned, in the program's order.
pub(super) fn candidates(position: &Position, found: &mut impl FnMut(Candidate)) {
    for kind in [Kind::King, Kind::Queen] {
        for colour in [Colour::White, Colour::Black] {
            if let Some(square) = position.royal(colour, kind) {
                candidates_around(position, square, Piece { colour, kind }, found);
            }
        }
    }
}

fn candidates_around(
    position: &Position,
    square: Square,
    royal: Piece,
    found: &mut impl FnMut(Candidate),
) {
    for (slider, directions) in
        [(Kind::Bishop, Direction::DIAGONAL), (Kind::Rook, Direction::STRAIGHT)]
    {
        for direction in directions {
            let Some((candidate, pinner)) = first_two(position, square, royal.colour, direction)
            else {
                continue;
            };
            let by_queen = pinner == Kind::Queen;
            if by_queen || pinner == slider {
                let pin = Pin { square: candidate, direction };
                found(Candidate { royal, square, pin, by_queen });
            }
        }
    }
}

/// A friend of `colour` that stands first on the line, with an enemy behind it.
fn first_two(
    position: &Position,
    from: Square,
    colour: Colour,
    direction: Direction,
) -> Option<(Square, Kind)> {
    let next = |square: Square| {
        std::iter::successors(square.step(direction), |square| square.step(direction))
            .find_map(|square| Some((square, position.on(square)?)))
    };
    let (candidate, first) = next(from)?;
    let (_, second) = next(candidate)?;
    (first.colour == colour && second.colour != colour).then_some((candidate, second.kind))
}

/// Whether a queen has more defenders than attackers, with the pins found so far.
fn is_held(position: &Position, square: Square, queen: Piece, pins: &[Pin]) -> bool {
    let array = attackers(position, square, pins).array;
    array.count(queen.colour) > array.count(queen.colour.other())
}
