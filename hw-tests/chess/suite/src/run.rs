//! Runs cases on a board, pipelined. Every case gets exactly one verdict.
//!
//! [`run_cases`] keeps as many requests in flight as the board has room for, judges each reply,
//! and recovers the board if it is lost. A case is a [`Job`] with a [`JobState`]: `run` sends
//! queued jobs and handles the replies, and `recovery` decides what happens to jobs when the board
//! is lost, restarted or damaged.

mod job;
mod recovery;

use std::sync::atomic::Ordering;
use std::time::Duration;

use firmware_wire::{ErrorCode, Reply};
use hil_harness::campaign::{ConnectedBoard, Executor};
use hil_harness::live::{BoardConfig, LiveBoard};
use hil_harness::report::RunTarget;
use hil_harness::runner::{
    NO_REPLY_VERDICTS, RunEnd, RunOptions, RunSummary, Verdict, is_new_failure,
};
use rcflash_link::loader::identify_request;
use rcflash_link::{LinkError, RequestId, RequestSpec, RetryCounts};
use sargon_corpus::Case;

use crate::board::{CaseReply, Response, SargonBoard};
use crate::responses::ObservedCheck;
use crate::{CaseResult, SargonConfig, SargonSuite, judge};
use job::{Job, JobState, Sending};

/// What an application without STATUS does not report.
const UNOBSERVED: &str = "writes to program memory, stack and interrupts, since the application on \
                          the board has no STATUS request";
/// The run ends when this many consecutive cases got no valid reply.
const MAX_CONSECUTIVE_UNANSWERED: u32 = 20;
/// The run ends when the board was reset this often because it did not reply, each time after fewer
/// than [`CASES_BETWEEN_HANGS`] cases that it did reply to: resets take seconds, and those of a whole
/// run would take hours.
const MAX_HANGS: u32 = 40;
/// After so many replies earlier resets do not count.
const CASES_BETWEEN_HANGS: u32 = 100;
/// The board is identified and its status requested when this many results are unconfirmed, every
/// three seconds: the status takes as long as three cases. A count, not a time, so that the replay
/// of a transcript sends the same requests.
const MAX_UNCONFIRMED: usize = 192;

/// Runs `cases` on `board` and calls `on_result` for each, about in completion order. Cases that
/// the run does not reach get [`Verdict::NotRun`].
pub fn run_cases(
    board: &mut SargonBoard,
    cases: impl IntoIterator<Item = Case>,
    options: RunOptions,
    mut on_result: impl FnMut(CaseResult),
) -> RunSummary {
    let mut cases = cases.into_iter();
    let summary = board.run(&mut cases, options, &mut on_result);
    cases.for_each(|case| on_result(CaseResult::new(&case, Verdict::NotRun)));
    summary
}

impl Executor for SargonBoard {
    type Suite = SargonSuite;
    type Plan = SargonConfig;

    fn board_config(plan: &mut SargonConfig) -> Option<&mut BoardConfig> {
        Some(&mut plan.board)
    }

    fn live(&mut self) -> Option<&mut LiveBoard> {
        Some(&mut self.live)
    }

    fn board(&self) -> ConnectedBoard {
        ConnectedBoard {
            name: self.live.name().to_owned(),
            program: self.live.identity.to_string(),
            identity: Some(self.live.identity.clone()),
            own_routines: self.own.clone(),
            target: RunTarget::of_board(&self.live, self.not_judged()),
        }
    }

    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = Case>,
        options: RunOptions,
        on_result: &mut dyn FnMut(CaseResult),
    ) -> RunSummary {
        let needs_confirmation = self.supports_status();
        let unobserved = (!needs_confirmation).then(|| UNOBSERVED.to_owned());
        let mut runner = Runner {
            board: self,
            options,
            summary: RunSummary { unobserved, ..RunSummary::default() },
            jobs: Vec::new(),
            requests: Vec::new(),
            confirmation: Confirmation::default(),
            is_source_exhausted: false,
            unanswered: 0,
            hangs: Hangs::default(),
            is_board_abandoned: false,
            on_result,
        };
        runner.run(cases);
        for job in runner.jobs {
            (runner.on_result)(job.into_last_result(needs_confirmation));
        }
        runner.summary
    }
}

