//! Requests in flight: one case, or the CRCs of several positions.
//!
//! A matching CRC counts as a match of every byte. On a mismatch the case is sent again with a full
//! request, so verdicts and messages equal those of `--full`.

use rcflash_link::{LinkError, RequestId, RequestSpec};

use super::judge::judge_by_crc;
use super::{CaseJob, Runner, is_unknown_request, with_timing};
use crate::live::CaseReply;
use crate::responses::{CaseResponse, ObservedCheck};
use rcflash_link::RetryCounts;
use sargon_corpus::Case;

/// A request that the board has not replied to.
pub(super) struct InFlightRequest {
    pub(super) id: RequestId,
    /// Its sequence number.
    pub(super) seq: u8,
    /// The jobs that it covers; several only for [`RequestKind::Checks`].
    pub(super) jobs: Vec<CaseJob>,
    pub(super) kind: RequestKind,
}

/// What a request asks the board for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// Every byte of a case.
    Case,
    /// The CRCs of positions.
    Checks,
    /// Name and build id of the program on the board.
    Identity,
    /// What the evaluator may have damaged.
    Status,
}

impl InFlightRequest {
    /// A request about the program, for no case.
    pub(super) fn for_program(id: RequestId, seq: u8, kind: RequestKind) -> Self {
        Self { id, seq, jobs: Vec::new(), kind }
    }

    /// Returns `true` if its reply confirms buffered results.
    pub(super) fn confirms(&self) -> bool {
        matches!(self.kind, RequestKind::Identity | RequestKind::Status)
    }

    /// Returns the case of a [`RequestKind::Case`].
    pub(super) fn case(&self) -> &Case {
        &self.jobs[0].case
    }

    /// Returns the jobs, marked to be sent one by one, so that a case that crashes the board is
    /// identified.
    pub(super) fn into_single_case_jobs(mut self) -> Vec<CaseJob> {
        self.jobs.iter_mut().for_each(|job| job.use_crc = false);
        self.jobs
    }
}

