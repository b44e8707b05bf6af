//! A case of a run: its state, and what is known of it so far.

use hil_harness::runner::Verdict;
use hil_harness::verdict_table::{merge_repetitions, merge_requests};
use rcflash_link::{RequestId, RequestSpec};
use sargon_corpus::Case;

use crate::CaseResult;
use crate::board::CasePlan;

/// A case gets [`Verdict::Error`] when the board was lost this often while it was the oldest in
/// flight.
pub(super) const MAX_LOSSES: u32 = 3;
/// A case fails when the board restarted without a known cause this often while it ran by itself.
const MAX_LONE_RESTARTS: u32 = 2;

/// A case of a run.
pub(super) struct Job {
    pub(super) case: Case,
    pub(super) plan: CasePlan,
    pub(super) state: JobState,
    pub(super) sending: Sending,
    /// The result of the first request, until the second one is replied to.
    first: Option<CaseResult>,
    repetitions: Repetitions,
    pub(super) incidents: Incidents,
}

/// The state of a [`Job`]. A queued job is sent; its reply settles it once the board has confirmed
/// its build id and a good status, or queues it again: for a second request, a repetition, or
/// because the reply does not count.
pub(super) enum JobState {
    /// Waits for its next request.
    Queued,
    /// Is in this request, which the board has not replied to.
    InFlight(RequestId),
    /// Has a result, which waits for a confirmation: after an unnoticed reset another build may
    /// answer, and may be right where the build under test is wrong; and code under test may damage
    /// the board while its replies are right.
    Unconfirmed(Box<CaseResult>),
    /// Has its verdict.
    Settled(Box<CaseResult>),
}

/// How a job is sent. Later ways replace earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sending {
    /// In a request with other cases, if its plan allows that.
    Shared,
    /// By itself.
    Alone,
    /// By itself, with a status after it, since it may have damaged the board.
    Suspect,
}

/// The repetitions of a case.
struct Repetitions {
    total: u32,
    left: u32,
    /// The result of those so far.
    merged: Option<CaseResult>,
    /// How often the case was sent in the current one.
    attempts: u32,
}

/// What went wrong while requests of a case ran.
#[derive(Default)]
pub(super) struct Incidents {
    /// How often the board was lost while this case was the oldest in flight.
    losses: u32,
    last_loss: String,
    /// Restarts without a known cause while it ran by itself.
    pub(super) lone_restarts: u32,
    /// Why a pass of this repetition counts as flaky, such as a restart of the board.
    flaky: Option<String>,
    /// What code under test did wrong. It outlives repetitions and the recovery of the board.
    finding: Option<String>,
}

impl Incidents {
    pub(super) fn mark_flaky(&mut self, reason: &str) {
        self.flaky.get_or_insert_with(|| reason.to_owned());
    }

    pub(super) fn add_finding(&mut self, finding: String) {
        self.finding.get_or_insert(finding);
    }
}

impl Job {
    pub(super) fn new(case: Case, plan: CasePlan, repeat: u32) -> Self {
        let total = repeat.max(1);
        Self {
            case,
            plan,
            state: JobState::Queued,
            sending: Sending::Shared,
            first: None,
            repetitions: Repetitions { total, left: total, merged: None, attempts: 0 },
            incidents: Incidents::default(),
        }
    }

    pub(super) fn is_queued(&self) -> bool {
        matches!(self.state, JobState::Queued)
    }

    pub(super) fn is_suspect(&self) -> bool {
        self.sending == Sending::Suspect
    }

    /// Returns the request that it is in.
    pub(super) fn request_id(&self) -> Option<RequestId> {
        match self.state {
            JobState::InFlight(id) => Some(id),
            _ => None,
        }
    }

    /// Returns the result that waits for a confirmation.
    pub(super) fn unconfirmed(&self) -> Option<&CaseResult> {
        match &self.state {
            JobState::Unconfirmed(result) => Some(result),
            _ => None,
        }
    }

    /// Returns the request to send next, if it is sent by itself.
    pub(super) fn next_request(&self) -> &RequestSpec {
        let second = self.first.as_ref().and(self.plan.second.as_ref());
        second.unwrap_or(&self.plan.first)
    }

    /// Returns `true` if it may be sent in a request with other cases.
    pub(super) fn may_share(&self) -> bool {
        self.sending == Sending::Shared
            && self.plan.batch.is_some()
            && self.forced_result().is_none()
    }

    /// Records that it was sent.
    pub(super) fn send(&mut self, id: RequestId) {
        self.state = JobState::InFlight(id);
        self.repetitions.attempts += u32::from(self.first.is_none());
    }

    /// Queues it for its next request.
    pub(super) fn queue(&mut self, sending: Sending) {
        self.state = JobState::Queued;
        self.sending = self.sending.max(sending);
    }

    /// Queues it by itself because the reply for several cases does not suffice for a verdict, so
    /// that verdicts and messages equal those of a run without batches.
    pub(super) fn queue_undecided(&mut self, reason: &str) {
        self.queue(Sending::Alone);
        if self.incidents.finding.is_none() {
            self.repetitions.attempts = 0; // not sent by itself yet
        }
        self.incidents.mark_flaky(reason);
    }

    /// Discards all its results, and queues it. With a reason, a pass is flaky.
    pub(super) fn start_over(&mut self, sending: Sending, flaky: Option<&str>) {
        self.queue(sending);
        self.first = None;
        self.repetitions.merged = None;
        self.repetitions.left = self.repetitions.total;
        if let Some(reason) = flaky {
            self.incidents.mark_flaky(reason);
        }
    }

    /// Discards the result of the first request, so that both are sent again.
    pub(super) fn repeat_first(&mut self) {
        self.first = None;
    }