/// What a request asks the board for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    /// A single case.
    Case,
    /// Several cases.
    Batch,
    /// Name and build id of the program on the board.
    Identity,
    /// What code under test may have damaged.
    Status,
}

/// A request that the board has not replied to.
struct InFlightRequest {
    id: RequestId,
    /// Its sequence number.
    seq: u8,
    kind: RequestKind,
}

impl InFlightRequest {
    /// Returns `true` if its reply confirms results.
    fn confirms(&self) -> bool {
        matches!(self.kind, RequestKind::Identity | RequestKind::Status)
    }
}

/// How far the results that wait for it are confirmed.
#[derive(Default)]
struct Confirmation {
    /// Whether the identity is confirmed, and the status not yet.
    is_identified: bool,
    /// Restarts of the board since the last confirmation.
    restarts: u32,
}

/// Resets of a board that did not reply.
#[derive(Default)]
struct Hangs {
    count: u32,
    /// Cases that it has replied to since the last one.
    answered: u32,
}

struct Runner<'a> {
    board: &'a mut SargonBoard,
    options: RunOptions<'a>,
    summary: RunSummary,
    /// The cases that are not reported yet, in the order in which they were taken from the source.
    jobs: Vec<Job>,
    /// The requests in flight.
    requests: Vec<InFlightRequest>,
    confirmation: Confirmation,
    /// Whether the source returned no case when last polled.
    is_source_exhausted: bool,
    /// Consecutive cases without a valid reply.
    unanswered: u32,
    hangs: Hangs,
    is_board_abandoned: bool,
    on_result: &'a mut dyn FnMut(CaseResult),
}

