//! Requests under way: one case's question, or the checks of several positions at once.
//!
//! A check that is right stands for every byte; where it is not, or is missing, the case is asked
//! again by itself for every byte, so that the verdict and its words are those of a run that asks
//! for nothing else.

use rcflash_link::{LinkError, RequestId, RequestSpec};

use super::judge::judge_by_check;
use super::{Job, Run, is_about_requests, measure};
use crate::answers::{CaseAnswer, CheckThere};
use crate::live::CaseReply;
use rcflash_link::RetryCounts;
use sargon_corpus::Case;

/// A request under way.
pub(super) struct Flight {
    /// Its number.
    pub(super) ticket: RequestId,
    /// The jobs that it is about; several only if checks are asked for.
    pub(super) jobs: Vec<Job>,
    pub(super) asked: Asked,
}

/// The subject of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Every byte of a case.
    Case,
    /// The checks of positions.
    Checks,
    /// The name and build of the program on the board.
    Identity,
}

impl Flight {
    pub(super) fn of_one(ticket: RequestId, job: Job) -> Self {
        Self { ticket, jobs: vec![job], asked: Asked::Case }
    }

    pub(super) fn of_nobody(ticket: RequestId) -> Self {
        Self { ticket, jobs: Vec::new(), asked: Asked::Identity }
    }

    /// The case of a request about one.
    pub(super) fn case(&self) -> &Case {
        &self.jobs[0].case
    }

    /// The jobs, none of which is asked for together with others again: one of them may have been
    /// the board's undoing, and that one is to be found.
    pub(super) fn asked_one_by_one(mut self) -> Vec<Job> {
        self.jobs.iter_mut().for_each(|job| job.by_check = false);
        self.jobs
    }
}

impl Run<'_> {
    /// Adds the next jobs whose checks can be asked for together with this one's.
    pub(super) fn with_next(
        &mut self,
        first: Job,
        cases: &mut dyn Iterator<Item = Case>,
    ) -> Vec<Job> {
        let most = self.live.positions_a_check();
        let mut jobs = vec![first];
        while jobs.len() < most
            && let Some(job) = self.next_job(cases)
        {
            if !job.by_check || job.given_up().is_some() {
                self.waiting.push_front(job);
                break;
            }
            jobs.push(job);
        }
        // The question for the board's name has taken the room of the last one.
        let is_confirming = self.flying.iter().any(|flight| flight.asked == Asked::Identity);
        if is_confirming && jobs.len() > 1 && !self.live.has_room(&self.checks_of(&jobs)) {
            jobs.pop().into_iter().for_each(|job| self.waiting.push_front(job));
        }
        jobs
    }

    /// The question for the checks of these jobs.
    pub(super) fn checks_of(&self, jobs: &[Job]) -> RequestSpec {
        let expected = jobs.iter().filter_map(|job| job.questions.expected.as_ref());
        self.live.checks_question(expected.map(|expected| expected.request).collect())
    }

    /// The board has answered for the checks of several positions.
    pub(super) fn hear_checks(&mut self, flight: Flight, word: CaseReply) {
        match word.said {
            Ok(CaseAnswer::Checks(checks)) if checks.len() == flight.jobs.len() => {
                let took = word.took / u32::try_from(checks.len().max(1)).unwrap_or(u32::MAX);
                let mut repeats = word.repeats;
                let mut differing = Vec::new();
                for (job, seen) in flight.jobs.into_iter().zip(&checks) {
                    let measured = (std::mem::take(&mut repeats), took);
                    differing.extend(self.hear_check(job, seen, measured));
                }
                self.put_back(differing);
            }
            Ok(_) => self.put_back(flight.asked_one_by_one()),
            Err(error) if is_about_requests(&error) => {
                self.flying.insert(0, flight);
                self.recover(&error.to_string());
            }
            Err(error) => {
                self.put_back(flight.asked_one_by_one());
                if matches!(error, LinkError::Timeout { .. }) {
                    self.recover(&error.to_string());
                }
            }
        }
    }

    /// Concludes a case whose check is right; returns it to be asked for every byte if it is not.
    fn hear_check(
        &mut self,
        mut job: Job,
        seen: &CheckThere,
        measured: (RetryCounts, std::time::Duration),
    ) -> Option<Job> {
        let expected = job.questions.expected.as_ref()?;
        if expected.check == seen.check {
            let result = judge_by_check(&job.case, self.live.standard(), expected, seen);
            self.conclude(job, measure(result, measured));
            return None;
        }
        job.by_check = false;
        job.attempts = 0; // it has not been put by itself yet
        job.disturbed.get_or_insert_with(|| {
            format!("its check was {:08X}h instead of {:08X}h", seen.check, expected.check)
        });
        Some(job)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use firmware::evaluator::{Behaviour, Evaluator};
    use firmware::profile::Profile;
    use firmware_wire::PointsReply;

    use super::*;
    use crate::answers::Observation;
    use crate::board::Choice;
    use crate::checks::{Expected, check, last_move};
    use crate::live::{LiveBoard, Plan};
    use crate::runner::judge::judge;
    use crate::runner::{Options, Verdict as Outcome, run_cases};
    use sargon_corpus::{Case, Subject, shipped};
    use sargon_reference::{Position, examine_as};

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

    /// All bytes that the check covers, but the steps of pins.
    fn bytes<'a>(seen: &'a mut Observation, points: &'a mut PointsReply) -> Vec<&'a mut u8> {
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

    /// Changes a bit of what the check covers; bits of the steps of pins come last.
    fn flip(seen: &mut Observation, points: &mut PointsReply, at: usize) {
        let (byte, bit) = (at / 8, at % 8);
        match byte.checked_sub(bytes(seen, points).len()) {
            None => *bytes(seen, points)[byte] ^= 1 << bit,
            Some(pin) => seen.end.pins[pin].step ^= 1 << bit,
        }
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
            let covered = bytes(&mut seen, &mut points).len() + seen.end.pins.len();
            for at in 0..covered * 8 {
                flip(&mut seen, &mut points, at);
                assert_ne!(check(&seen, &points), right.check, "{}: bit {at}", case.id);
                let answers = [CaseAnswer::Position(seen.clone()), CaseAnswer::Points(points)];
                let fails = |answer| judge(&case, standard, answer).verdict == Outcome::Fail;
                assert!(answers.iter().any(fails), "{}: bit {at}", case.id);
                flip(&mut seen, &mut points, at);
            }
        }
    }

    #[test]
    fn times_of_squares_are_those_of_a_run_that_asks_for_every_byte() {
        let times = |full| {
            let stop = AtomicBool::new(false);
            let options =
                Options { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
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
