//! Residues of board and reference as JSON, for `sargon residues` and for reports.

use firmware_wire::SquareRecord;
use serde::{Deserialize, Serialize};

use crate::responses::PositionResponse;
use sargon_corpus::encode;
use sargon_reference::{AttackersArray, Piece, SquareResult};

/// The results for one occupied square.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SquareEntry {
    /// Name of the square; `array` for a single exchange.
    pub square: String,
    /// The piece, as a letter of FEN.
    pub piece: char,
    /// The board's attackers array: White's count and six bytes, then Black's.
    pub array: [u8; 14],
    /// The reference's attackers array, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_array: Option<[u8; 14]>,
    /// The board's residue.
    pub board: u8,
    /// The reference's residue.
    pub reference: Option<u8>,
    /// The board's status bits: 1 overflow, 2 short.
    pub status: u8,
    /// T-states of ATTACK and XCHNG; null if the board is not simulated.
    pub t_states: Option<u64>,
}

pub(crate) fn exchange_entry(
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

/// Returns the board's results for the occupied squares, each with the reference's.
pub fn square_entries(verdicts: &[SquareResult], seen: &PositionResponse) -> Vec<SquareEntry> {
    let entry = |(index, record): (usize, &SquareRecord)| {
        let is_here = |verdict: &&SquareResult| encode::square(verdict.square) == record.square;
        let verdict = verdicts.iter().find(is_here);
        SquareEntry {
            square: square_name(record.square),
            piece: encode::decode_piece(record.piece).map_or('?', Piece::letter),
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

/// Returns the name of a square by its number on the board; `?` and the number if it has none.
pub fn square_name(number: u8) -> String {
    encode::decode_square(number).map_or_else(|| format!("?{number}"), |at| at.to_string())
}
