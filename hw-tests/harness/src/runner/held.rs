//! Results that wait until the board has said that it is itself: another program may have given the
//! answers, after a reset for instance, and it may be right where the one under test is wrong.

use rcflash_link::loader::identity_question;

use super::flight::{Asked, Flight};
use super::{CaseResult, Job, LOSSES, Run, Verdict};
use crate::answers::CaseAnswer;
use crate::live::CaseReply;

/// Most results that wait: about a second's. All of them are asked for again if another program is
/// found. What is asked follows from the answers alone and not from the clock, so that a transcript
/// is asked the same when it is replayed.
const MOST: usize = 64;

/// Results that wait, and how often the board was started again meanwhile.
#[derive(Default)]
pub(super) struct Held {
    /// The oldest first.
    results: Vec<(Job, CaseResult)>,
    restarts: u32,
}

impl Held {
    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    fn is_due(&self) -> bool {
        self.results.len() >= MOST
    }

    fn take(&mut self) -> Vec<(Job, CaseResult)> {
        self.restarts = 0;
        std::mem::take(&mut self.results)
    }
}

impl Run<'_> {
    /// Keeps the result of a case that has had all its turns.
    pub(super) fn hold(&mut self, job: Job, result: CaseResult) {
        self.held.results.push((job, result));
    }

    /// Hands on what was held: the board has been itself, or nobody can say that it was not.
    pub(super) fn release(&mut self) {
        for (_, result) in self.held.take() {
            (self.done)(result);
        }
    }

    /// Asks the board who it is, if enough results wait; `true` if that has to wait for room,
    /// which no other question may take. The board says so between its answers, so that the
    /// line need not fall idle for it.
    pub(super) fn must_confirm(&mut self) -> bool {
        self.held.is_due() && !self.confirm()
    }

    /// Asks the board who it is, if results wait for that or soon will; `false` if there is no
    /// room.
    pub(super) fn confirm(&mut self) -> bool {
        let is_asked = self.flying.iter().any(|flight| flight.asked == Asked::Identity);
        if is_asked || self.held.is_empty() && self.flying.is_empty() {
            return true;
        }
        let question = identity_question();
        if !self.live.has_room(&question) {
            return false;
        }
        match self.live.submit(&question) {
            Ok(ticket) => self.flying.push(Flight::of_nobody(ticket)),
            Err(error) => drop(self.recover(&error.to_string())),
        }
        true
    }

    /// The board has said who it is, or nothing.
    pub(super) fn hear_identity(&mut self, word: &CaseReply) {
        match &word.said {
            Ok(CaseAnswer::Identity(is_itself)) if *is_itself => self.release(),
            Ok(_) => drop(self.recover("another program answers")),
            Err(error) => drop(self.recover(&error.to_string())),
        }
    }

    /// The board was started again, and has not said who it was before. One that is lost whenever
    /// it is asked would be asked for ever.
    pub(super) fn note_restart(&mut self) {
        self.held.restarts += 1;
        if self.held.restarts >= LOSSES {
            self.release();
        }
    }

    /// Another program has answered since the board was itself: whatever passed since then is asked
    /// for again. Wrong answers are not, since the board is asked who it is after each.
    pub(super) fn doubt(&mut self, why: &str, flying: &mut [Job]) {
        let repeat = self.options.repeat;
        let doubt = |job: &mut Job| {
            if job.so_far.as_ref().is_some_and(is_right) {
                job.ask_anew(repeat, why);
            }
            job.half = None;
        };
        self.waiting.iter_mut().chain(flying).for_each(doubt);
        let mut again = Vec::new();
        for (mut job, result) in self.held.take() {
            if is_right(&result) {
                job.lost(why);
                job.ask_anew(repeat, why);
                again.push(job);
            } else {
                (self.done)(result);
            }
        }
        self.put_back(again);
    }
}

/// Whether a result says that the board was right each time.
fn is_right(result: &CaseResult) -> bool {
    let passed = matches!(result.verdict, Verdict::Pass | Verdict::Flaky);
    passed && result.differences.is_empty()
}
