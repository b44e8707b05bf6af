//! Cases that may have damaged the board. They run again, one by one, with a status after each: the
//! one that does it again fails, and if none does, one of them is flaky, so the run is no pass.

use rcflash_link::LinkError;

use super::{CaseJob, CaseResult, InFlightRequest, RunEnd, Runner, Verdict};
use crate::live::BoardSuite;
use crate::live::{SetupError, StatusFinding};

impl<S: BoardSuite> CaseJob<S> {
    /// Marks the job to run again by itself.
    fn suspect(&mut self) {
        self.is_suspect = true;
        self.may_batch = false;
    }

    /// Discards the results, so that the case runs again, with a status after it. With a reason, a
    /// pass is flaky.
    pub(super) fn repeat_alone(&mut self, repeat: u32, reason: Option<&str>) {
        self.first_result = None;
        self.suspect();
        self.reset_for_retry(repeat, reason);
    }
}

impl<S: BoardSuite> Runner<'_, S> {
    /// Returns `true` if no case may be sent: a suspect runs, or is next and others are not done.
    pub(super) fn must_wait_for_suspects(&self) -> bool {
        let is_idle = self.in_flight.is_empty() && self.unconfirmed.is_empty();
        let runs = |request: &InFlightRequest<S>| request.jobs.iter().any(|job| job.is_suspect);
        let is_next = self.pending.front().is_some_and(|job| job.is_suspect);
        let is_running = self.in_flight.iter().any(runs) || self.unconfirmed.has_suspect();
        (is_next || is_running) && !is_idle
    }

    /// Suspects the cases of a request that got no reply on a line without errors.
    pub(super) fn suspect_after_timeout(&self, error: &LinkError, jobs: &mut [CaseJob<S>]) {
        if !matches!(error, LinkError::Timeout { .. }) || self.live.has_line_errors() {
            return;
        }
        if let Some(first) = jobs.first_mut() {
            first.flaky_reason.get_or_insert_with(|| error.to_string());
        }
        jobs.iter_mut().for_each(CaseJob::suspect);
    }

    /// Suspects the cases in flight at a restart, unless faults were injected. If there were none,
    /// the oldest buffered pass becomes flaky.
    pub(super) fn suspect_after_restart(&mut self, why: &str, jobs: &mut [CaseJob<S>]) {
        if self.live.faults().is_some() {
            return;
        }
        if let [job] = jobs
            && job.is_suspect
        {
            job.lone_restarts += 1;
        }
        jobs.iter_mut().for_each(CaseJob::suspect);
        if jobs.is_empty() && self.pending.is_empty() {
            self.unconfirmed.mark_flaky(why);
        }
    }

    /// Handles damage that a status has shown. A case that ran by itself fails. The others of the
    /// batch run again, one by one.
    pub(super) fn handle_damage(&mut self, finding: StatusFinding) {
        let StatusFinding { reason, needs_reload } = finding;
        let mut batch = self.unconfirmed.take();
        if let [(job, _)] = &batch[..]
            && job.is_suspect
        {
            let (_, result) = batch.remove(0);
            self.fail(result, &reason);
        }
        let repeat = self.options.repeat;
        let mut again = Vec::new();
        for (mut job, result) in batch {
            if result.verdict != Verdict::Pass {
                (self.on_result)(result);
                continue;
            }
            job.repeat_alone(repeat, again.is_empty().then_some(reason.as_str()));
            again.push(job);
        }
        if needs_reload {
            self.reload(&reason, &mut again);
        }
        self.push_front_all(again);
    }

    /// Reports that a case damaged the board.
    fn fail(&mut self, result: CaseResult<S>, reason: &str) {
        let reason = Some(format!("this case damages the board: {reason}"));
        let result = CaseResult { verdict: Verdict::Fail, reason, ..result };
        self.count_unanswered(&result);
        if self.options.fail_fast && self.is_running() {
            self.summary.ended = RunEnd::FirstFailure;
        }
        (self.on_result)(result);
    }

    /// Loads the application again, and adds the cases in flight to those that run again.
    pub(super) fn reload(&mut self, reason: &str, again: &mut Vec<CaseJob<S>>) {
        let in_flight = self.in_flight.drain(..).flat_map(InFlightRequest::into_single_case_jobs);
        again.extend(in_flight.map(|mut job| {
            job.first_result = None;
            job
        }));
        match self.live.reload() {
            Ok(()) => self.summary.restarts += 1,
            Err(SetupError::Link(LinkError::Interrupted { .. })) => {
                self.abandon_board(RunEnd::Interrupted);
            }
            Err(error) => self.abandon_board(RunEnd::BoardLost(format!("{reason}; then {error}"))),
        }
        self.summary.last_restart = Some(reason.to_owned());
    }
}
