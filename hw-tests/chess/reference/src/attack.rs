//! The attackers of a square and the defenders of the piece on it.

use super::array::{AttackersArray, FiledArray};
use super::pin::Pin;
use super::position::{Direction, Piece, Position, Square};
use super::scan::{ScanHit, scan};

/// Files all attackers and defenders of a square, direct or through pieces of their own colour that
/// attack along the same line. Pieces behind one of the other colour, a knight or a king are not
/// found. The piece on the square itself does not matter.
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
pub fn attackers(position: &Position, target: Square, pins: &[Pin]) -> FiledArray {
    let mut filing = FiledArray { array: AttackersArray::default(), overflow: false };
    scan(position, target, &mut |met| {
        if may_move_along(met.square, met.direction, pins) {
            filing.insert(met.piece, met.behind_queen);
        }
    });
    filing
}

/// An attacker or defender of a square, pinned or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capturer {
    /// Its square.
    pub square: Square,
    /// The piece.
    pub piece: Piece,
    /// It is a queen, or a queen is before it on its line.
    pub behind_queen: bool,
    /// Another piece of its colour is before it on its line.
    pub is_behind: bool,
    /// It is pinned, even if it may capture along the pin.
    pub is_pinned: bool,
    /// Its pins do not keep it from capturing.
    pub may_capture: bool,
}

/// Returns all attackers and defenders of a square, in the order in which [`attackers`] files them.
///
/// # Examples
/// ```
/// use sargon_reference::{Square, capturers, find_pins, parse_fen};
///
/// // The rook behind the other one, and a pinned knight.
/// let position = parse_fen("3r2k1/3r4/8/8/3R4/1K1N3r/8/8 w - -")?;
/// let d4 = Square::named("d4").expect("a square of the board");
/// let found = capturers(&position, d4, &find_pins(&position));
/// let behind: Vec<bool> = found.iter().map(|capturer| capturer.is_behind).collect();
/// assert_eq!(behind, [false, true]);
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
pub fn capturers(position: &Position, target: Square, pins: &[Pin]) -> Vec<Capturer> {
    let mut found = Vec::new();
    let mut last = None;
    scan(position, target, &mut |ScanHit { square, piece, direction, behind_queen }| {
        let is_behind = last.replace(direction) == Some(direction);
        let is_pinned = pins.iter().any(|pin| pin.square == square);
        let may_capture = may_move_along(square, direction, pins);
        found.push(Capturer { square, piece, behind_queen, is_behind, is_pinned, may_capture });
    });
    found
}

/// Returns `true` if pins allow a move along `direction`: one pin along its own line, two never.
fn may_move_along(square: Square, direction: Direction, pins: &[Pin]) -> bool {
    let mut own = pins.iter().filter(|pin| pin.square == square);
    match (own.next(), own.next()) {
        (None, _) => true,
        (Some(pin), None) => pin.direction == direction || pin.direction == direction.reversed(),
        _ => false,
    }
}
