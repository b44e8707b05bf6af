//! Runs cases on a board, pipelined. Every case gets exactly one verdict.
//!
//! [`run_cases`] keeps as many requests in flight as the board has room for, judges each reply,
//! and recovers the board if it is lost. Results are reported once the board has confirmed its
//! build id.

mod baseline;
mod conclusion;
mod findings;
mod in_flight;
mod job;
mod merge;
mod suspects;
mod unconfirmed;

pub use crate::suite::{BoardVerdict, CaseResult, FaultOrigin, Verdict, VerdictCounts};
pub use baseline::{Baseline, BaselineStatus, BaselineSummary};
pub use conclusion::{Conclusion, exit_code, incomplete_counts};
pub use merge::{merge_repetitions, merge_requests};

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use firmware_wire::ErrorCode;
use rcflash_link::{LinkError, RequestSpec, RetryCounts};
use serde::{Deserialize, Serialize};

use crate::board::BoardError;
use crate::live::{BoardSuite, Response};
use crate::live::{CaseReply, LiveBoard, Recovery, SetupError};
use crate::suite::Suite;
use in_flight::{InFlightRequest, RequestKind};
use job::CaseJob;
use unconfirmed::UnconfirmedResults;

/// A case gets [`Verdict::Error`] when the board was lost this often while it was the oldest in
/// flight.
const MAX_LOSSES_PER_CASE: u32 = 3;
/// A case fails when the board restarted without a known cause this often while it ran by itself.
const MAX_LONE_RESTARTS: u32 = 2;
/// What an application without STATUS does not report.
const UNOBSERVED: &str = "writes to program memory, stack and interrupts, since the application on \
                          the board has no STATUS request";
/// The verdicts of cases that were sent but got no valid reply.
const NO_REPLY_VERDICTS: [Verdict; 2] = [Verdict::Timeout, Verdict::Error];
/// The run ends when this many consecutive cases got no valid reply.
const MAX_CONSECUTIVE_UNANSWERED: u32 = 20;

/// Options of a run.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// How often each case runs; 0 counts as 1.
    pub repeat: u32,
    /// Ends the run at the first case that does not pass.
    pub fail_fast: bool,
    /// The baseline, whose failures do not trigger `fail_fast`.
    pub baseline: Option<&'a Baseline>,
    /// Set to stop the run.
    pub interrupted: &'a AtomicBool,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// All cases ran.
    Complete,
    /// The user stopped it.
    Interrupted,
    /// A case did not pass, and [`RunOptions::fail_fast`] was set.
    FirstFailure,
    /// The board could not be recovered; the reason.
    BoardLost(String),
    /// A file of the run could not be written; the error, with its path.
    FileFailed(String),
}

/// How a run ended, and how often its board had to be recovered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Why the run ended.
    pub ended: RunEnd,
    /// Recoveries after which the application was still running.
    pub reconnects: u64,
    /// Recoveries in which the application had to be restarted.
    pub restarts: u64,
    /// Why the application was last restarted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_restart: Option<String>,
    /// What code under test may have done to the board that the run could not observe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unobserved: Option<String>,
}

impl Default for RunSummary {
    fn default() -> Self {
        let (ended, last_restart, unobserved) = (RunEnd::Complete, None, None);
        Self { ended, reconnects: 0, restarts: 0, last_restart, unobserved }
    }
}

impl RunSummary {
    /// Returns the summary of this part of a run and the part that followed.
    #[must_use]
    pub fn merge(self, next: Self) -> Self {
        Self {
            ended: next.ended,
            reconnects: self.reconnects + next.reconnects,
            restarts: self.restarts + next.restarts,
            last_restart: next.last_restart.or(self.last_restart),
            unobserved: next.unobserved.or(self.unobserved),
        }
    }
}

/// Runs `cases` on `live` and calls `on_result` for each, in completion order. Cases that the run
/// does not reach get [`Verdict::NotRun`].
pub fn run_cases<S: BoardSuite>(
    live: &mut LiveBoard<S>,
    cases: impl IntoIterator<Item = S::Case>,
    options: RunOptions,
    mut on_result: impl FnMut(CaseResult<S>),
) -> RunSummary {
    let mut cases = cases.into_iter();
    let summary = run_cases_from(live, &mut cases, options, &mut on_result);
    cases.for_each(|case| on_result(CaseResult::new(&case, Verdict::NotRun)));
    summary
}