    /// Counts a loss of the board; all requests of the case are sent again.
    pub(super) fn record_loss(&mut self, why: &str) {
        self.incidents.losses += 1;
        why.clone_into(&mut self.incidents.last_loss);
        self.repeat_first();
    }

    /// Returns `true` if earlier repetitions had only correct replies, which count only if the
    /// board was the right one, and whole.
    pub(super) fn has_correct_repetitions(&self) -> bool {
        self.repetitions.merged.as_ref().is_some_and(has_only_correct_replies)
    }

    /// Returns the result of a case that need not be sent again: its verdict is known, or the board
    /// was lost too often.
    pub(super) fn forced_result(&self) -> Option<CaseResult> {
        let Incidents { losses, last_loss: why, lone_restarts, finding, .. } = &self.incidents;
        let (verdict, reason) = match finding {
            Some(finding) => (Verdict::Fail, finding.clone()),
            None if *lone_restarts >= MAX_LONE_RESTARTS => {
                (Verdict::Fail, format!("the board restarts whenever this case runs: {why}"))
            }
            None if *losses >= MAX_LOSSES => {
                let lost = format!("the board was lost {losses} times while running this case");
                (Verdict::Error, format!("{lost}; last reason: {why}"))
            }
            None => return None,
        };
        Some(CaseResult::with_reason(&self.case, verdict, reason))
    }

    /// Adds the result of a request. Returns the result of the repetition, or queues the second
    /// request.
    pub(super) fn add_reply(&mut self, result: CaseResult) -> Option<CaseResult> {
        match self.first.take() {
            Some(first) => Some(merge_requests(first, result)),
            None if result.verdict == Verdict::Pass && self.plan.second.is_some() => {
                self.first = Some(result);
                self.queue(self.sending);
                None
            }
            None => Some(result),
        }
    }

    /// Completes the result of a repetition by what went wrong during it.
    pub(super) fn end_repetition(&mut self, mut result: CaseResult) -> CaseResult {
        if let (Some(why), Verdict::Pass) = (self.incidents.flaky.take(), result.verdict) {
            (result.verdict, result.reason) =
                (Verdict::Flaky, Some(format!("passed on a retry: {why}")));
        }
        result.attempts = std::mem::take(&mut self.repetitions.attempts);
        result
    }

    /// Merges the result of a repetition with those before.
    pub(super) fn merge(&mut self, mut result: CaseResult) -> CaseResult {
        if let Some(before) = self.repetitions.merged.take() {
            result = merge_repetitions(before, result);
        }
        match &self.incidents.finding {
            Some(finding) => with_finding(result, finding),
            None => result,
        }
    }

    /// Queues the next repetition if the run goes on and there is one; else the result waits for
    /// its confirmation.
    pub(super) fn repeat_or_finish(&mut self, result: CaseResult, is_running: bool) {
        self.repetitions.left -= 1;
        if self.repetitions.left > 0 && is_running {
            self.repetitions.merged = Some(result);
            self.queue(self.sending);
        } else {
            self.state = JobState::Unconfirmed(Box::new(result));
        }
    }

    /// Gives the verdict whose result is waiting for its confirmation, as it is.
    pub(super) fn confirm(&mut self) {
        if let JobState::Unconfirmed(result) = std::mem::replace(&mut self.state, JobState::Queued)
        {
            self.state = JobState::Settled(result);
        }
    }

    /// Returns its result at the end of the run, in which a correct reply counts only if it was
    /// confirmed.
    pub(super) fn into_last_result(self, needs_confirmation: bool) -> CaseResult {
        let known = match self.state {
            JobState::Settled(result) => return *result,
            JobState::Unconfirmed(result) => Some(*result),
            JobState::Queued | JobState::InFlight(_) => self.repetitions.merged,
        };
        let known = known.filter(|it| !needs_confirmation || !has_only_correct_replies(it));
        known.unwrap_or_else(|| CaseResult::new(&self.case, Verdict::NotRun))
    }
}

/// Returns `true` if every judged reply of the case was right.
pub(super) fn has_only_correct_replies(result: &CaseResult) -> bool {
    let passed = matches!(result.verdict, Verdict::Pass | Verdict::Flaky);
    passed && result.differences.is_empty()
}

/// Returns the result of a case during which code under test did what it must not do. It fails,
/// whatever the values are.
fn with_finding(result: CaseResult, finding: &str) -> CaseResult {
    let reason = match result.reason {
        Some(other) if other.contains(finding) => other,
        Some(other) => format!("{finding}; {other}"),
        None => finding.to_owned(),
    };
    CaseResult { verdict: Verdict::Fail, reason: Some(reason), ..result }
}

#[cfg(test)]
mod tests {
    use sargon_corpus::builtin_corpus;

    use super::*;

    #[test]
    fn a_finding_makes_any_verdict_a_fail_and_keeps_the_other_reason() {
        let case = builtin_corpus().expect("the corpus").remove(0);
        for verdict in Verdict::ALL {
            let reason = (verdict != Verdict::Pass).then(|| format!("{verdict}s"));
            let other = reason.as_ref().map(|reason| format!("; {reason}"));
            let result = CaseResult { attempts: 3, reason, ..CaseResult::new(&case, verdict) };
            let found = with_finding(result, "it executed HLT");
            assert_eq!((found.verdict, found.attempts), (Verdict::Fail, 3), "{verdict}");
            let expected = format!("it executed HLT{}", other.unwrap_or_default());
            assert_eq!(found.reason, Some(expected.clone()));
            let again =
                with_finding(CaseResult { reason: found.reason, ..found }, "it executed HLT");
            assert_eq!(again.reason, Some(expected), "once");
        }
    }
}