impl Runner<'_> {
    /// Returns `first` with the next jobs that fit in the same CHECKS request.
    pub(super) fn batch_with(
        &mut self,
        first: CaseJob,
        cases: &mut dyn Iterator<Item = Case>,
    ) -> Vec<CaseJob> {
        let max = self.live.positions_per_check();
        let mut jobs = vec![first];
        while jobs.len() < max
            && let Some(job) = self.next_job(cases)
        {
            if !job.use_crc || job.early_result().is_some() {
                self.pending.push_front(job);
                break;
            }
            jobs.push(job);
        }
        // The IDENT request takes the room of the last one.
        let is_confirming = self.in_flight.iter().any(InFlightRequest::confirms);
        if is_confirming && jobs.len() > 1 && !self.live.has_room(&self.checks_request(&jobs)) {
            jobs.pop().into_iter().for_each(|job| self.pending.push_front(job));
        }
        jobs
    }

    /// Returns the CHECKS request for these jobs.
    pub(super) fn checks_request(&self, jobs: &[CaseJob]) -> RequestSpec {
        let expected = jobs.iter().filter_map(|job| job.requests.expected.as_ref());
        self.live.checks_request(expected.map(|expected| expected.request).collect())
    }

    /// Handles the reply to a CHECKS request.
    pub(super) fn handle_checks_reply(&mut self, request: InFlightRequest, reply: CaseReply) {
        match reply.result {
            Ok(CaseResponse::Checks(checks)) if checks.len() == request.jobs.len() => {
                let elapsed =
                    reply.elapsed / u32::try_from(checks.len().max(1)).unwrap_or(u32::MAX);
                let mut retries = reply.retries;
                let mut differing = Vec::new();
                for (job, seen) in request.jobs.into_iter().zip(&checks) {
                    let timing = (std::mem::take(&mut retries), elapsed);
                    differing.extend(self.judge_check(job, seen, timing));
                }
                self.push_front_all(differing);
            }
            Ok(_) => self.push_front_all(request.into_single_case_jobs()),
            Err(error) if is_unknown_request(&error) => {
                self.in_flight.insert(0, request);
                self.recover(&error.to_string());
            }
            Err(error) => {
                let mut jobs = request.into_single_case_jobs();
                self.suspect_after_timeout(&error, &mut jobs);
                self.push_front_all(jobs);
                if matches!(error, LinkError::Timeout { .. }) {
                    self.recover(&error.to_string());
                }
            }
        }
    }

    /// Completes a case whose CRC matches. On a mismatch returns the job, to be sent with a full
    /// request.
    fn judge_check(
        &mut self,
        mut job: CaseJob,
        seen: &ObservedCheck,
        timing: (RetryCounts, std::time::Duration),
    ) -> Option<CaseJob> {
        let expected = job.requests.expected.as_ref()?;
        if expected.crc == seen.crc {
            let result = judge_by_crc(&job.case, self.live.criteria(), expected, seen);
            self.complete_repetition(job, with_timing(result, timing));
            return None;
        }
        job.use_crc = false;
        if job.finding.is_none() {
            job.attempts = 0; // not sent by itself yet
        }
        job.flaky_reason.get_or_insert_with(|| {
            format!("the CRC of its replies was {:08X}h, expected {:08X}h", seen.crc, expected.crc)
        });
        Some(job)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use firmware::evaluator::{Behaviour, Evaluator};
    use firmware::profile::BoardProfile;
    use firmware_wire::PointsReply;

    use super::*;
    use crate::board::BoardKind;
    use crate::checks::{ExpectedPosition, last_move, position_crc};
    use crate::live::{BoardConfig, LiveBoard};
    use crate::responses::PositionResponse;
    use crate::runner::judge::judge_case;
    use crate::runner::{RunOptions, Verdict as Outcome, run_cases};
    use sargon_corpus::{Case, CaseInput, builtin_corpus};
    use sargon_reference::{Position, evaluate_as};

    fn live(behaviour: Behaviour, full: bool) -> LiveBoard {
        let profile = BoardProfile::named("rc2014-classic").expect("it ships");
        let evaluator = Evaluator { behaviour, own: None };
        let board = BoardKind::InProcess { rom: None };
        let config = BoardConfig {
            board,
            evaluator,
            full_responses: full,
            ..BoardConfig::simulated(profile)
        };
        LiveBoard::prepare(&config).unwrap_or_else(|error| panic!("{error}"))
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
        let PointsReply { lost, prizes, danger, article, book, status } = points;
        all.extend([lost, danger, status]);
        all.extend(prizes.iter_mut().chain(article).chain(book));
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
            let criteria = live.criteria();
            for (case, position) in positions() {
                let expected = ExpectedPosition::new(&position, criteria);
                let (mover, moved) =
                    last_move(&position, &evaluate_as(&position, criteria.behaviour).squares);
                let seen = live.request_position(&position).expect("a reply");
                let points = live.request_points(&position, mover, moved).expect("a reply");
                let crc = position_crc(&seen, &points);
                assert_eq!(crc, expected.crc, "{behaviour} {}", case.id);
                let request = live.checks_request(vec![expected.request; 2]);
                live.submit(&request).expect("room");
                let reply = live.next_reply().expect("a reply").expect("a request is in flight");
                let Ok(CaseResponse::Checks(checks)) = reply.result else {
                    panic!("{:?}", reply.result)
                };
                let checks: Vec<_> = checks.iter().map(|one| one.crc).collect();
                assert_eq!(checks, [crc; 2], "{behaviour} {}", case.id);
            }
        }
    }

    #[test]
    fn each_wrong_bit_changes_the_crc_and_fails_in_a_full_comparison() {
        let criteria = live(Behaviour::Corrected, true).criteria();
        for (case, position) in positions().into_iter().step_by(4) {
            let right = ExpectedPosition::new(&position, criteria);
            let (mut seen, mut points) = (right.response.clone(), right.points);
            let covered = bytes(&mut seen, &mut points).len() + seen.end.pins.len();
            for at in 0..covered * 8 {
                flip(&mut seen, &mut points, at);
                assert_ne!(position_crc(&seen, &points), right.crc, "{}: bit {at}", case.id);
                let responses =
                    [CaseResponse::Position(seen.clone()), CaseResponse::Points(points)];
                let fails =
                    |response| judge_case(&case, criteria, response).verdict == Outcome::Fail;
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
