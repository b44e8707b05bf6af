//! The host reference: an independent implementation of Sargon's exchange evaluator, against which
//! boards are judged.
//!
//! It shares no code or table with the Z80 sources and depends on no firmware crate. The rules
//! are those of the article (D. and K. Spracklen, "An Exchange Evaluator for Computer Chess", BYTE,
//! September 1978) and of the program that the authors published in the same year: with its bugs
//! corrected, or as it was ([`Behaviour`]).
//!
//! ```
//! use sargon_reference::{Square, evaluate, parse_fen};
//!
//! // Two knights and a bishop against a pawn and a queen: Black's knight loses a point.
//! let position = parse_fen("6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -")?;
//! let (pins, squares) = evaluate(&position);
//! assert!(pins.is_empty());
//! let knight = squares.iter().find(|result| Some(result.square) == Square::named("e4"));
//! assert_eq!(knight.map(|result| result.outcome.residue), Some(1));
//! # Ok::<(), sargon_reference::FenError>(())
//! ```

mod array;
mod attack;
mod exchange;
mod fen;
mod minimax;
mod original;
mod pin;
mod pins;
mod position;
mod scan;

pub use array::{AttackersArray, Entry, FiledArray};
pub use attack::{Capturer, attackers, capturers};
pub use exchange::{Booking, ExchangeResult, exchange};
pub use fen::{FenError, parse_fen};
pub use minimax::minimax;
pub use pin::Pin;
pub use pins::find_pins;
pub use position::{Colour, Direction, Piece, PieceKind, Position, Square};

/// The evaluator's result for one occupied square.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SquareResult {
    /// The square.
    pub square: Square,
    /// The piece on it.
    pub piece: Piece,
    /// Its attackers and defenders.
    pub array: AttackersArray,
    /// The array had no room for a piece.
    pub overflow: bool,
    /// A piece was filed as if behind a queen or the reverse; never when corrected.
    pub misfiled: bool,
    /// The exchange.
    pub outcome: ExchangeResult,
}

/// The treatment of the bugs of the original program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Behaviour {
    /// Bugs corrected, bounds checked.
    #[default]
    Corrected,
    /// Bugs included, as in the program printed in 1978.
    Original,
}

/// The evaluator's result for a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// The pins, in the order in which they are found.
    pub pins: Vec<Pin>,
    /// The occupied squares, a1 to h1 first.
    pub squares: Vec<SquareResult>,
    /// The pin list at the end, as the program numbers squares (a1 is 21, a2 is 31) and steps. The
    /// original may have changed it, by attackers without room or reads beyond a section.
    pub final_pin_list: Vec<(u8, i8)>,
}

/// Evaluates every occupied square, corrected; returns pins and squares, a1 first.
pub fn evaluate(position: &Position) -> (Vec<Pin>, Vec<SquareResult>) {
    let pins = find_pins(position);
    let verdicts = position.pieces().map(|(square, piece)| {
        let FiledArray { array, overflow } = attackers(position, square, &pins);
        let outcome = exchange(piece, &array);
        SquareResult { square, piece, array, overflow, misfiled: false, outcome }
    });
    let verdicts = verdicts.collect();
    (pins, verdicts)
}

/// Evaluates every occupied square with a behaviour.
///
/// # Examples
/// ```
/// use sargon_reference::{Behaviour, evaluate_as, parse_fen};
///
/// let position = parse_fen("4k3/8/8/3p4/8/8/8/3RK3 w - -")?;
/// let corrected = evaluate_as(&position, Behaviour::Corrected);
/// let residues: Vec<u8> =
///     corrected.squares.iter().map(|square| square.outcome.residue).collect();
/// // Rook, king, pawn, king: only the pawn is attacked, and nothing guards it.
/// assert_eq!(residues, [0, 0, 1, 0]);
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
pub fn evaluate_as(position: &Position, behaviour: Behaviour) -> Evaluation {
    match behaviour {
        Behaviour::Original => original::evaluate(position),
        Behaviour::Corrected => {
            let (pins, verdicts) = evaluate(position);
            let final_pin_list = original::listed_pins(&pins);
            Evaluation { pins, squares: verdicts, final_pin_list }
        }
    }
}

/// Evaluates an exchange on a given array with a behaviour.
///
/// # Examples
/// ```
/// use sargon_reference::{AttackersArray, Behaviour, Colour, PieceKind, Piece, exchange_as};
///
/// // White's pawn attacks Black's queen, which nothing guards.
/// let array = AttackersArray::from_bytes(&[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// let queen = Piece { colour: Colour::Black, kind: PieceKind::Queen };
/// assert_eq!(exchange_as(queen, &array, Behaviour::Original).residue, 9);
/// ```
pub fn exchange_as(target: Piece, array: &AttackersArray, behaviour: Behaviour) -> ExchangeResult {
    match behaviour {
        Behaviour::Corrected => exchange(target, array),
        Behaviour::Original => original::exchange(target, array),
    }
}
