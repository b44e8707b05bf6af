//! Recovers the board, and decides for each job what its results and requests so far are worth.

use firmware_wire::StatusReply;
use hil_harness::board::BoardError;
use hil_harness::live::{Recovery, SetupError};
use hil_harness::runner::{RunEnd, Verdict};
use rcflash_link::LinkError;

use super::job::{Job, JobState, MAX_LOSSES, Sending, has_only_correct_replies};
use super::{CASES_BETWEEN_HANGS, Hangs, MAX_HANGS, RequestKind, Runner, is_timeout};
use crate::CaseResult;
use crate::board::{Response, StatusFinding};

impl Runner<'_> {
    /// Recovers the board after an error. Without a reply on a line without errors the application
    /// hangs, and is reset.
    pub(super) fn recover_from(&mut self, error: &LinkError) {
        let is_hang = is_timeout(error) && !self.board.has_line_errors();
        let hang = is_hang.then(|| format!("the board was reset after an error: {error}"));
        self.recover(&error.to_string(), hang);
        if is_hang && !self.is_board_abandoned {
            self.count_hang(error);
        }
    }

    /// Reports a reset of a board that did not reply, and abandons one that hangs again and again.
    fn count_hang(&mut self, error: &LinkError) {
        let Hangs { count, answered } = std::mem::take(&mut self.hangs);
        self.hangs.count = if answered < CASES_BETWEEN_HANGS { count + 1 } else { 1 };
        let count = self.hangs.count;
        let live = &self.board.live;
        (live.config.on_notice)(&format!("{}: no reply, reset {count}", live.name()));
        if count >= MAX_HANGS {
            let why = format!(
                "it was reset {count} times because it did not reply, each time after fewer than \
                 {CASES_BETWEEN_HANGS} cases; last reason: {error}"
            );
            self.abandon_board(RunEnd::BoardLost(why));
        }
    }

    /// Recovers the board, and queues the jobs in flight. With `hang`, the reason, the board is
    /// reset at once. Returns `true` if the application was never replaced or restarted.
    pub(super) fn recover(&mut self, why: &str, hang: Option<String>) -> bool {
        let recovered = self.board.recover(hang);
        let was_unchanged = matches!(recovered, Ok(Recovery::Unchanged));
        // A reply received before the loss belongs to a request that is still in flight, which
        // would otherwise be sent again and counted as one more attempt.
        self.judge_received(was_unchanged);
        self.add_unclaimed_findings();
        let lost = self.queue_in_flight();
        // The board works strictly in order, so only the oldest request can have crashed it. Its
        // job comes first in the queue, so that a case that crashes the board uses up its attempts
        // at once and does not count losses against other cases.
        let oldest = lost.first().copied().or_else(|| self.next_queued(0));
        if let Some(oldest) = oldest {
            self.jobs[oldest].record_loss(why);
        }
        match recovered {
            Ok(Recovery::Unchanged) => {
                self.summary.reconnects += 1;
                self.confirm_identity();
            }
            Ok(Recovery::Replaced(why)) => {
                self.count_restart(&why, oldest);
                self.discard_foreign_passes(&why);
            }
            Ok(Recovery::Restarted(why)) => {
                self.count_restart(&why, oldest);
                self.suspect_after_restart(&why, &lost);
                self.repeat_unconfirmed_after_restart(&why);
            }
            Err(error) => self.abandon_after(why, &error),
        }
        was_unchanged
    }

    /// Abandons a board that could not be recovered after `why`.
    fn abandon_after(&mut self, why: &str, error: &SetupError) {
        self.abandon_board(match error {
            SetupError::Link(LinkError::Interrupted { .. }) => RunEnd::Interrupted,
            SetupError::Board(BoardError::Transcript(..)) => RunEnd::FileFailed(error.to_string()),
            _ => RunEnd::BoardLost(format!("{why}; then {error}")),
        });
    }

    fn count_restart(&mut self, why: &str, oldest: Option<usize>) {
        self.summary.restarts += 1;
        self.summary.last_restart = Some(why.to_owned());
        if let Some(oldest) = oldest {
            self.jobs[oldest].incidents.mark_flaky(why);
        }
    }

    /// Queues the jobs in flight by themselves, so that a case that crashes the board is
    /// identified. Returns them in the order of their requests.
    pub(super) fn queue_in_flight(&mut self) -> Vec<usize> {
        self.requests.clear();
        let lost = self.in_flight();
        lost.iter().for_each(|job| self.jobs[*job].queue(Sending::Alone));
        lost
    }

    /// Returns the jobs in flight, in the order of their requests.
    fn in_flight(&self) -> Vec<usize> {
        let is_in_flight = |job: &usize| self.jobs[*job].request_id().is_some();
        let mut jobs: Vec<_> = (0..self.jobs.len()).filter(is_in_flight).collect();
        jobs.sort_by_key(|job| self.jobs[*job].request_id());
        jobs
    }

    /// Stops using the board. A run that was ending anyway keeps its reason unless the user stops it.
    pub(super) fn abandon_board(&mut self, ended: RunEnd) {
        self.is_board_abandoned = true;
        if self.is_running() || ended == RunEnd::Interrupted {
            self.summary.ended = ended;
        }
    }

    /// Judges the replies received before the board was lost. If another program may have sent
    /// them, only passes count.
    fn judge_received(&mut self, was_unchanged: bool) {
        for mut reply in self.board.take_replies() {
            let Some(request) = self.take_request(&mut reply) else { continue };
            let jobs = self.jobs_of(request.id);
            match (request.kind, reply.result) {
                (RequestKind::Batch, Ok(Response::Batch(checks))) => {
                    self.judge_batch(&jobs, &checks, reply.timing);
                }
                (RequestKind::Case, Ok(response)) => {
                    let result = self.judge(jobs[0], &response, reply.timing);
                    // The failure may be another program's; the case runs again.
                    if was_unchanged || result.verdict == Verdict::Pass {
                        self.add_reply(jobs[0], result);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the findings that no reply has claimed to the cases whose requests ran; if a request is
    /// unknown, to the oldest one.
    fn add_unclaimed_findings(&mut self) {
        for finding in self.board.take_findings(None) {
            let id = self.requests.iter().find(|one| one.seq == finding.seq).map(|one| one.id);
            let jobs = id.map_or(Vec::new(), |id| self.jobs_of(id));
            let known = finding.case.checked_rem(jobs.len()).map(|index| jobs[index]);
            let oldest = || self.in_flight().first().copied();
            if let Some(job) = known.or_else(oldest).or_else(|| self.next_queued(0)) {
                self.jobs[job].incidents.add_finding(finding.reason);
            }
        }
    }

    /// Queues all cases with passes since the last confirmation, because another program may have
    /// produced them. Failures stay: each was confirmed at once.
    fn discard_foreign_passes(&mut self, why: &str) {
        self.confirmation = Default::default();
        for job in &mut self.jobs {
            match &job.state {
                JobState::Unconfirmed(result) if has_only_correct_replies(result) => {
                    job.record_loss(why);
                    job.start_over(Sending::Alone, Some(why));
                }
                JobState::Unconfirmed(_) => job.confirm(),
                _ if job.has_correct_repetitions() => {
                    job.start_over(Sending::Alone, Some(why));
                }
                _ => job.repeat_first(),
            }
        }
    }

    /// Suspects the cases in flight at a restart, unless faults were injected. If there were none,
    /// the oldest unconfirmed pass becomes flaky.
    fn suspect_after_restart(&mut self, why: &str, lost: &[usize]) {
        if self.board.live.faults().is_some() {
            return;
        }
        if let [job] = lost
            && self.jobs[*job].is_suspect()
        {
            self.jobs[*job].incidents.lone_restarts += 1;
        }
        lost.iter().for_each(|job| self.jobs[*job].queue(Sending::Suspect));
        if self.next_queued(0).is_some() {
            return;
        }
        let unconfirmed = self.jobs.iter_mut().filter_map(|job| match &mut job.state {
            JobState::Unconfirmed(result) if result.verdict == Verdict::Pass => Some(result),
            _ => None,
        });
        if let Some(result) = unconfirmed.into_iter().next() {
            result.verdict = Verdict::Flaky;
            result.reason = Some(format!("passed, but then {why}"));
        }
    }

    /// Suspects the cases of a request that got no reply on a line without errors.
    pub(super) fn suspect_after_timeout(&mut self, error: &LinkError, jobs: &[usize]) {
        if self.board.has_line_errors() {
            return;
        }
        if let Some(first) = jobs.first() {
            self.jobs[*first].incidents.mark_flaky(&error.to_string());
        }
        jobs.iter().for_each(|job| self.jobs[*job].sending = Sending::Suspect);
    }

    /// Handles the unconfirmed results after a restart of the board. What happened before it is not
    /// known, so passes run again.
    fn repeat_unconfirmed_after_restart(&mut self, why: &str) {
        if self.board.supports_status() {
            for job in self.jobs.iter_mut().filter(|job| job.has_correct_repetitions()) {
                job.start_over(Sending::Suspect, None);
            }
            self.repeat_unconfirmed_passes(why);
            return;
        }
        // A board that is lost at every IDENT would never confirm its results.
        self.confirmation.restarts += 1;
        if self.confirmation.restarts >= MAX_LOSSES {
            self.confirm_all();
        }
    }

    /// Queues the cases with unconfirmed passes, to run one by one, and settles the others.
    fn repeat_unconfirmed_passes(&mut self, why: &str) {
        self.confirmation = Default::default();
        for job in &mut self.jobs {
            let JobState::Unconfirmed(result) = &job.state else { continue };
            if !has_only_correct_replies(result) {
                job.confirm();
                continue;
            }
            let flaky = result.reason.clone().filter(|_| result.verdict == Verdict::Flaky);
            // Bounded: a case runs again by itself until the board was lost too often.
            if job.is_suspect() {
                job.record_loss(why);
            }
            job.start_over(Sending::Suspect, flaky.as_deref());
        }
    }

    /// Handles the reply to a STATUS request.
    pub(super) fn handle_status(&mut self, status: &StatusReply) {
        if self.board.status.is_none() {
            let why = "the status at the start of the application is not known";
            self.repeat_unconfirmed_passes(why);
            return self.reload(why);
        }
        match self.board.status_finding(status) {
            None => {
                self.unanswered = 0;
                self.confirm_all();
            }
            Some(finding) => self.handle_damage(&finding),
        }
    }

    /// Handles damage that a status has shown. A case that ran by itself fails. The others run
    /// again, one by one: the one that does it again fails, and if none does, one of them is flaky,
    /// so the run is no pass.
    fn handle_damage(&mut self, finding: &StatusFinding) {
        let StatusFinding { reason, needs_reload } = finding;
        self.confirmation = Default::default();
        let mut unconfirmed: Vec<_> =
            self.jobs.iter_mut().filter(|job| job.unconfirmed().is_some()).collect();
        if let [job] = &mut unconfirmed[..]
            && job.is_suspect()
        {
            let result = fail_by_damage(job, reason);
            self.count_unanswered(&result);
            self.end_at_failure();
        } else {
            let mut flaky = Some(reason.as_str());
            for job in unconfirmed {
                match job.unconfirmed() {
                    Some(result) if result.verdict == Verdict::Pass => {
                        job.start_over(Sending::Suspect, flaky.take());
                    }
                    _ => job.confirm(),
                }
            }
        }
        if *needs_reload {
            self.reload(reason);
        }
    }

    /// Loads the application again, and queues the cases in flight.
    fn reload(&mut self, reason: &str) {
        for job in self.queue_in_flight() {
            self.jobs[job].repeat_first();
        }
        match self.board.reload() {
            Ok(()) => self.summary.restarts += 1,
            Err(error) => self.abandon_after(reason, &error),
        }
        self.summary.last_restart = Some(reason.to_owned());
    }
}

/// Settles a case that damaged the board.
fn fail_by_damage(job: &mut Job, reason: &str) -> CaseResult {
    let reason = Some(format!("this case damages the board: {reason}"));
    let result =
        job.unconfirmed().cloned().unwrap_or_else(|| CaseResult::new(&job.case, Verdict::Fail));
    let result = CaseResult { verdict: Verdict::Fail, reason, ..result };
    job.state = JobState::Settled(Box::new(result.clone()));
    result
}
