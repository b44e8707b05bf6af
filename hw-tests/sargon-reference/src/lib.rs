//! The host reference: the exchange evaluator's rules in Rust's own terms, an oracle for the board.
//!
//! It knows no firmware, no wire and no simulator, and shares no table with the Z80 code. The rules
//! are those of the article (D. and K. Spracklen, "An Exchange Evaluator for Computer Chess", BYTE,
//! September 1978) and of the program that the authors published in the same year: with its faults
//! mended, or as it was ([`Behaviour`]).
//!
//! ```
//! use sargon_reference::{Square, examine, parse_fen};
//!
//! // Two knights and a bishop against a pawn and a queen: Black's knight loses a point.
//! let position = parse_fen("6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -")?;
//! let (pins, verdicts) = examine(&position);
//! assert!(pins.is_empty());
//! let knight = verdicts.iter().find(|verdict| Some(verdict.square) == Square::named("e4"));
//! assert_eq!(knight.map(|verdict| verdict.outcome.residue), Some(1));
//! # Ok::<(), sargon_reference::FenError>(())
//! ```

mod array;
mod attack;
mod exchange;
mod fen;
mod minimax;
mod pins;
mod position;
mod printed;

pub use array::{AttackersArray, Entry, Filing};
pub use attack::{Bearer, attackers, bearers};
pub use exchange::{Booking, ExchangeResult, exchange};
pub use fen::{FenError, parse_fen};
pub use minimax::minimax;
pub use pins::{Pin, find_pins};
pub use position::{Colour, Direction, Kind, Piece, Position, Square};

/// The evaluator's findings on one occupied square.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The square.
    pub square: Square,
    /// The piece on it.
    pub piece: Piece,
    /// Its attackers and defenders.
    pub array: AttackersArray,
    /// A piece found no room in the array.
    pub overflow: bool,
    /// A piece was filed behind a queen without standing there, or not although it does. Never when
    /// mended.
    pub misfiled: bool,
    /// The exchange.
    pub outcome: ExchangeResult,
}

/// The treatment of the faults of the program of 1978.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Behaviour {
    /// Faults mended, bounds kept.
    #[default]
    Mended,
    /// Faults included, as in the program printed in 1978.
    AsIn1978,
}

/// The evaluator's findings on a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// The pins, in the order in which they are found.
    pub pins: Vec<Pin>,
    /// The occupied squares, a1 to h1 first.
    pub verdicts: Vec<Verdict>,
    /// The pin list at the end, as the program numbers squares (a1 is 21, a2 is 31) and steps. As
    /// in 1978, attackers without room and walks without end may have changed it.
    pub pins_left: Vec<(u8, i8)>,
}

/// Examines every occupied square, a1 to h1 first: the pins, and the verdicts with faults mended.
#[must_use]
pub fn examine(position: &Position) -> (Vec<Pin>, Vec<Verdict>) {
    let pins = find_pins(position);
    let verdicts = position.pieces().map(|(square, piece)| {
        let Filing { array, overflow } = attackers(position, square, &pins);
        let outcome = exchange(piece, &array);
        Verdict { square, piece, array, overflow, misfiled: false, outcome }
    });
    let verdicts = verdicts.collect();
    (pins, verdicts)
}

/// Examines every occupied square with faults mended or as in 1978.
///
/// # Examples
/// ```
/// use sargon_reference::{Behaviour, examine_as, parse_fen};
///
/// let position = parse_fen("4k3/8/8/3p4/8/8/8/3RK3 w - -")?;
/// let mended = examine_as(&position, Behaviour::Mended);
/// let residues: Vec<u8> =
///     mended.verdicts.iter().map(|verdict| verdict.outcome.residue).collect();
/// // Rook, king, pawn, king: only the pawn is attacked, and nothing guards it.
/// assert_eq!(residues, [0, 0, 1, 0]);
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
#[must_use]
pub fn examine_as(position: &Position, behaviour: Behaviour) -> Examination {
    match behaviour {
        Behaviour::AsIn1978 => printed::examine(position),
        Behaviour::Mended => {
            let (pins, verdicts) = examine(position);
            let pins_left = printed::as_listed(&pins);
            Examination { pins, verdicts, pins_left }
        }
    }
}

/// Plays out an exchange on a given array with faults mended or as in 1978.
///
/// # Examples
/// ```
/// use sargon_reference::{AttackersArray, Behaviour, Colour, Kind, Piece, exchange_as};
///
/// // White's pawn attacks Black's queen, which nothing guards.
/// let array = AttackersArray::from_bytes(&[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// let queen = Piece { colour: Colour::Black, kind: Kind::Queen };
/// assert_eq!(exchange_as(queen, &array, Behaviour::AsIn1978).residue, 9);
/// ```
#[must_use]
pub fn exchange_as(target: Piece, array: &AttackersArray, behaviour: Behaviour) -> ExchangeResult {
    match behaviour {
        Behaviour::Mended => exchange(target, array),
        Behaviour::AsIn1978 => printed::exchange(target, array),
    }
}