/// Like [`run_cases`], but leaves cases that the run does not reach in the iterator.
pub fn run_cases_from<S: BoardSuite>(
    live: &mut LiveBoard<S>,
    cases: &mut dyn Iterator<Item = S::Case>,
    options: RunOptions,
    on_result: &mut dyn FnMut(CaseResult<S>),
) -> RunSummary {
    let mut runner = Runner {
        live,
        options,
        summary: RunSummary::default(),
        in_flight: Vec::new(),
        pending: VecDeque::new(),
        unconfirmed: UnconfirmedResults::default(),
        source_exhausted: false,
        unanswered: 0,
        board_abandoned: false,
        on_result,
    };
    runner.summary.unobserved = (!runner.live.supports_status()).then(|| UNOBSERVED.to_owned());
    runner.run(cases);
    runner.report_unconfirmed();
    runner.report_pending();
    runner.summary
}

struct Runner<'a, S: BoardSuite> {
    live: &'a mut LiveBoard<S>,
    options: RunOptions<'a>,
    summary: RunSummary,
    /// The oldest first.
    in_flight: Vec<InFlightRequest<S>>,
    /// Jobs to send before further cases are taken from the source.
    pending: VecDeque<CaseJob<S>>,
    /// Results of completed cases until the board confirms its build id.
    unconfirmed: UnconfirmedResults<S>,
    /// Whether the source returned no case when last polled.
    source_exhausted: bool,
    /// Consecutive cases without a valid reply.
    unanswered: u32,
    board_abandoned: bool,
    on_result: &'a mut dyn FnMut(CaseResult<S>),
}

