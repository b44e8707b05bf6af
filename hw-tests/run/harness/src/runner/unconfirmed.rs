//! Results buffered until the board confirms its build id and a good status. After an unnoticed
//! reset another build may answer, and may be right where the build under test is wrong; and
//! code under test may damage the board while its replies are right.

use rcflash_link::loader::identify_request;

use super::in_flight::{InFlightRequest, RequestKind};
use super::{CaseJob, CaseResult, MAX_LOSSES_PER_CASE, Runner, Verdict};
use crate::live::CaseReply;
use crate::live::{BoardSuite, Response};
use crate::suite::Suite;

/// The board is identified and its status requested when this many results are buffered, every
/// three seconds: the status takes as long as three cases. A count, not a time, so that the replay
/// of a transcript sends the same requests.
const MAX_UNCONFIRMED: usize = 192;

/// A completed case and its result.
type JobResult<S> = (CaseJob<S>, CaseResult<S>);

/// Results of completed cases that wait for the next check of identity and status.
pub(super) struct UnconfirmedResults<S: BoardSuite> {
    /// The oldest first.
    results: Vec<JobResult<S>>,
    /// Restarts of the board since the last check.
    restarts: u32,
    /// Whether the identity is confirmed, and the status not yet.
    is_identified: bool,
}

impl<S: BoardSuite> Default for UnconfirmedResults<S> {
    fn default() -> Self {
        Self { results: Vec::new(), restarts: 0, is_identified: false }
    }
}

impl<S: BoardSuite> UnconfirmedResults<S> {
    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Returns `true` if a case that runs by itself waits for its status.
    pub(super) fn has_suspect(&self) -> bool {
        self.results.iter().any(|(job, _)| job.is_suspect)
    }

    /// Makes the oldest pass flaky.
    pub(super) fn mark_flaky(&mut self, why: &str) {
        let is_pass = |(_, result): &&mut JobResult<S>| result.verdict == Verdict::Pass;
        if let Some((_, result)) = self.results.iter_mut().find(is_pass) {
            result.verdict = Verdict::Flaky;
            result.reason = Some(format!("passed, but then {why}"));
        }
    }

    fn is_due(&self) -> bool {
        self.results.len() >= MAX_UNCONFIRMED
    }

    pub(super) fn take(&mut self) -> Vec<JobResult<S>> {
        self.restarts = 0;
        self.is_identified = false;
        std::mem::take(&mut self.results)
    }
}

