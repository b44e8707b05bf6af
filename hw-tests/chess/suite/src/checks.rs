//! The replies that the reference expects for a position, and their CRC-32 (CHECKS).

use firmware_wire::{Pin, PointsReply, PositionEnd, PositionWithMove, SquareRecord, crc32};

use crate::compare::{Criteria, all_statuses, points_reply, royals, status_of};
use crate::responses::PositionResponse;
use sargon_corpus::analysis::Prizes;
use sargon_corpus::encode;
use sargon_reference::{Colour, Evaluation, Position, Square, SquareResult, evaluate_as};

/// The expected replies to POSITION and POINTS for one position, and their CRC-32.
#[derive(Debug, Clone)]
pub(crate) struct ExpectedPosition {
    /// The last move that POINTS assumes: who moved, and to where.
    pub(crate) last_move: (Colour, Option<Square>),
    pub(crate) request: PositionWithMove,
    /// The reply to POSITION, with the points.
    pub(crate) response: PositionResponse,
    /// The CRC-32 of both.
    pub(crate) crc: u32,
}

impl ExpectedPosition {
    pub(crate) fn new(position: &Position, criteria: Criteria) -> Self {
        let evaluation = evaluate_as(position, criteria.behaviour);
        let verdicts = &evaluation.squares;
        let (mover, moved) = last_move(position, verdicts);
        let request = PositionWithMove {
            squares: encode::squares(position),
            side_moved: encode::colour(mover),
            moved_to: moved.map_or(0, encode::square),
        };
        let residues = verdicts.iter().map(|v| (v.square, v.piece, v.outcome.residue));
        let status = all_statuses(verdicts) & criteria.status_mask;
        let points = points_reply(&Prizes::gather(mover, moved, residues), status);
        let mut response = position_response(position, &evaluation, criteria.status_mask);
        let crc = position_crc(&response, &points);
        response.end.points = Some(points);
        Self { last_move: (mover, moved), request, response, crc }
    }
}

fn position_response(position: &Position, evaluation: &Evaluation, mask: u8) -> PositionResponse {
    let Evaluation { squares: verdicts, final_pin_list, .. } = evaluation;
    let end = PositionEnd {
        parts: 0, // not part of the CRC
        squares: count(verdicts.len()),
        status: all_statuses(verdicts) & mask,
        royals: royals(position),
        pins: final_pin_list.iter().map(|&(square, step)| Pin { square, step }).collect(),
        points: None,
    };
    let squares = verdicts.iter().map(|verdict| square_record(verdict, mask)).collect();
    PositionResponse { squares, end, t_states: None }
}

fn square_record(verdict: &SquareResult, mask: u8) -> SquareRecord {
    SquareRecord {
        square: encode::square(verdict.square),
        piece: encode::piece(verdict.piece),
        status: status_of(verdict) & mask,
        residue: verdict.outcome.residue,
        array: verdict.array.to_bytes(),
    }
}

/// Returns the CRC-32 over both replies, in the byte order of the protocol.
pub(crate) fn position_crc(response: &PositionResponse, points: &PointsReply) -> u32 {
    let mut bytes = Vec::new();
    for one in &response.squares {
        bytes.extend(one.array);
        bytes.extend([one.square, one.piece, one.status, one.residue]);
    }
    let PositionEnd { squares, status, royals, pins, .. } = &response.end;
    bytes.extend([*squares, *status]);
    bytes.extend(royals);
    bytes.push(count(pins.len()));
    bytes.extend(pins.iter().flat_map(|pin| [pin.square, pin.step.cast_unsigned()]));
    bytes.push(points.lost);
    bytes.extend(points.prizes);
    bytes.push(points.danger);
    bytes.extend(points.article);
    bytes.extend(points.original);
    bytes.push(points.status);
    crc32(&bytes)
}

/// Returns a number of squares or pins as a byte of the protocol.
fn count(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// Chooses the last move that POINTS assumes: who moved, and to where. The square is unknown, or
/// the mover's first or last one with a residue, or its last one. The number of pieces decides, so
/// that a corpus has all four kinds.
pub(crate) fn last_move(
    position: &Position,
    verdicts: &[SquareResult],
) -> (Colour, Option<Square>) {
    let mover = position.to_move.other();
    let mut own = verdicts.iter().filter(|verdict| verdict.piece.colour == mover);
    let is_lost = |verdict: &&SquareResult| verdict.outcome.residue > 0;
    let chosen = match verdicts.len() % 4 {
        0 => None,
        1 => own.find(is_lost),
        2 => own.rfind(is_lost),
        _ => own.next_back(),
    };
    (mover, chosen.map(|verdict| verdict.square))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sargon_corpus::{CaseInput, builtin_corpus};
    use sargon_reference::evaluate;

    #[test]
    fn last_moves_of_all_four_kinds_are_chosen_by_the_number_of_pieces() {
        let mut kinds = [0; 4];
        for case in builtin_corpus().expect("the corpus") {
            let CaseInput::Position { position, .. } = &case.subject else { continue };
            let (_, verdicts) = evaluate(position);
            let (mover, moved) = last_move(position, &verdicts);
            assert_ne!(mover, position.to_move);
            let own: Vec<_> = verdicts.iter().filter(|at| at.piece.colour == mover).collect();
            let mut lost = own.iter().filter(|at| at.outcome.residue > 0).map(|at| at.square);
            let first = lost.next();
            let last = lost.next_back();
            let last_of_all = own.last().map(|at| at.square);
            match verdicts.len() % 4 {
                0 => assert_eq!(moved, None, "{}", case.id),
                1 => assert_eq!(moved, first, "{}", case.id),
                2 => assert_eq!(moved, last.or(first), "{}", case.id),
                _ => assert_eq!(moved, last_of_all, "{}", case.id),
            }
            kinds[verdicts.len() % 4] += i32::from(last.is_some() && last_of_all != last);
        }
        assert!(
            kinds.iter().all(|count| *count > 0),
            "each kind differs from the others: {kinds:?}"
        );
    }
}
