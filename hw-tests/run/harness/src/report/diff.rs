//! Compares two runs.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use cli_support::text::Escape;

use super::Report;
use crate::runner::{Baseline, BaselineSummary, CaseResult, Verdict};
use crate::suite::Suite;

/// What differs in a second run of the same cases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// Cases whose values took other T-states: the name, and those of both runs.
    pub times: Vec<(String, u64, u64)>,
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

/// What is kept of a case of the first run.
struct FirstResult {
    t_states: Option<u64>,
    /// What failed; empty if nothing did.
    failures: Vec<String>,
}

impl FirstResult {
    /// Returns what differs in a second result, if both failed.
    fn compare_failures<S: Suite>(self, second: &CaseResult<S>) -> Option<ChangedFailure> {
        let second_failures = failures(second);
        if self.failures.is_empty() || second_failures.is_empty() {
            return None;
        }
        let only = |one: &[String], other: &[String]| -> Vec<String> {
            one.iter().filter(|failure| !other.contains(failure)).cloned().collect()
        };
        let before = only(&self.failures, &second_failures);
        let now = only(&second_failures, &self.failures);
        let is_changed = !before.is_empty() || !now.is_empty();
        is_changed.then(|| ChangedFailure { case: second.id.clone(), before, now })
    }
}

/// Returns the wrong values of a case that failed, and the reason.
fn failures<S: Suite>(result: &CaseResult<S>) -> Vec<String> {
    if result.verdict != Verdict::Fail {
        return Vec::new();
    }
    let values = result.differences.iter().map(ToString::to_string);
    values.chain(result.reason.clone()).collect()
}

impl RunDiff {
    /// Compares a second run with a first one. A case is a new failure as with a baseline.
    #[must_use]
    pub fn new<S: Suite>(first: Report<S>, second: &Report<S>) -> Self {
        let mut first_results = HashMap::new();
        let mut baseline = Baseline::for_file(Path::new(""));
        for case in first.cases {
            let kept = FirstResult { t_states: case.t_states(), failures: failures(&case) };
            first_results.insert(case.id.clone(), kept);
            baseline.add(case);
        }
        let BaselineSummary { known, new, fixed, .. } = baseline.summary(&second.cases);
        let mut diff = Self { new, fixed, known: known.len(), ..Self::default() };
        for case in &second.cases {
            let Some(first) = first_results.remove(&case.id) else { continue };
            if let (Some(before), Some(now)) = (first.t_states, case.t_states())
                && before != now
            {
                diff.times.push((case.id.clone(), before, now));
            }
            diff.changed.extend(first.compare_failures(case));
        }
        diff.missing = first_results.into_keys().collect();
        diff.missing.sort();
        diff
    }
}

impl fmt::Display for RunDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            [("new failure", &self.new), ("fixed", &self.fixed), ("missing", &self.missing)];
        for (what, cases) in names {
            cases.iter().try_for_each(|case| writeln!(f, "{what}: {}", case.escaped()))?;
        }
        for ChangedFailure { case, before, now } in &self.changed {
            writeln!(f, "other values: {}", case.escaped())?;
            before.iter().try_for_each(|text| writeln!(f, "    before: {}", text.escaped()))?;
            now.iter().try_for_each(|text| writeln!(f, "    now: {}", text.escaped()))?;
        }
        let mut sum = 0;
        for (case, before, now) in &self.times {
            let more = *now as i64 - *before as i64;
            sum += more;
            let what = if more > 0 { "slower" } else { "faster" };
            writeln!(f, "{what}: {}: {before} -> {now} T-states ({more:+})", case.escaped())?;
        }
        writeln!(
            f,
            "{} new failures, {} fixed, {} known, {} missing; {} cases that fail with other \
             values; {} cases with other T-states, {sum:+} in all",
            self.new.len(),
            self.fixed.len(),
            self.known,
            self.missing.len(),
            self.changed.len(),
            self.times.len()
        )
    }
}
