//! Residues by board and reference as entries of JSON, for the command `residues` and for reports.

use firmware_wire::SquareRecord;
use serde::{Deserialize, Serialize};

use crate::answers::Observation;
use sargon_corpus::encode;
use sargon_reference::{AttackersArray, Behaviour, Piece, Position, Verdict, examine_as};

/// The answers of board and reference about a position.
#[derive(Debug, Serialize)]
pub struct Found {
    /// Pinned pieces by the board.
    pub pins: Vec<PinEntry>,
    /// The occupied squares, a1 to h1 first.
    pub squares: Vec<SquareEntry>,
}

/// A pinned piece.
#[derive(Debug, Serialize)]
pub struct PinEntry {
    /// Its square.
    pub square: String,
    /// The step of the pin on a board of ten squares a row, outwards from the royal piece.
    pub step: i8,
}

/// One occupied square.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SquareEntry {
    /// Its name; `array` for an exchange that was asked for by itself.
    pub square: String,
    /// The piece: a letter of FEN.
    pub piece: char,
    /// The attackers array by the board: White's count and six bytes, then Black's.
    pub array: [u8; 14],
    /// The same by the reference, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_array: Option<[u8; 14]>,
    /// The residue by the board.
    pub board: u8,
    /// The residue by the reference.
    pub reference: Option<u8>,
    /// Status bits by the board: 1 overflow, 2 short.
    pub status: u8,
    /// T-states of ATTACK and XCHNG; null where the board can't count them.
    pub t_states: Option<u64>,
}

/// Puts the findings of board and reference side by side.
#[must_use]
pub fn found(position: &Position, behaviour: Behaviour, seen: &Observation) -> Found {
    let pins = seen.end.pins.iter();
    let pins = pins.map(|pin| PinEntry { square: name(pin.square), step: pin.step });
    let squares = squares(&examine_as(position, behaviour).verdicts, seen);
    Found { pins: pins.collect(), squares }
}

/// Makes an entry of an exchange that was asked for by itself.
pub(crate) fn exchange(
    piece: Piece,
    array: &AttackersArray,
    reference: u8,
    (board, status): (u8, u8),
) -> SquareEntry {
    SquareEntry {
        square: "array".to_owned(),
        piece: piece.letter(),
        array: array.to_bytes(),
        reference_array: None,
        board,
        reference: Some(reference),
        status,
        t_states: None,
    }
}

/// The occupied squares by the board, each with the reference's verdict on it.
pub(crate) fn squares(verdicts: &[Verdict], seen: &Observation) -> Vec<SquareEntry> {
    let entry = |(index, record): (usize, &SquareRecord)| {
        let is_here = |verdict: &&Verdict| encode::square(verdict.square) == record.square;
        let verdict = verdicts.iter().find(is_here);
        SquareEntry {
            square: name(record.square),
            piece: letter(encode::decode_piece(record.piece)),
            array: record.array,
            reference_array: (verdict.map(|verdict| verdict.array.to_bytes()))
                .filter(|array| *array != record.array),
            board: record.residue,
            reference: verdict.map(|verdict| verdict.outcome.residue),
            status: record.status,
            t_states: seen.t_states.as_ref().and_then(|times| times.get(index).copied()),
        }
    };
    seen.squares.iter().enumerate().map(entry).collect()
}

fn name(number: u8) -> String {
    encode::decode_square(number).map_or_else(|| format!("?{number}"), |at| at.to_string())
}

fn letter(piece: Option<Piece>) -> char {
    piece.map_or('?', Piece::letter)
}