impl<S: BoardSuite> Runner<'_, S> {
    /// Buffers the result of a completed case.
    pub(super) fn buffer_result(&mut self, job: CaseJob<S>, result: CaseResult<S>) {
        self.unconfirmed.results.push((job, result));
    }

    /// Reports all buffered results.
    pub(super) fn confirm_all(&mut self) {
        for (_, result) in self.unconfirmed.take() {
            (self.on_result)(result);
        }
    }

    /// Reports the buffered results if the application has no STATUS, whose reply would do that.
    pub(super) fn confirm_identity(&mut self) {
        if self.live.supports_status() {
            self.unconfirmed.is_identified = !self.unconfirmed.is_empty();
        } else {
            self.confirm_all();
        }
    }

    /// Sends the next check if enough results are buffered. Returns `true` if the window is full;
    /// the caller must then send nothing else. Sent between other requests, so the line stays busy.
    pub(super) fn needs_room_to_confirm(&mut self) -> bool {
        self.unconfirmed.is_due() && !self.request_confirmation()
    }

    /// Sends IDENT, or STATUS after its reply, if results are buffered or will be soon. Returns
    /// `false` if the window is full.
    pub(super) fn request_confirmation(&mut self) -> bool {
        let is_sent = self.in_flight.iter().any(InFlightRequest::confirms);
        if is_sent || self.unconfirmed.is_empty() && self.in_flight.is_empty() {
            return true;
        }
        let (request, kind) = match self.unconfirmed.is_identified {
            true => (self.live.status_request(), RequestKind::Status),
            false => (identify_request(), RequestKind::Identity),
        };
        if !self.live.has_room(&request) {
            return false;
        }
        match self.live.submit(&request) {
            Ok(id) => {
                let seq = self.live.last_seq();
                self.in_flight.push(InFlightRequest::for_program(id, seq, kind));
            }
            Err(error) => drop(self.recover(&error.to_string())),
        }
        true
    }

    /// Handles the reply to an IDENT request.
    pub(super) fn handle_identity_reply(&mut self, reply: &CaseReply<S>) {
        match &reply.result {
            Ok(Response::Identity(is_expected)) if *is_expected => self.confirm_identity(),
            Ok(_) => drop(self.recover("another program replied")),
            Err(error) => drop(self.recover(&error.to_string())),
        }
    }

    /// Handles the reply to a STATUS request.
    pub(super) fn handle_status_reply(&mut self, reply: &CaseReply<S>) {
        let can_compare = self.live.has_status_baseline();
        match &reply.result {
            Ok(Response::Status(_)) if !can_compare => {
                let why = "the status at the start of the application is not known";
                let mut again = self.take_unconfirmed_passes(why);
                self.reload(why, &mut again);
                self.push_front_all(again);
            }
            Ok(Response::Status(status)) => match self.live.status_finding(status) {
                None => {
                    self.unanswered = 0;
                    self.confirm_all();
                }
                Some(finding) => self.handle_damage(finding),
            },
            Ok(_) => drop(self.recover("another program replied")),
            Err(error) => drop(self.recover(&error.to_string())),
        }
    }

    /// Handles the buffered results after a restart of the board. What happened before it is not
    /// known, so passes run again, before the jobs in flight.
    pub(super) fn handle_unconfirmed_after_restart(
        &mut self,
        why: &str,
        jobs: &mut Vec<CaseJob<S>>,
    ) {
        if self.live.supports_status() {
            for job in self.pending.iter_mut().chain(&mut *jobs) {
                if job.combined.as_ref().is_some_and(has_only_correct_replies) {
                    job.repeat_alone(self.options.repeat, None);
                }
            }
            jobs.splice(..0, self.take_unconfirmed_passes(why));
            return;
        }
        // A board that is lost at every IDENT would never confirm its results.
        self.unconfirmed.restarts += 1;
        if self.unconfirmed.restarts >= MAX_LOSSES_PER_CASE {
            self.confirm_all();
        }
    }

    /// Takes the buffered passes, to run again one by one, and reports the other results.
    fn take_unconfirmed_passes(&mut self, why: &str) -> Vec<CaseJob<S>> {
        let mut again = Vec::new();
        for (mut job, result) in self.unconfirmed.take() {
            if !has_only_correct_replies(&result) {
                (self.on_result)(result);
                continue;
            }
            // Bounded: a case runs again by itself until the board was lost too often.
            if job.is_suspect {
                job.record_loss(why);
            }
            let reason = result.reason.filter(|_| result.verdict == Verdict::Flaky);
            job.repeat_alone(self.options.repeat, reason.as_deref());
            again.push(job);
        }
        again
    }

    /// Reports the buffered results at the end of a run. Passes without a status are not run.
    pub(super) fn report_unconfirmed(&mut self) {
        for (job, result) in self.unconfirmed.take() {
            self.report_unverified(&job, Some(result));
        }
    }

    /// Reports the cases that are left at the end of a run, some of whose repetitions may have run.
    pub(super) fn report_pending(&mut self) {
        for mut job in std::mem::take(&mut self.pending) {
            let result = job.combined.take();
            self.report_unverified(&job, result);
        }
    }

    fn report_unverified(&mut self, job: &CaseJob<S>, result: Option<CaseResult<S>>) {
        let needs_status = self.live.supports_status();
        let result = result.filter(|result| !needs_status || !has_only_correct_replies(result));
        let not_run = || CaseResult::new(&job.case, Verdict::NotRun);
        (self.on_result)(result.unwrap_or_else(not_run));
    }

    /// Requeues all passes since the last confirmation, because another program may have produced
    /// them. Failures stay: each was confirmed at once.
    pub(super) fn discard_suspect_passes(&mut self, why: &str, in_flight: &mut [CaseJob<S>]) {
        let repeat = self.options.repeat;
        let discard = |job: &mut CaseJob<S>| {
            if job.combined.as_ref().is_some_and(has_only_correct_replies) {
                job.reset_for_retry(repeat, Some(why));
            }
            job.first_result = None;
        };
        self.pending.iter_mut().chain(in_flight).for_each(discard);
        let mut again = Vec::new();
        for (mut job, result) in self.unconfirmed.take() {
            if has_only_correct_replies(&result) {
                job.record_loss(why);
                job.reset_for_retry(repeat, Some(why));
                again.push(job);
            } else {
                (self.on_result)(result);
            }
        }
        self.push_front_all(again);
    }
}

/// Returns `true` if every judged reply of the case was right.
fn has_only_correct_replies<S: Suite>(result: &CaseResult<S>) -> bool {
    let passed = matches!(result.verdict, Verdict::Pass | Verdict::Flaky);
    passed && result.differences.is_empty()
}
