//! Requests under way: one case's question, or the checks of several positions at once.
//!
//! A check that is right stands for every byte; where it is not, or is missing, the case is asked
//! again by itself for every byte, so that the verdict and its words are those of a run that asks
//! for nothing else.

use rcflash_link::{LinkError, Question, Ticket};

use super::judge::judge_by_check;
use super::{Job, Run, is_about_requests, measure};
use crate::answers::{CaseAnswer, CheckThere};
use crate::live::CaseReply;
use rcflash_link::Repeats;
use sargon_cases::Case;

/// A request under way.
pub(super) struct Flight {
    /// Its number.
    pub(super) ticket: Ticket,
    /// The jobs that it is about; several only if checks are asked for.
    pub(super) jobs: Vec<Job>,
    /// Whether it asks for checks.
    pub(super) is_check: bool,
}

impl Flight {
    pub(super) fn of_one(ticket: Ticket, job: Job) -> Self {
        Self { ticket, jobs: vec![job], is_check: false }
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
        jobs
    }

    /// The question for the checks of these jobs.
    pub(super) fn checks_of(&self, jobs: &[Job]) -> Question {
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
        measured: (Repeats, std::time::Duration),
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
