//! Residues of positions as JSON, one line a position.

use serde::Serialize;

use crate::encode;
use crate::reference::{Behaviour, Position, examine_as};
use crate::rig::Observation;

/// One line of `hw-tests residues`.
#[derive(Debug, Serialize)]
pub struct Line {
    /// The position, as it was given.
    pub fen: String,
    /// Pinned pieces by the board.
    pub pins: Vec<PinEntry>,
    /// The occupied squares, a1 to h1 first.
    pub squares: Vec<SquareEntry>,
}

/// A pinned piece.
#[derive(Debug, Serialize)]
pub struct PinEntry {
    /// Where it stands.
    pub square: String,
    /// The step of the pin on a board of ten squares a row, outwards from the royal piece.
    pub step: i8,
}

/// One occupied square.
#[derive(Debug, Serialize)]
pub struct SquareEntry {
    /// Its name.
    pub square: String,
    /// The piece: a letter of FEN.
    pub piece: char,
    /// The attackers array by the board: White's count and six bytes, then Black's.
    pub array: [u8; 14],
    /// The residue by the board.
    pub board: u8,
    /// The residue by the reference.
    pub reference: Option<u8>,
    /// Status bits by the board: 1 overflow, 2 short.
    pub status: u8,
    /// T-states of ATTACK and XCHNG; null where the board can't count them.
    pub t_states: Option<u64>,
}

/// Puts the board's word and the reference's side by side.
#[must_use]
pub fn line(fen: &str, position: &Position, behaviour: Behaviour, seen: &Observation) -> Line {
    let verdicts = examine_as(position, behaviour).verdicts;
    let name = |number: u8| {
        encode::decode_square(number).map_or_else(|| format!("?{number}"), |at| at.to_string())
    };
    let squares = seen.squares.iter().enumerate().map(|(index, record)| SquareEntry {
        square: name(record.square),
        piece: encode::decode_piece(record.piece).map_or('?', |piece| piece.letter()),
        array: record.array,
        board: record.residue,
        reference: (verdicts.iter())
            .find(|verdict| encode::square(verdict.square) == record.square)
            .map(|verdict| verdict.outcome.residue),
        status: record.status,
        t_states: seen.t_states.as_ref().and_then(|times| times.get(index).copied()),
    });
    let pins = seen.end.pins.iter();
    let pins = pins.map(|pin| PinEntry { square: name(pin.square), step: pin.step });
    Line { fen: fen.to_owned(), pins: pins.collect(), squares: squares.collect() }
}
