//! Figures of all cases of a report.

use std::collections::BTreeMap;

use super::Report;
use crate::suite::{CaseResult, Suite, VerdictCounts};

impl<S: Suite> Report<S> {
    /// Returns the number of values by the T-states that they took.
    pub(super) fn values_by_t_states(&self) -> BTreeMap<u64, u64> {
        let mut by_time = BTreeMap::new();
        for time in self.cases.iter().flat_map(|case| S::t_states(&case.details)) {
            if time > 0 {
                *by_time.entry(time).or_default() += 1;
            }
        }
        by_time
    }

    /// Returns the cases that were run and did not pass.
    pub(super) fn problems(&self) -> impl Iterator<Item = &CaseResult<S>> {
        self.cases.iter().filter(|case| case.is_problem())
    }
}

/// Returns the counts of cases with each tag.
pub(super) fn counts_by_tag<S: Suite>(cases: &[CaseResult<S>]) -> BTreeMap<&str, VerdictCounts> {
    let mut by_tag = BTreeMap::<_, VerdictCounts>::new();
    for case in cases {
        for tag in &case.tags {
            by_tag.entry(tag.as_str()).or_default().add(case);
        }
    }
    by_tag
}