impl<S: BoardSuite> Runner<'_, S> {
    fn run(&mut self, cases: &mut dyn Iterator<Item = S::Case>) {
        loop {
            if self.is_running() && self.options.interrupted.load(Ordering::Relaxed) {
                self.summary.ended = RunEnd::Interrupted;
            }
            let needs_room_to_confirm = self.needs_room_to_confirm();
            while !needs_room_to_confirm && self.is_running() && self.submit_next(cases) {}
            // Do not read from an abandoned board: what still arrives belongs to no case, and
            // recovering from its errors would never end.
            if self.board_abandoned {
                return self.requeue_in_flight();
            }
            if self.in_flight.is_empty() || self.source_exhausted && self.pending.is_empty() {
                self.request_confirmation();
            }
            match self.live.next_reply() {
                Ok(Some(reply)) => self.handle_reply(reply),
                Ok(None) if self.is_finished() => return,
                Ok(None) => {}
                Err(LinkError::Interrupted { .. }) => return self.interrupt(),
                Err(error) => {
                    self.recover(&error.to_string());
                }
            }
        }
    }

    fn interrupt(&mut self) {
        self.summary.ended = RunEnd::Interrupted;
        self.requeue_in_flight();
    }

    /// Moves the cases in flight back to the pending ones, to be reported as not run.
    fn requeue_in_flight(&mut self) {
        self.pending.extend(self.in_flight.drain(..).flat_map(|request| request.jobs));
    }

    fn is_finished(&self) -> bool {
        self.unconfirmed.is_empty() && (self.pending.is_empty() || !self.is_running())
    }

    fn is_running(&self) -> bool {
        self.summary.ended == RunEnd::Complete
    }

    /// Sends one more request. Returns `false` if there is none, or the window is full.
    fn submit_next(&mut self, cases: &mut dyn Iterator<Item = S::Case>) -> bool {
        if self.must_wait_for_suspects() {
            return false;
        }
        let Some(job) = self.next_job(cases) else { return false };
        let result = match S::unsupported_reason(self.live, &job.case) {
            Some(why) => Some(CaseResult::with_reason(&job.case, Verdict::Skipped, why)),
            None => job.early_result(),
        };
        if let Some(result) = result {
            self.handle_result(job, result);
            return true;
        }
        if job.may_batch {
            let jobs = self.batch_with(job, cases);
            return self.submit(self.batch_request(&jobs), jobs, RequestKind::Batch);
        }
        self.submit(job.current_request().clone(), vec![job], RequestKind::Case)
    }

    /// Sends a request for these jobs. Returns `false` if the window is full.
    fn submit(
        &mut self,
        request: RequestSpec,
        mut jobs: Vec<CaseJob<S>>,
        kind: RequestKind,
    ) -> bool {
        if !self.live.has_room(&request) {
            self.push_front_all(jobs);
            return false;
        }
        match self.live.submit(&request) {
            Ok(id) => {
                jobs.iter_mut()
                    .for_each(|job| job.attempts += u32::from(job.first_result.is_none()));
                let seq = self.live.last_seq();
                self.in_flight.push(InFlightRequest { id, seq, jobs, kind });
            }
            Err(error) => {
                self.push_front_all(jobs);
                self.recover(&error.to_string());
            }
        }
        true
    }

    fn next_job(&mut self, cases: &mut dyn Iterator<Item = S::Case>) -> Option<CaseJob<S>> {
        let repeat = self.options.repeat.max(1);
        let fresh = |case| CaseJob::new(self.live, case, repeat);
        let next = self.pending.pop_front().or_else(|| cases.next().map(fresh));
        self.source_exhausted = next.is_none();
        next
    }

    /// Puts these jobs back at the front of the queue, in order.
    fn push_front_all(&mut self, jobs: Vec<CaseJob<S>>) {
        jobs.into_iter().rev().for_each(|job| self.pending.push_front(job));
    }

    /// Handles one reply.
    fn handle_reply(&mut self, mut reply: CaseReply<S>) {
        let id = reply.request_id;
        let is_match = |request: &InFlightRequest<S>| request.id == reply.request_id;
        let Some(index) = self.in_flight.iter().position(is_match) else { return };
        let mut request = self.in_flight.remove(index);
        request.add_findings(std::mem::take(&mut reply.findings));
        let (seq, kind) = (request.seq, request.kind);
        let for_case = |job| InFlightRequest { id, seq, jobs: vec![job], kind };
        match kind {
            RequestKind::Batch => return self.handle_batch_reply(request, reply),
            RequestKind::Identity => return self.handle_identity_reply(&reply),
            RequestKind::Status => return self.handle_status_reply(&reply),
            RequestKind::Case => {}
        }
        let Some(job) = request.jobs.pop() else { return };
        let timing = (reply.retries, reply.share);
        match reply.result {
            Ok(response) => {
                let result = with_timing(self.judge(&job.case, &response), timing);
                // Another build may answer after an unnoticed reset. Passes wait for the next
                // identity check (`unconfirmed`); a failure is verified at once, because it may end
                // the run.
                if result.verdict != Verdict::Fail {
                    return self.handle_result(job, result);
                }
                if self.live.is_expected_application().is_ok_and(|is_expected| is_expected) {
                    self.confirm_identity();
                    return self.handle_result(job, result);
                }
                // Recovery finds out which program replied.
                self.in_flight.insert(0, for_case(job));
                let was_unchanged = self.recover("another program may have answered");
                if was_unchanged && let Some(job) = self.pending.pop_front() {
                    self.handle_result(job, result);
                }
            }
            Err(error) if is_unknown_request(&error) => {
                self.in_flight.insert(0, for_case(job));
                self.recover(&error.to_string());
            }
            Err(error) => {
                let result = merge::missing_reply(&job.case, &error, || {
                    self.live.describe_program_counter()
                });
                self.handle_result(job, with_timing(result, timing));
                if matches!(error, LinkError::Timeout { .. }) {
                    self.recover(&error.to_string());
                }
            }
        }
    }

    /// Recovers the board and requeues the requests in flight. Returns `true` if the application
    /// was never replaced or restarted.
    fn recover(&mut self, why: &str) -> bool {
        let recovered = self.live.recover();
        let was_unchanged = matches!(recovered, Ok(Recovery::Unchanged));
        // Before the jobs are drained: a reply received before the loss belongs to a request that
        // is still in flight, which would otherwise be sent again and counted as one more attempt.
        self.judge_received(was_unchanged);
        self.add_unclaimed_findings();
        let mut jobs: Vec<CaseJob<S>> =
            self.in_flight.drain(..).flat_map(InFlightRequest::into_single_case_jobs).collect();
        // The board works strictly in order, so only the oldest request can have crashed it.
        let mut first = jobs.first_mut().or(self.pending.front_mut());
        first.iter_mut().for_each(|job| job.record_loss(why));
        match recovered {
            Ok(Recovery::Unchanged) => {
                self.summary.reconnects += 1;
                self.confirm_identity();
            }
            Ok(Recovery::Replaced(why)) => {
                self.summary.restarts += 1;
                if let Some(first) = first {
                    first.flaky_reason.get_or_insert_with(|| why.clone());
                }
                self.discard_suspect_passes(&why, &mut jobs);
                self.summary.last_restart = Some(why);
            }
            Ok(Recovery::Restarted(why)) => {
                self.summary.restarts += 1;
                if let Some(first) = first {
                    first.flaky_reason.get_or_insert_with(|| why.clone());
                }
                self.suspect_after_restart(&why, &mut jobs);
                self.handle_unconfirmed_after_restart(&why, &mut jobs);
                self.summary.last_restart = Some(why);
            }
            Err(SetupError::Link(LinkError::Interrupted { .. })) => {
                self.board_abandoned = true;
                self.summary.ended = RunEnd::Interrupted;
            }
            Err(SetupError::Board(error @ BoardError::Transcript(..))) => {
                self.abandon_board(RunEnd::FileFailed(error.to_string()));
            }
            Err(error) => self.abandon_board(RunEnd::BoardLost(format!("{why}; then {error}"))),
        }
        // At the front, in order: the job blamed above runs first, so that a case that crashes the
        // board uses up its attempts at once and does not count losses against other cases.
        self.push_front_all(jobs);
        was_unchanged
    }

    /// Stops using the board. A run that was ending anyway keeps its reason.
    fn abandon_board(&mut self, ended: RunEnd) {
        self.board_abandoned = true;
        if self.is_running() {
            self.summary.ended = ended;
        }
    }

    /// Abandons a board that replies to no case at all: each case has its timeout, but those of a
    /// whole run would take hours.
    fn count_unanswered(&mut self, result: &CaseResult<S>) {
        // A case that damages the board has differences only by chance.
        let is_damage = result.verdict == Verdict::Fail && result.differences.is_empty();
        let has_no_reply = is_damage || NO_REPLY_VERDICTS.contains(&result.verdict);
        self.unanswered = if has_no_reply { self.unanswered + 1 } else { 0 };
        if self.unanswered >= MAX_CONSECUTIVE_UNANSWERED {
            let why = result.reason.as_deref().unwrap_or("unknown");
            let why = format!(
                "{MAX_CONSECUTIVE_UNANSWERED} cases in a row got no valid reply; last reason: {why}"
            );
            self.abandon_board(RunEnd::BoardLost(why));
        }
    }

    /// Judges the replies received before the board was lost. If another program may have sent
    /// them, only passes count.
    fn judge_received(&mut self, was_unchanged: bool) {
        for mut reply in self.live.take_replies() {
            let is_match = |request: &InFlightRequest<S>| request.id == reply.request_id;
            let Some(index) = self.in_flight.iter().position(is_match) else { continue };
            self.in_flight[index].add_findings(std::mem::take(&mut reply.findings));
            match self.in_flight[index].kind {
                RequestKind::Batch if reply.result.is_ok() => {
                    let request = self.in_flight.remove(index);
                    self.handle_batch_reply(request, reply);
                    continue;
                }
                RequestKind::Batch | RequestKind::Identity | RequestKind::Status => continue,
                RequestKind::Case => {}
            }
            let Ok(response) = reply.result else { continue };
            let case = self.in_flight[index].case();
            let result = self.judge(case, &response);
            // As in `handle_reply`: a failure may be another program's, and the case runs again.
            if was_unchanged || result.verdict == Verdict::Pass {
                let job = self.in_flight.remove(index).jobs.remove(0);
                self.handle_result(job, with_timing(result, (reply.retries, reply.share)));
            }
        }
    }

    /// Judges the reply to a request for a single case.
    fn judge(&self, case: &S::Case, response: &Response<S>) -> CaseResult<S> {
        match response {
            Response::Case(response) => S::judge(self.live, case, response),
            _ => merge::foreign_reply(case),
        }
    }

    /// Adds the result of a request to its case.
    fn handle_result(&mut self, mut job: CaseJob<S>, result: CaseResult<S>) {
        match job.add_result(result) {
            Some(result) => self.complete_repetition(job, result),
            None => self.pending.push_front(job),
        }
    }

    /// Merges the result of a repetition, and requeues the case if repetitions remain.
    fn complete_repetition(&mut self, mut job: CaseJob<S>, mut result: CaseResult<S>) {
        if let (Some(why), Verdict::Pass) = (job.flaky_reason.take(), result.verdict) {
            (result.verdict, result.reason) =
                (Verdict::Flaky, Some(format!("passed on a retry: {why}")));
        }
        result.attempts = std::mem::take(&mut job.attempts);
        // A suspect's pass counts when its status is good.
        if !(job.is_suspect && result.is_answered()) {
            self.count_unanswered(&result);
        }
        if let Some(before) = job.combined.take() {
            result = merge::merge_repetitions(before, result);
        }
        if let Some(finding) = &job.finding {
            result = findings::with_finding(result, finding);
        }
        let is_known = |baseline: &Baseline| baseline.compare(&result) == BaselineStatus::Known;
        let passed = matches!(result.verdict, Verdict::Pass | Verdict::Skipped)
            || self.options.baseline.is_some_and(is_known);
        if self.options.fail_fast && !passed && self.is_running() {
            self.summary.ended = RunEnd::FirstFailure;
        }
        job.remaining_repetitions -= 1;
        if job.remaining_repetitions > 0 && self.is_running() {
            job.combined = Some(result);
            self.pending.push_front(job);
        } else {
            self.buffer_result(job, result);
        }
    }
}

