//! Everything that the forms of a report show of all its cases together.

use std::collections::BTreeMap;

use super::Report;
use crate::runner::{CaseResult, FaultOrigin, Verdict, VerdictCounts};
use crate::suite::Suite;

/// Most cases that did not pass of which the whole result is buffered.
pub(super) const MAX_BUFFERED_PROBLEMS: usize = 200;

/// Most numbers of T-states that are counted separately.
const MAX_DISTINCT_T_STATES: usize = 10_000;

/// Figures of all cases. Their size does not depend on the number of cases.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CaseAggregates<S: Suite> {
    /// The counts of cases with each tag.
    pub(super) by_tag: BTreeMap<String, VerdictCounts<S>>,
    /// The numbers of cases in which a board or the code is at fault.
    faults: (usize, usize),
    /// The first cases that were run and did not pass.
    pub(super) first_problems: Vec<CaseResult<S>>,
    /// The number of cases that were run and did not pass.
    pub(super) problem_count: usize,
    /// The number of values by the T-states that they took.
    pub(super) t_states: BTreeMap<u64, u64>,
}

impl<S: Suite> CaseAggregates<S> {
    pub(super) fn add(&mut self, case: &CaseResult<S>) {
        for tag in &case.tags {
            match self.by_tag.get_mut(tag) {
                Some(counts) => counts.add(case),
                None => self.by_tag.entry(tag.clone()).or_default().add(case),
            }
        }
        match case.fault {
            Some(FaultOrigin::Boards(_)) => self.faults.0 += 1,
            Some(FaultOrigin::Code(_)) => self.faults.1 += 1,
            Some(FaultOrigin::Unknown(_)) | None => {}
        }
        let times = S::t_states(&case.details).into_iter();
        times.filter(|time| *time > 0).for_each(|time| self.add_t_states(time));
        if !matches!(case.verdict, Verdict::Pass | Verdict::NotRun) {
            self.problem_count += 1;
            if self.first_problems.len() < MAX_BUFFERED_PROBLEMS {
                self.first_problems.push(case.clone());
            }
        }
    }

    /// Counts a value. Once there are [`MAX_DISTINCT_T_STATES`], another number of T-states counts
    /// as the next lower one.
    fn add_t_states(&mut self, t_states: u64) {
        let is_full = self.t_states.len() >= MAX_DISTINCT_T_STATES;
        match self.t_states.range_mut(..=t_states).next_back() {
            Some((known, count)) if is_full || *known == t_states => *count += 1,
            _ => *self.t_states.entry(t_states).or_default() += 1,
        }
    }
}

impl<S: Suite> Report<S> {
    /// Returns the numbers of cases in which a board or the code is at fault; `None` in a run on
    /// one board.
    #[must_use]
    pub(super) fn fault_numbers(&self) -> Option<(usize, usize)> {
        (!self.run.boards.is_empty()).then_some(self.aggregates.faults)
    }

    /// Returns the counts of cases with each tag.
    #[must_use]
    pub fn counts_by_tag(&self) -> &BTreeMap<String, VerdictCounts<S>> {
        &self.aggregates.by_tag
    }

    /// Returns the first of the cases that were run and did not pass, at most `limit` of them and
    /// never more than [`MAX_BUFFERED_PROBLEMS`], and how many more there are.
    pub(super) fn problems(&self, limit: usize) -> (&[CaseResult<S>], usize) {
        let all = &self.aggregates.first_problems;
        let shown = &all[..limit.min(all.len())];
        (shown, self.aggregates.problem_count - shown.len())
    }
}
