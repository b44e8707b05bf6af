//! The host reference: the exchange evaluator's rules in Rust's own terms, an oracle for the board.
//!
//! It knows no firmware, no wire and no simulator, and shares no table with the Z80 code. The rules are those
//! of the article (D. and K. Spracklen, "An Exchange Evaluator for Computer Chess", BYTE, September 1978) and of
//! the program that the authors published in the same year, with its fault in filing attackers mended.

mod array;
mod attack;
mod exchange;
mod fen;
mod minimax;
mod pins;
mod position;

pub use array::{AttackersArray, Filing};
pub use attack::attackers;
pub use exchange::{Booking, Outcome, exchange};
pub use fen::{FenError, parse_fen};
pub use minimax::minimax;
pub use pins::{Pin, find_pins};
pub use position::{Colour, Direction, Kind, Piece, Position, Square};

/// What the evaluator says of one occupied square.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The square.
    pub square: Square,
    /// What stands there.
    pub piece: Piece,
    /// Who attacks and defends it.
    pub array: AttackersArray,
    /// A piece found no room in the array.
    pub overflow: bool,
    /// The exchange.
    pub outcome: Outcome,
}

/// Examines every occupied square, a1 to h1 first.
#[must_use]
pub fn examine(position: &Position) -> (Vec<Pin>, Vec<Verdict>) {
    let pins = find_pins(position);
    let verdicts = position.pieces().map(|(square, piece)| {
        let filing = attackers(position, square, &pins);
        let outcome = exchange(piece, &filing.array);
        Verdict { square, piece, array: filing.array, overflow: filing.overflow, outcome }
    });
    let verdicts = verdicts.collect();
    (pins, verdicts)
}