/// Adds the retries and the duration of a request to its result.
fn with_timing<S: Suite>(
    result: CaseResult<S>,
    (retries, elapsed): (RetryCounts, Duration),
) -> CaseResult<S> {
    CaseResult { retries, elapsed_us: elapsed.as_micros() as u64, ..result }
}

/// Returns `true` if the program on the board does not implement the request, perhaps because
/// another one than the application runs.
fn is_unknown_request(error: &LinkError) -> bool {
    matches!(error, LinkError::Refused { error, .. } if error.code == ErrorCode::UnknownType)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_suite::result;

    #[test]
    fn summaries_of_the_parts_of_a_run_add_up_and_the_last_end_counts() {
        let summary = |reconnects, restarts, why: Option<&str>| RunSummary {
            ended: RunEnd::Interrupted,
            reconnects,
            restarts,
            last_restart: why.map(str::to_owned),
            unobserved: None,
        };
        let both = summary(2, 3, Some("first")).merge(summary(5, 7, None));
        assert_eq!(both, summary(7, 10, Some("first")));
        let both = summary(2, 3, Some("first")).merge(summary(5, 7, Some("second")));
        assert_eq!(both, summary(7, 10, Some("second")));
        assert_eq!(summary(0, 0, None).merge(RunSummary::default()).ended, RunEnd::Complete);
    }

    #[test]
    fn retries_and_duration_of_a_request_are_in_its_result() {
        let retries = RetryCounts { timeout: 1, missing: 2, ..RetryCounts::default() };
        let elapsed = Duration::from_micros(4321);
        let result = with_timing(result("a", Verdict::Fail), (retries, elapsed));
        assert_eq!(
            (result.retries, result.elapsed_us, result.verdict),
            (retries, 4321, Verdict::Fail)
        );
    }
}
