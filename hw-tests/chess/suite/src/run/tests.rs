//! CHECKS: its CRC covers every byte of the replies.

use std::sync::atomic::AtomicBool;

use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use firmware_wire::{PointsReply, Reply};

use hil_harness::board::BoardKind;
use hil_harness::live::BoardConfig;
use hil_harness::runner::{RunOptions, Verdict as Outcome};

use super::run_cases;
use crate::board::Response;
use crate::checks::{ExpectedPosition, last_move, position_crc};
use crate::judge::judge_case;
use crate::responses::PositionResponse;
use crate::{SargonBoard, SargonConfig};
use sargon_corpus::{Case, CaseInput, builtin_corpus};
use sargon_reference::{Position, evaluate_as};

fn live(behaviour: Behaviour, full: bool) -> SargonBoard {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let evaluator = Evaluator { behaviour, own: None };
    let board = BoardKind::InProcess;
    let board = BoardConfig { board, full_responses: full, ..BoardConfig::simulated(profile) };
    let config = SargonConfig { evaluator, ..board.into() };
    SargonBoard::prepare(&config).unwrap_or_else(|error| panic!("{error}"))
}

/// Positions of all kinds: pins, batteries, overflow, boards that are full and empty.
fn positions() -> Vec<(Case, Position)> {
    let all = builtin_corpus().expect("the corpus").into_iter();
    let positions = all.filter_map(|case| match &case.subject {
        CaseInput::Position { position, .. } => Some((case.clone(), position.clone())),
        CaseInput::Array { .. } => None,
    });
    let is_odd = |case: &Case| !case.tags.iter().any(|tag| tag == "play");
    let chosen = positions.enumerate().filter(|(at, (case, _))| at % 100 == 0 || is_odd(case));
    chosen.map(|(_, one)| one).collect()
}

/// Returns all bytes that the CRC covers, except the steps of pins.
fn bytes<'a>(seen: &'a mut PositionResponse, points: &'a mut PointsReply) -> Vec<&'a mut u8> {
    let mut all: Vec<&mut u8> = Vec::new();
    for one in &mut seen.squares {
        all.extend([&mut one.square, &mut one.piece, &mut one.residue, &mut one.status]);
        all.extend(&mut one.array);
    }
    all.extend(&mut seen.end.royals);
    all.push(&mut seen.end.status);
    all.extend(seen.end.pins.iter_mut().map(|pin| &mut pin.square));
    let PointsReply { lost, prizes, danger, article, original, status } = points;
    all.extend([lost, danger, status]);
    all.extend(prizes.iter_mut().chain(article).chain(original));
    all
}

/// Flips a bit of what the CRC covers; the bits of the steps of pins come last.
fn flip(seen: &mut PositionResponse, points: &mut PointsReply, at: usize) {
    let (byte, bit) = (at / 8, at % 8);
    match byte.checked_sub(bytes(seen, points).len()) {
        None => *bytes(seen, points)[byte] ^= 1 << bit,
        Some(pin) => seen.end.pins[pin].step ^= 1 << bit,
    }
}

#[test]
fn the_crc_of_the_board_covers_the_bytes_of_its_replies() {
    for behaviour in Behaviour::ALL {
        let mut live = live(behaviour, false);
        let criteria = live.criteria;
        for (case, position) in positions() {
            let expected = ExpectedPosition::new(&position, criteria);
            let (mover, moved) =
                last_move(&position, &evaluate_as(&position, criteria.behaviour).squares);
            let seen = live.request_position(&position).expect("a reply");
            let points = live.request_points(&position, mover, moved).expect("a reply");
            let crc = position_crc(&seen, &points);
            assert_eq!(crc, expected.crc, "{behaviour} {}", case.id);
            let request = live.checks_spec(vec![expected.request; 2]);
            live.submit(&request).expect("room");
            let reply = live.next_reply().expect("a reply").expect("a request is in flight");
            let Ok(Response::Batch(checks)) = reply.result else { panic!("{:?}", reply.result) };
            let checks: Vec<_> = checks.iter().map(|one| one.crc).collect();
            assert_eq!(checks, [crc; 2], "{behaviour} {}", case.id);
        }
    }
}

#[test]
fn each_wrong_bit_changes_the_crc_and_fails_in_a_full_comparison() {
    let criteria = live(Behaviour::Corrected, true).criteria;
    for (case, position) in positions().into_iter().step_by(4) {
        let right = ExpectedPosition::new(&position, criteria);
        let (mut seen, mut points) =
            (right.response.clone(), right.response.end.points.expect("its points"));
        let covered = bytes(&mut seen, &mut points).len() + seen.end.pins.len();
        for at in 0..covered * 8 {
            flip(&mut seen, &mut points, at);
            assert_ne!(position_crc(&seen, &points), right.crc, "{}: bit {at}", case.id);
            let responses =
                [Response::Position(seen.clone()), Response::Other(Reply::Points(points))];
            let fails = |response| judge_case(&case, criteria, response).verdict == Outcome::Fail;
            assert!(responses.iter().any(fails), "{}: bit {at}", case.id);
            flip(&mut seen, &mut points, at);
        }
    }
}

#[test]
fn times_of_squares_equal_those_of_a_full_run() {
    let times = |full| {
        let stop = AtomicBool::new(false);
        let options =
            RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
        let mut found = Vec::new();
        let cases = positions().into_iter().map(|(case, _)| case);
        run_cases(&mut live(Behaviour::Corrected, full), cases, options, |result| {
            assert_eq!(result.verdict, Outcome::Pass, "{}", result.id);
            let squares = result.details.squares.into_iter();
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