impl Runner<'_> {
    fn run(&mut self, cases: &mut dyn Iterator<Item = Case>) {
        loop {
            if self.is_running() && self.options.interrupted.load(Ordering::Relaxed) {
                self.summary.ended = RunEnd::Interrupted;
            }
            // Sent between other requests, so the line stays busy.
            let needs_room = self.unconfirmed() >= MAX_UNCONFIRMED && !self.request_confirmation();
            while !needs_room && self.is_running() && self.send_next(cases) {}
            // Do not read from an abandoned board: what still arrives belongs to no case, and
            // recovering from its errors would never end.
            if self.is_board_abandoned {
                return;
            }
            if self.requests.is_empty() || self.is_source_exhausted && self.next_queued(0).is_none()
            {
                self.request_confirmation();
            }
            match self.board.next_reply() {
                Ok(Some(reply)) => self.handle_reply(reply),
                Ok(None) if self.is_finished() => return,
                Ok(None) => {}
                Err(LinkError::Interrupted { .. }) => {
                    self.summary.ended = RunEnd::Interrupted;
                    return;
                }
                Err(error) => self.recover_from(&error),
            }
            self.report_settled();
        }
    }

    fn is_finished(&self) -> bool {
        self.unconfirmed() == 0 && (self.next_queued(0).is_none() || !self.is_running())
    }

    fn is_running(&self) -> bool {
        self.summary.ended == RunEnd::Complete
    }

    /// Reports the jobs that have a verdict.
    fn report_settled(&mut self) {
        for job in self.jobs.extract_if(.., |job| matches!(job.state, JobState::Settled(_))) {
            (self.on_result)(job.into_last_result(false));
        }
    }

    /// Returns the first queued job from this index on.
    fn next_queued(&self, from: usize) -> Option<usize> {
        (from..self.jobs.len()).find(|job| self.jobs[*job].is_queued())
    }

    /// Returns the jobs of a request, in order.
    fn jobs_of(&self, id: RequestId) -> Vec<usize> {
        (0..self.jobs.len()).filter(|job| self.jobs[*job].request_id() == Some(id)).collect()
    }

    /// Returns the number of results that wait for a confirmation.
    fn unconfirmed(&self) -> usize {
        self.jobs.iter().filter(|job| job.unconfirmed().is_some()).count()
    }

    /// Returns the first queued job from this index on, or that of the next case.
    fn next_job(&mut self, from: usize, cases: &mut dyn Iterator<Item = Case>) -> Option<usize> {
        let next = self.next_queued(from).or_else(|| {
            let case = cases.next()?;
            let plan = self.board.plan(&case.subject);
            self.jobs.push(Job::new(case, plan, self.options.repeat));
            Some(self.jobs.len() - 1)
        });
        self.is_source_exhausted = next.is_none();
        next
    }

    /// Sends one more request. Returns `false` if there is none, or the window is full.
    fn send_next(&mut self, cases: &mut dyn Iterator<Item = Case>) -> bool {
        if self.must_wait_for_suspects() {
            return false;
        }
        let Some(next) = self.next_job(0, cases) else { return false };
        let job = &self.jobs[next];
        let unsupported = self.board.unsupported_reason(&job.case.subject);
        let skip = |why| CaseResult::with_reason(&job.case, Verdict::Skipped, why);
        if let Some(result) = unsupported.map(skip).or_else(|| job.forced_result()) {
            self.add_reply(next, result);
            return true;
        }
        if job.may_share() {
            let jobs = self.batch_from(next, cases);
            return self.send_jobs(&jobs, &self.batch_request(&jobs), RequestKind::Batch);
        }
        let request = job.next_request().clone();
        self.send_jobs(&[next], &request, RequestKind::Case)
    }

    /// Returns `true` if no case may be sent: a suspect runs, or is next and others are not done.
    fn must_wait_for_suspects(&self) -> bool {
        let is_idle = self.requests.is_empty() && self.unconfirmed() == 0;
        let is_next = self.next_queued(0).is_some_and(|job| self.jobs[job].is_suspect());
        let is_running = self.jobs.iter().any(|job| job.is_suspect() && !job.is_queued());
        (is_next || is_running) && !is_idle
    }

    /// Returns `first` with the next jobs that fit in the same request.
    fn batch_from(&mut self, first: usize, cases: &mut dyn Iterator<Item = Case>) -> Vec<usize> {
        let max = self.board.positions_per_check();
        let mut jobs = vec![first];
        while jobs.len() < max
            && let Some(job) = self.next_job(jobs[jobs.len() - 1] + 1, cases)
            && self.jobs[job].may_share()
        {
            jobs.push(job);
        }
        // The IDENT request takes the room of the last one.
        let is_confirming = self.requests.iter().any(InFlightRequest::confirms);
        if is_confirming && jobs.len() > 1 && !self.has_room(&self.batch_request(&jobs)) {
            jobs.pop();
        }
        jobs
    }

    /// Returns the request for these jobs.
    fn batch_request(&self, jobs: &[usize]) -> RequestSpec {
        let items = jobs.iter().filter_map(|job| self.jobs[*job].plan.batch.as_ref());
        self.board.checks_spec(items.map(|expected| expected.request).collect())
    }

    fn has_room(&self, request: &RequestSpec) -> bool {
        self.board.live.link.has_room(&request.request)
    }

    /// Sends a request for these jobs. Returns `false` if the window is full.
    fn send_jobs(&mut self, jobs: &[usize], request: &RequestSpec, kind: RequestKind) -> bool {
        if !self.has_room(request) {
            return false;
        }
        if let Some(id) = self.send(request, kind) {
            jobs.iter().for_each(|job| self.jobs[*job].send(id));
        }
        true
    }

    /// Sends a request, or recovers the board.
    fn send(&mut self, request: &RequestSpec, kind: RequestKind) -> Option<RequestId> {
        match self.board.submit(request) {
            Ok((id, seq)) => {
                self.requests.push(InFlightRequest { id, seq, kind });
                Some(id)
            }
            Err(error) => {
                self.recover_from(&error);
                None
            }
        }
    }

    /// Sends IDENT, or STATUS after its reply, if results are unconfirmed or will be soon. Returns
    /// `false` if the window is full.
    fn request_confirmation(&mut self) -> bool {
        let is_sent = self.requests.iter().any(InFlightRequest::confirms);
        if is_sent || self.unconfirmed() == 0 && self.requests.is_empty() {
            return true;
        }
        let (request, kind) = match self.confirmation.is_identified {
            true => (self.board.status_request(), RequestKind::Status),
            false => (identify_request(), RequestKind::Identity),
        };
        if !self.has_room(&request) {
            return false;
        }
        self.send(&request, kind);
        true
    }

    /// Confirms all results.
    fn confirm_all(&mut self) {
        self.confirmation = Confirmation::default();
        self.jobs.iter_mut().filter(|job| job.unconfirmed().is_some()).for_each(Job::confirm);
    }

    /// Confirms the results if the application has no STATUS, whose reply would do that.
    fn confirm_identity(&mut self) {
        if self.board.supports_status() {
            self.confirmation.is_identified = self.unconfirmed() > 0;
        } else {
            self.confirm_all();
        }
    }

    /// Removes the request of a reply, and adds what code under test did wrong during it to its
    /// jobs, which stay in flight.
    fn take_request(&mut self, reply: &mut CaseReply) -> Option<InFlightRequest> {
        let index = self.requests.iter().position(|request| request.id == reply.request_id)?;
        let request = self.requests.remove(index);
        let jobs = self.jobs_of(request.id);
        for finding in std::mem::take(&mut reply.findings) {
            if let Some(index) = finding.case.checked_rem(jobs.len()) {
                self.jobs[jobs[index]].incidents.add_finding(finding.reason);
            }
        }
        Some(request)
    }

    /// Handles one reply.
    fn handle_reply(&mut self, mut reply: CaseReply) {
        let Some(request) = self.take_request(&mut reply) else { return };
        let jobs = self.jobs_of(request.id);
        match (request.kind, reply.result) {
            (RequestKind::Identity, Ok(Response::Other(Reply::Identity(identity))))
                if identity == self.board.live.identity =>
            {
                self.confirm_identity();
            }
            (RequestKind::Status, Ok(Response::Other(Reply::Status(status)))) => {
                self.handle_status(&status);
            }
            (RequestKind::Identity | RequestKind::Status, Ok(_)) => {
                self.recover("another program replied", None);
            }
            (RequestKind::Identity | RequestKind::Status, Err(error)) => self.recover_from(&error),
            // The jobs are still in flight, so that the loss counts against the first.
            (RequestKind::Case | RequestKind::Batch, Err(error)) if is_unknown_request(&error) => {
                self.recover_from(&error);
            }
            (RequestKind::Case, Ok(response)) => {
                let result = self.judge(jobs[0], &response, reply.timing);
                self.handle_judged(jobs[0], result);
            }
            (RequestKind::Case, Err(error)) => {
                let result = self.missing_reply(jobs[0], &error);
                self.add_reply(jobs[0], with_timing(result, reply.timing));
                if is_timeout(&error) {
                    self.recover_from(&error);
                }
            }
            (RequestKind::Batch, Ok(Response::Batch(checks))) if checks.len() == jobs.len() => {
                self.judge_batch(&jobs, &checks, reply.timing);
            }
            (RequestKind::Batch, Err(error)) if is_timeout(&error) => {
                self.suspect_after_timeout(&error, &jobs);
                self.recover_from(&error);
            }
            (RequestKind::Batch, _) => {
                jobs.iter().for_each(|job| self.jobs[*job].queue(Sending::Alone));
            }
        }
    }

    /// Handles the result of a single request. Another build may answer after an unnoticed reset.
    /// Passes wait for the next confirmation; a failure is verified at once, because it may end the
    /// run.
    fn handle_judged(&mut self, job: usize, result: CaseResult) {
        if result.verdict == Verdict::Fail {
            let is_expected = self.board.live.is_expected_application();
            if is_expected.is_ok_and(|is_expected| is_expected) {
                self.confirm_identity();
            } else if !self.recover("another program may have answered", None) {
                return; // the case runs again
            }
        }
        self.add_reply(job, result);
    }

    /// Judges the reply to a request for a single case.
    fn judge(
        &self,
        job: usize,
        response: &Response,
        timing: (RetryCounts, Duration),
    ) -> CaseResult {
        let case = &self.jobs[job].case;
        with_timing(judge::judge_case(case, self.board.criteria, response), timing)
    }

    /// Judges the replies of a batch: a matching CRC counts as a match of every byte. Other cases
    /// are sent by themselves.
    fn judge_batch(
        &mut self,
        jobs: &[usize],
        checks: &[ObservedCheck],
        (mut retries, elapsed): (RetryCounts, Duration),
    ) {
        let elapsed = elapsed / u32::try_from(checks.len().max(1)).unwrap_or(u32::MAX);
        for (&index, seen) in jobs.iter().zip(checks) {
            let timing = (std::mem::take(&mut retries), elapsed);
            let job = &mut self.jobs[index];
            let Some(expected) = &job.plan.batch else { continue };
            if expected.crc == seen.crc {
                let criteria = self.board.criteria;
                let result = judge::judge_by_crc(&job.case, criteria, expected, seen);
                self.end_repetition(index, with_timing(result, timing));
            } else {
                let crcs = format!("{:08X}h, expected {:08X}h", seen.crc, expected.crc);
                job.queue_undecided(&format!("the CRC of its replies was {crcs}"));
            }
        }
    }

    /// Returns the result of a case without a valid reply: a timeout or an error.
    fn missing_reply(&mut self, job: usize, error: &LinkError) -> CaseResult {
        let (verdict, reason) = match is_timeout(error) {
            true => {
                let place = self.board.live.describe_program_counter();
                (Verdict::Timeout, format!("{error}; {place}"))
            }
            false => (Verdict::Error, error.to_string()),
        };
        CaseResult::with_reason(&self.jobs[job].case, verdict, reason)
    }

    /// Adds the result of a request to its case.
    fn add_reply(&mut self, job: usize, result: CaseResult) {
        if let Some(result) = self.jobs[job].add_reply(result) {
            self.end_repetition(job, result);
        }
    }

    /// Ends a repetition of a case with this result, and queues the case if repetitions remain.
    fn end_repetition(&mut self, job: usize, result: CaseResult) {
        let result = self.jobs[job].end_repetition(result);
        // A suspect's pass counts when its status is good.
        if !(self.jobs[job].is_suspect() && result.is_answered()) {
            self.count_unanswered(&result);
        }
        self.hangs.answered += u32::from(result.is_answered());
        let result = self.jobs[job].merge(result);
        if is_new_failure(self.options.baseline, &result) {
            self.end_at_failure();
        }
        let is_running = self.is_running();
        self.jobs[job].repeat_or_finish(result, is_running);
    }

    /// Ends the run after a failure if it is to end at the first one.
    fn end_at_failure(&mut self) {
        if self.options.fail_fast && self.is_running() {
            self.summary.ended = RunEnd::FirstFailure;
        }
    }

    /// Abandons a board that replies to no case at all: each case has its timeout, but those of a
    /// whole run would take hours.
    fn count_unanswered(&mut self, result: &CaseResult) {
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
}

/// Adds the retries and the duration of a request to its result.
fn with_timing(result: CaseResult, (retries, elapsed): (RetryCounts, Duration)) -> CaseResult {
    CaseResult { retries, elapsed_us: elapsed.as_micros() as u64, ..result }
}

fn is_timeout(error: &LinkError) -> bool {
    matches!(error, LinkError::Timeout { .. })
}

/// Returns `true` if the program on the board does not implement the request, perhaps because
/// another one than the application runs.
fn is_unknown_request(error: &LinkError) -> bool {
    matches!(error, LinkError::Refused { error, .. } if error.code == ErrorCode::UnknownType)
}

#[cfg(test)]
mod tests;
