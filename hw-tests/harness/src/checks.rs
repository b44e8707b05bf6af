//! The checks of CHECKS as the reference has them: what the board should answer for a position, and
//! the CRC-32 over it (docs/PROTOCOL.md, "26h CHECKS").

use firmware_wire::{CheckedPosition, Pin, PointsReply, PositionEnd, SquareRecord, crc32, danger};

use crate::answers::Observation;
use crate::compare::{Standard, all_statuses, royals, status_of};
use crate::runner::last_move;
use sargon_analysis::{Account, Prizes};
use sargon_cases::encode;
use sargon_reference::{Examination, Position, Verdict, examine_as};

/// The right answers to both questions about a position, and their check.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
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
        Self { request, observation, points, check }
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
fn check(observation: &Observation, points: &PointsReply) -> u32 {
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use firmware::evaluator::{Behaviour, Evaluator};
    use firmware::profile::Profile;

    use super::*;
    use crate::answers::CaseAnswer;
    use crate::board::Choice;
    use crate::live::{LiveBoard, Plan};
    use crate::runner::{Options, Verdict as Outcome, run_cases};
    use sargon_cases::{Case, Subject, shipped};

    fn live(behaviour: Behaviour, full: bool) -> LiveBoard {
        let profile = Profile::named("rc2014-classic").expect("it ships");
        let evaluator = Evaluator { behaviour, own: None };
        let board = Choice::Direct { rom: None };
        let plan = Plan { board, evaluator, full, ..Plan::simulated(profile) };
        LiveBoard::prepare(&plan).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Positions of all kinds: pins, batteries, overflow, boards that are full and empty.
    fn positions() -> Vec<(Case, Position)> {
        let all = shipped().expect("the corpus").into_iter();
        let positions = all.filter_map(|case| match &case.subject {
            Subject::Position { position, .. } => Some((case.clone(), position.clone())),
            Subject::Array { .. } => None,
        });
        let is_odd = |case: &Case| !case.tags.iter().any(|tag| tag == "play");
        let chosen = positions.enumerate().filter(|(at, (case, _))| at % 100 == 0 || is_odd(case));
        chosen.map(|(_, one)| one).collect()
    }

    /// All bytes that the check covers.
    fn bytes<'a>(seen: &'a mut Observation, points: &'a mut PointsReply) -> Vec<&'a mut u8> {
        let mut all: Vec<&mut u8> = Vec::new();
        for one in &mut seen.squares {
            all.extend([&mut one.square, &mut one.piece, &mut one.residue]);
            all.extend(&mut one.array);
        }
        all.extend(&mut seen.end.royals);
        all.extend(seen.end.pins.iter_mut().map(|pin| &mut pin.square));
        let PointsReply { lost, prizes, danger, article, book, .. } = points;
        all.extend([lost, danger]);
        all.extend(prizes.iter_mut().chain(article).chain(book));
        all
    }

    #[test]
    fn the_board_checks_what_it_answers_byte_for_byte() {
        for behaviour in Behaviour::ALL {
            let mut live = live(behaviour, false);
            let standard = live.standard();
            for (case, position) in positions() {
                let expected = Expected::new(&position, standard);
                let (mover, moved) =
                    last_move(&position, &examine_as(&position, standard.behaviour).verdicts);
                let seen = live.position(&position).expect("an answer");
                let points = live.points(&position, mover, moved).expect("an answer");
                let there = check(&seen, &points);
                assert_eq!(there, expected.check, "{behaviour} {}", case.id);
                let question = live.checks_question(vec![expected.request; 2]);
                live.submit(&question).expect("room");
                let word = live.next_word().expect("an answer").expect("it is under way");
                let Ok(CaseAnswer::Checks(checks)) = word.said else { panic!("{:?}", word.said) };
                let checks: Vec<_> = checks.iter().map(|one| one.check).collect();
                assert_eq!(checks, [there; 2], "{behaviour} {}", case.id);
            }
        }
    }

    #[test]
    fn each_wrong_bit_changes_the_check_and_fails_when_every_byte_is_asked_for() {
        let standard = live(Behaviour::Mended, true).standard();
        for (case, position) in positions() {
            let right = Expected::new(&position, standard);
            let (mut seen, mut points) = (right.observation.clone(), right.points);
            for at in 0..bytes(&mut seen, &mut points).len() * 8 {
                let flip = |seen: &mut Observation, points: &mut PointsReply| {
                    *bytes(seen, points)[at / 8] ^= 1 << (at % 8);
                };
                flip(&mut seen, &mut points);
                assert_ne!(check(&seen, &points), right.check, "{}: bit {at}", case.id);
                let answers = [CaseAnswer::Position(seen.clone()), CaseAnswer::Points(points)];
                let fails =
                    |answer| crate::runner::judge(&case, standard, answer).verdict == Outcome::Fail;
                assert!(answers.iter().any(fails), "{}: bit {at}", case.id);
                flip(&mut seen, &mut points);
            }
        }
    }

    #[test]
    fn times_of_squares_are_those_of_a_run_that_asks_for_every_byte() {
        let times = |full| {
            let stop = AtomicBool::new(false);
            let options = Options { repeat: 1, fail_fast: false, interrupted: &stop };
            let mut found = Vec::new();
            let cases = positions().into_iter().map(|(case, _)| case);
            run_cases(&mut live(Behaviour::Mended, full), cases, options, |result| {
                assert_eq!(result.verdict, Outcome::Pass, "{}", result.id);
                let squares = result.squares.into_iter();
                let times: Vec<_> = squares.map(|one| (one.square, one.t_states)).collect();
                found.push((result.id, times));
            });
            found.sort();
            found
        };
        let by_checks = times(false);
        assert!(by_checks.iter().flat_map(|(_, times)| times).all(|(_, time)| time.is_some()));
        assert_eq!(by_checks, times(true));
    }
}
