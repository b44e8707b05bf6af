//! Compares two runs.

use std::collections::HashMap;
use std::path::Path;

use askama::Template;

use super::Report;
use crate::runner::{Baseline, BaselineSummary};
use crate::suite::{CaseResult, Suite, Verdict};

/// What differs in a second run of the same cases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Template)]
#[template(path = "diff.txt")]
pub struct RunDiff {
    /// Cases that did not pass, and passed in the first run, failed there in another way, or are
    /// not in it.
    pub new: Vec<String>,
    /// Cases that passed, and did not in the first run.
    pub fixed: Vec<String>,
    /// The number of cases that did not pass in the same way as in the first run.
    pub known: usize,
    /// Cases of the first run that the second has not.
    pub missing: Vec<String>,
    /// Cases that failed in both runs, with other values.
    pub changed: Vec<ChangedFailure>,
    /// Cases whose values took other T-states.
    pub times: Vec<ChangedTime>,
}

/// A case that failed in two runs, with other values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFailure {
    /// Name of the case.
    pub case: String,
    /// What only the first run has: differences from the expected values, and the reason.
    pub before: Vec<String>,
    /// What only the second run has.
    pub now: Vec<String>,
}

/// A case whose values took other T-states in the second of two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedTime {
    /// Name of the case.
    pub case: String,
    /// The T-states in the first run.
    pub before: u64,
    /// The T-states in the second run.
    pub now: u64,
}

impl ChangedTime {
    fn change(&self) -> i64 {
        self.now as i64 - self.before as i64
    }
}

/// Returns what differs in the results of a case in two runs, if both failed.
fn compare_failures<S: Suite>(
    first: &CaseResult<S>,
    second: &CaseResult<S>,
) -> Option<ChangedFailure> {
    let (first, failed_now) = (failures(first), failures(second));
    if first.is_empty() || failed_now.is_empty() {
        return None;
    }
    let only = |one: &[String], other: &[String]| -> Vec<String> {
        one.iter().filter(|failure| !other.contains(failure)).cloned().collect()
    };
    let (before, now) = (only(&first, &failed_now), only(&failed_now, &first));
    let is_changed = !before.is_empty() || !now.is_empty();
    is_changed.then(|| ChangedFailure { case: second.id.clone(), before, now })
}

/// Returns what failed in a case; empty if nothing did.
fn failures<S: Suite>(result: &CaseResult<S>) -> Vec<String> {
    if result.verdict != Verdict::Fail {
        return Vec::new();
    }
    let values = result.differences.iter().map(ToString::to_string);
    values.chain(result.reason.clone()).collect()
}

impl RunDiff {
    /// Compares two runs.
    pub fn new<S: Suite>(first: &Report<S>, second: &Report<S>) -> Self {
        let mut baseline = Baseline::for_file(Path::new(""));
        first.cases.iter().for_each(|case| baseline.add(case.clone()));
        let BaselineSummary { known, new, fixed, .. } = baseline.summary(&second.cases);
        let mut diff = Self { new, fixed, known: known.len(), ..Self::default() };
        let mut left: HashMap<_, _> = first.cases.iter().map(|case| (&case.id, case)).collect();
        for case in &second.cases {
            let Some(first) = left.remove(&case.id) else { continue };
            if let (Some(before), Some(now)) = (first.t_states(), case.t_states())
                && before != now
            {
                diff.times.push(ChangedTime { case: case.id.clone(), before, now });
            }
            diff.changed.extend(compare_failures(first, case));
        }
        diff.missing = left.into_keys().cloned().collect();
        diff.missing.sort();
        diff
    }

    /// Returns how many more T-states the cases took in the second run.
    fn slowdown(&self) -> i64 {
        self.times.iter().map(ChangedTime::change).sum()
    }
}
