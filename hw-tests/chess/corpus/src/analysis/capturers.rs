//! The pieces behind the entries of the attackers array, with their squares.

use sargon_reference::{Capturer, Colour, FiledArray, Pin, Position, Square, capturers};

/// Slots of a section.
const SLOTS: usize = 6;

/// The attackers and defenders of a square in the order of the array.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArrayCapturers {
    sides: [[Vec<Capturer>; SLOTS]; 2],
    /// Pieces whose pins keep them from capturing here.
    pub barred: Vec<Capturer>,
    /// Pieces for which the array has no room.
    pub left_out: Vec<Capturer>,
}

impl ArrayCapturers {
    /// Returns the pieces of a side in the order in which they capture.
    pub fn in_order(&self, colour: Colour) -> impl Iterator<Item = &Capturer> {
        self.sides[colour as usize].iter().flatten()
    }
}

/// Finds the pieces behind the entries of the array that
/// [`attackers`](sargon_reference::attackers) makes.
///
/// # Examples
/// ```
/// use sargon_corpus::analysis::array_capturers;
/// use sargon_reference::{Colour, Square, parse_fen};
///
/// let position = parse_fen("6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -")?;
/// let e4 = Square::named("e4").expect("a square of the board");
/// let found = array_capturers(&position, e4, &[]);
/// let black: Vec<String> =
///     found.in_order(Colour::Black).map(|capturer| capturer.square.to_string()).collect();
/// assert_eq!(black, ["d5", "e7"]);
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
pub fn array_capturers(position: &Position, target: Square, pins: &[Pin]) -> ArrayCapturers {
    let mut found = ArrayCapturers::default();
    let mut filing = FiledArray { array: Default::default(), overflow: false };
    for capturer in capturers(position, target, pins) {
        if !capturer.may_capture {
            found.barred.push(capturer);
            continue;
        }
        match filing.insert(capturer.piece, capturer.behind_queen) {
            Some(entry) => {
                let slot = &mut found.sides[capturer.piece.colour as usize][entry.slot];
                slot.insert(if entry.comes_first { 0 } else { slot.len() }, capturer);
            }
            None => found.left_out.push(capturer),
        }
    }
    found
}
