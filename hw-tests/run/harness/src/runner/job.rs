//! A case without a verdict, and what is known of it so far.

use rcflash_link::RequestSpec;

use super::merge::merge_requests;
use super::{CaseResult, MAX_LONE_RESTARTS, MAX_LOSSES_PER_CASE, Verdict};
use crate::live::LiveBoard;
use crate::live::{BoardSuite, CasePlan};

/// A case without a verdict.
pub(super) struct CaseJob<S: BoardSuite> {
    pub(super) case: S::Case,
    pub(super) plan: CasePlan<S>,
    /// The result of the first request, while the second one is pending.
    pub(super) first_result: Option<CaseResult<S>>,
    pub(super) remaining_repetitions: u32,
    /// The merged result of the repetitions so far.
    pub(super) combined: Option<CaseResult<S>>,
    /// How often it was sent in the current repetition.
    pub(super) attempts: u32,
    /// How often the board was lost while this case was the oldest in flight, and the last reason.
    pub(super) losses: (u32, String),
    /// Why a pass of this repetition counts as flaky, such as a restart of the board.
    pub(super) flaky_reason: Option<String>,
    /// What code under test did wrong while a request of the case ran. It outlives retries,
    /// repetitions and the recovery of the board.
    pub(super) finding: Option<String>,
    /// Whether it may share a request with other cases.
    pub(super) may_batch: bool,
    /// Whether it may have damaged the board, and runs by itself with a status after it.
    pub(super) is_suspect: bool,
    /// Restarts without a known cause while it ran by itself.
    pub(super) lone_restarts: u32,
}

impl<S: BoardSuite> CaseJob<S> {
    pub(super) fn new(live: &LiveBoard<S>, case: S::Case, remaining_repetitions: u32) -> Self {
        let plan = S::plan(live, &case);
        let may_batch = plan.batch.is_some();
        Self {
            case,
            plan,
            first_result: None,
            remaining_repetitions,
            combined: None,
            attempts: 0,
            losses: (0, String::new()),
            flaky_reason: None,
            finding: None,
            may_batch,
            is_suspect: false,
            lone_restarts: 0,
        }
    }

    /// Returns the request to send next.
    pub(super) fn current_request(&self) -> &RequestSpec {
        let second = self.first_result.as_ref().and(self.plan.second.as_ref());
        second.unwrap_or(&self.plan.first)
    }

    /// Adds the result of a request. Returns the result of the case if no request is left.
    pub(super) fn add_result(&mut self, result: CaseResult<S>) -> Option<CaseResult<S>> {
        match self.first_result.take() {
            Some(first) => Some(merge_requests(first, result)),
            None if result.verdict == Verdict::Pass && self.plan.second.is_some() => {
                self.first_result = Some(result);
                None
            }
            None => Some(result),
        }
    }

    /// Counts a loss of the board; all requests of the case are sent again.
    pub(super) fn record_loss(&mut self, why: &str) {
        self.losses = (self.losses.0 + 1, why.to_owned());
        self.first_result = None;
    }

    /// Discards the repetitions, so that the case runs again, by itself. With a reason, a pass is
    /// flaky.
    pub(super) fn reset_for_retry(&mut self, repeat: u32, reason: Option<&str>) {
        self.combined = None;
        self.remaining_repetitions = repeat.max(1);
        self.may_batch = false;
        if let Some(reason) = reason {
            self.flaky_reason.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// Returns the result of a case that need not be sent again: its verdict is known, or the board
    /// was lost too often.
    pub(super) fn early_result(&self) -> Option<CaseResult<S>> {
        let fail = |why: &String| CaseResult::with_reason(&self.case, Verdict::Fail, why);
        self.finding.as_ref().map(fail).or_else(|| self.loss_limit_result())
    }

    /// Returns the result of a case during which the board was lost too often: a fail if the case
    /// restarted the board each time that it ran by itself.
    pub(super) fn loss_limit_result(&self) -> Option<CaseResult<S>> {
        let (times, why) = &self.losses;
        if self.lone_restarts >= MAX_LONE_RESTARTS {
            let why = format!("the board restarts whenever this case runs: {why}");
            return Some(CaseResult::with_reason(&self.case, Verdict::Fail, why));
        }
        let why =
            format!("the board was lost {times} times while running this case; last reason: {why}");
        (*times >= MAX_LOSSES_PER_CASE)
            .then(|| CaseResult::with_reason(&self.case, Verdict::Error, why))
    }
}
