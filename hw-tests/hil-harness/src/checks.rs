//! The checks of CHECKS as the reference has them: what the board should answer for a position, and
//! the CRC-32 over it (docs/PROTOCOL.md, "26h CHECKS").

use firmware_wire::{CheckedPosition, Pin, PointsReply, PositionEnd, SquareRecord, crc32, danger};

use crate::answers::Observation;
use crate::compare::{Standard, all_statuses, royals, status_of};
use sargon_analysis::{Account, Prizes};
use sargon_corpus::encode;
use sargon_reference::{Colour, Examination, Position, Square, Verdict, examine_as};

/// The right answers to both questions about a position, and their check.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    /// The last move that the host chooses for POINTS.
    pub(crate) last_move: (Colour, Option<Square>),
    /// The position as CHECKS takes it.
    pub(crate) request: CheckedPosition,
    /// The answer to POSITION, without T-states.
    pub(crate) observation: Observation,
    /// The answer to POINTS.
    pub(crate) points: PointsReply,
    /// The CRC-32 over both.
    pub(crate) check: u32,
}

impl Expected {
    /// Examines a position by the reference.
    pub(crate) fn new(position: &Position, standard: Standard) -> Self {
        let examination = examine_as(position, standard.behaviour);
        let verdicts = &examination.verdicts;
        let (mover, moved) = last_move(position, verdicts);
        let request = CheckedPosition {
            squares: encode::squares(position),
            mover: encode::colour(mover),
            moved: moved.map_or(0, encode::square),
        };
        let residues = verdicts.iter().map(|v| (v.square, v.piece, v.outcome.residue));
        let status = all_statuses(verdicts) & standard.status;
        let points = reply(&Prizes::gather(mover, moved, residues), status);
        let observation = observation(position, &examination, standard.status);
        let check = check(&observation, &points);
        Self { last_move: (mover, moved), request, observation, points, check }
    }
}

/// The answer to POSITION.
fn observation(position: &Position, examination: &Examination, mask: u8) -> Observation {
    let Examination { verdicts, pins_left, .. } = examination;
    let end = PositionEnd {
        parts: 0, // the check does not have it
        squares: count(verdicts.len()),
        status: all_statuses(verdicts) & mask,
        royals: royals(position),
        pins: pins_left.iter().map(|&(square, step)| Pin { square, step }).collect(),
        points: None,
    };
    let squares = verdicts.iter().map(|verdict| record(verdict, mask)).collect();
    Observation { squares, end, t_states: None }
}

fn record(verdict: &Verdict, mask: u8) -> SquareRecord {
    SquareRecord {
        square: encode::square(verdict.square),
        piece: encode::piece(verdict.piece),
        status: status_of(verdict) & mask,
        residue: verdict.outcome.residue,
        array: verdict.array.to_bytes(),
    }
}

/// The answer to POINTS.
fn reply(prizes: &Prizes, status: u8) -> PointsReply {
    let account = |account: Account| [account.lost, account.won];
    PointsReply {
        lost: prizes.lost,
        prizes: [prizes.first, prizes.second],
        danger: u8::from(prizes.article_danger) * danger::ARTICLE
            + u8::from(prizes.book_danger) * danger::BOOK,
        article: account(prizes.article()),
        book: account(prizes.book()),
        status,
    }
}

/// The CRC-32 over the answers in the order of the protocol.
pub(crate) fn check(observation: &Observation, points: &PointsReply) -> u32 {
    let mut bytes = Vec::new();
    for one in &observation.squares {
        bytes.extend(one.array);
        bytes.extend([one.square, one.piece, one.status, one.residue]);
    }
    let PositionEnd { squares, status, royals, pins, .. } = &observation.end;
    bytes.extend([*squares, *status]);
    bytes.extend(royals);
    bytes.push(count(pins.len()));
    bytes.extend(pins.iter().flat_map(|pin| [pin.square, pin.step.cast_unsigned()]));
    bytes.push(points.lost);
    bytes.extend(points.prizes);
    bytes.push(points.danger);
    bytes.extend(points.article);
    bytes.extend(points.book);
    bytes.push(points.status);
    crc32(&bytes)
}

/// A number of squares or pins as the board has it.
fn count(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// The move to take for the last one: who made it, and where it ended. That is not known, or the
/// mover's first or last square that has a residue, or its last of all: the number of pieces
/// decides, so that a corpus has all of these.
pub(crate) fn last_move(position: &Position, verdicts: &[Verdict]) -> (Colour, Option<Square>) {
    let mover = position.to_move.other();
    let mut own = verdicts.iter().filter(|verdict| verdict.piece.colour == mover);
    let is_lost = |verdict: &&Verdict| verdict.outcome.residue > 0;
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
    use sargon_corpus::{Subject, shipped};
    use sargon_reference::examine;

    #[test]
    fn last_moves_of_all_four_kinds_are_chosen_by_the_number_of_pieces() {
        let mut kinds = [0; 4];
        for case in shipped().expect("the corpus") {
            let Subject::Position { position, .. } = &case.subject else { continue };
            let (_, verdicts) = examine(position);
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
        assert!(kinds.iter().all(|count| *count > 0), "each can be told from others: {kinds:?}");
    }
}
