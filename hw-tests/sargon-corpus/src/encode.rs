//! Between the reference's terms and the board's: squares, pieces and behaviours.

use firmware::evaluator;
use firmware_wire::{self as wire, StepRecord};

use sargon_analysis::{Action, Party, Step};
use sargon_reference::{Behaviour, Colour, Kind, Piece, Position, Square};

/// A colour as the board has it: bit 7 is set for Black.
#[must_use]
pub fn colour(colour: Colour) -> u8 {
    if colour == Colour::Black { 0x80 } else { 0 }
}

/// A piece as the board has it: bit 7 colour, bits 2-0 type.
#[must_use]
pub fn piece(piece: Piece) -> u8 {
    colour(piece.colour) | (piece.kind as u8 + 1)
}

/// A piece of the board in the reference's terms; `None` when its type means nothing.
#[must_use]
pub fn decode_piece(byte: u8) -> Option<Piece> {
    let kind = *Kind::ALL.get(usize::from(byte & 7).checked_sub(1)?)?;
    let colour = if byte & 0x80 != 0 { Colour::Black } else { Colour::White };
    Some(Piece { colour, kind })
}

/// A square as the board numbers it: 21 + file + 10 * rank.
#[must_use]
pub fn square(square: Square) -> u8 {
    21 + square.file() + 10 * square.rank()
}

/// A square of the board in the reference's terms; `None` beyond the edge.
#[must_use]
pub fn decode_square(number: u8) -> Option<Square> {
    let within = number.checked_sub(21)?;
    Square::new(within % 10, within / 10)
}

/// Returns the behaviour of the reference that judges an evaluator of this behaviour.
#[must_use]
pub fn behaviour(built: evaluator::Behaviour) -> Behaviour {
    match built {
        evaluator::Behaviour::Mended | evaluator::Behaviour::Fast => Behaviour::Mended,
        evaluator::Behaviour::AsIn1978 => Behaviour::AsIn1978,
    }
}

/// A position as it goes over the line: 4-bit codes, two a byte, the earlier square low.
#[must_use]
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

/// A step of an exchange as the board reports it.
#[must_use]
pub fn step(step: &Step) -> StepRecord {
    let action = match step.action {
        Action::Takes => wire::step::TAKES,
        Action::TakesLast => wire::step::TAKES_LAST,
        Action::NeedsHelp => wire::step::NEEDS_HELP,
        Action::HasNoHelp => wire::step::HAS_NO_HELP,
        Action::Stops => wire::step::STOPS,
    };
    let party = if step.party == Party::Defenders { wire::step::DEFENDERS } else { 0 };
    let Step { stake, attacker, defender, residue, .. } = *step;
    let defender = defender.unwrap_or(0);
    let [residue, _] = residue.to_le_bytes(); // two's complement, as the board has it
    StepRecord { what: action | party, stake, attacker, defender, residue }
}
