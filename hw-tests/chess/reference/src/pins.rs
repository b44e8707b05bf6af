//! Pins: pieces that can't leave a line without exposing their king or queen.

use super::attack::attackers;
use super::pin::Pin;
use super::position::{Colour, Direction, Piece, PieceKind, Position, Square};

/// A piece between a king or queen and an enemy piece that moves along their line.
pub(super) struct PinCandidate {
    pub(super) royal: Piece,
    pub(super) square: Square,
    /// The piece between.
    pub(super) pin: Pin,
    /// Whether the enemy is a queen.
    pub(super) by_queen: bool,
}

/// Finds the pins against both kings and both queens, in the order White's king, Black's king,
/// White's queen, Black's queen. A queen counts as a king does, guarded or not, with one
/// exception: a pin of a queen by a queen counts only if the pinned side's queen has no more
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
pub fn find_pins(position: &Position) -> Vec<Pin> {
    let mut pins = Vec::new();
    scan_pin_candidates(position, &mut |PinCandidate { royal, square, pin, by_queen }| {
        let can_be_defended = royal.kind == PieceKind::Queen && by_queen;
        if !(can_be_defended && is_defended(position, square, royal, &pins)) {
            pins.push(pin);
        }
    });
    pins
}

/// Finds the pieces that may be pinned, in the program's order.
pub(super) fn scan_pin_candidates(position: &Position, found: &mut impl FnMut(PinCandidate)) {
    for kind in [PieceKind::King, PieceKind::Queen] {
        for colour in [Colour::White, Colour::Black] {
            if let Some(square) = position.royal(colour, kind) {
                scan_pin_candidates_around(position, square, Piece { colour, kind }, found);
            }
        }
    }
}

fn scan_pin_candidates_around(
    position: &Position,
    square: Square,
    royal: Piece,
    found: &mut impl FnMut(PinCandidate),
) {
    for (slider, directions) in
        [(PieceKind::Bishop, Direction::DIAGONAL), (PieceKind::Rook, Direction::STRAIGHT)]
    {
        for direction in directions {
            let Some((candidate, pinner)) = first_two(position, square, royal.colour, direction)
            else {
                continue;
            };
            let by_queen = pinner == PieceKind::Queen;
            if by_queen || pinner == slider {
                let pin = Pin { square: candidate, direction };
                found(PinCandidate { royal, square, pin, by_queen });
            }
        }
    }
}

/// Returns the piece of `colour` that is first on the line, if an enemy piece follows it.
fn first_two(
    position: &Position,
    from: Square,
    colour: Colour,
    direction: Direction,
) -> Option<(Square, PieceKind)> {
    let next = |square: Square| {
        std::iter::successors(square.step(direction), |square| square.step(direction))
            .find_map(|square| Some((square, position.on(square)?)))
    };
    let (candidate, first) = next(from)?;
    let (_, second) = next(candidate)?;
    (first.colour == colour && second.colour != colour).then_some((candidate, second.kind))
}

/// Returns `true` if a queen has more defenders than attackers, given the pins found so far.
fn is_defended(position: &Position, square: Square, queen: Piece, pins: &[Pin]) -> bool {
    let array = attackers(position, square, pins).array;
    array.count(queen.colour) > array.count(queen.colour.other())
}
