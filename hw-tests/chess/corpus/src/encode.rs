//! Conversions between the reference's types and the board's encoding.

use crate::analysis::{ExchangeSide, ExchangeStep, StepAction};
use firmware::evaluator;
use firmware_wire::{self as wire, StepRecord};
use sargon_reference::{Behaviour, Colour, Piece, PieceKind, Position, Square};

/// Encodes a colour: bit 7 is set for Black.
pub fn colour(colour: Colour) -> u8 {
    if colour == Colour::Black { 0x80 } else { 0 }
}

/// Encodes a piece: bit 7 colour, bits 2-0 type.
pub fn piece(piece: Piece) -> u8 {
    colour(piece.colour) | (piece.kind as u8 + 1)
}

/// Decodes a piece; `None` if its type is invalid.
pub fn decode_piece(byte: u8) -> Option<Piece> {
    let kind = *PieceKind::ALL.get(usize::from(byte & 7).checked_sub(1)?)?;
    let colour = if byte & 0x80 != 0 { Colour::Black } else { Colour::White };
    Some(Piece { colour, kind })
}

/// Encodes a square: 21 + file + 10 * rank.
pub fn square(square: Square) -> u8 {
    21 + square.file() + 10 * square.rank()
}

/// Decodes a square; `None` beyond the edge.
pub fn decode_square(number: u8) -> Option<Square> {
    let within = number.checked_sub(21)?;
    Square::new(within % 10, within / 10)
}

/// Returns the behaviour of the reference that judges an evaluator of this behaviour.
pub fn behaviour(built: evaluator::Behaviour) -> Behaviour {
    match built {
        evaluator::Behaviour::Corrected | evaluator::Behaviour::Fast => Behaviour::Corrected,
        evaluator::Behaviour::Original => Behaviour::Original,
    }
}

/// Encodes the pieces of a position: 4-bit codes, two a byte, the earlier square low.
pub fn squares(position: &Position) -> [u8; 32] {
    let code = |at: Square| {
        position.on(at).map_or(0, |on| {
            let black = if on.colour == Colour::Black { 8 } else { 0 };
            black | (on.kind as u8 + 1)
        })
    };
    let codes: Vec<u8> = Square::all().map(code).collect();
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(codes.chunks(2)) {
        *byte = pair[0] | pair[1] << 4;
    }
    bytes
}

/// Encodes a step of an exchange as the board reports it.
pub fn step(step: &ExchangeStep) -> StepRecord {
    let action = match step.action {
        StepAction::Takes => wire::step::TAKES,
        StepAction::TakesLast => wire::step::TAKES_LAST,
        StepAction::NeedsHelp => wire::step::NEEDS_HELP,
        StepAction::HasNoHelp => wire::step::HAS_NO_HELP,
        StepAction::Stops => wire::step::STOPS,
    };
    let party = if step.party == ExchangeSide::Defenders { wire::step::DEFENDERS } else { 0 };
    let ExchangeStep { stake, attacker, defender, residue, .. } = *step;
    let defender = defender.unwrap_or(0);
    let [residue, _] = residue.to_le_bytes(); // two's complement, as the board has it
    StepRecord { action: action | party, stake, attacker, defender, residue }
}
