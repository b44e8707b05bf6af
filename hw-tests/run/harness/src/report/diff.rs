//! Compares two runs.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use cli_support::text::Escape;

use super::Report;
use crate::runner::{Baseline, BaselineStatus};
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
    /// Cases whose values took other T-states: the name, and those of both runs.
    pub times: Vec<(String, u64, u64)>,
}

impl RunDiff {
    /// Compares a second run with a first one. A case is a new failure as with a baseline.
    #[must_use]
    pub fn new<S: Suite>(first: Report<S>, second: &Report<S>) -> Self {
        let mut times = HashMap::new();
        let mut baseline = Baseline::for_file(Path::new(""));
        for case in first.cases {
            times.insert(case.id.clone(), case.t_states());
            baseline.add(case);
        }
        let mut diff = Self::default();
        for case in &second.cases {
            match baseline.compare(case) {
                BaselineStatus::Unremarkable => {}
                BaselineStatus::Known => diff.known += 1,
                BaselineStatus::New => diff.new.push(case.id.clone()),
                BaselineStatus::Fixed => diff.fixed.push(case.id.clone()),
            }
            if let Some(Some(before)) = times.remove(&case.id)
                && let Some(now) = case.t_states().filter(|now| *now != before)
            {
                diff.times.push((case.id.clone(), before, now));
            }
        }
        diff.missing = times.into_keys().collect();
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
        let mut sum = 0;
        for (case, before, now) in &self.times {
            let more = *now as i64 - *before as i64;
            sum += more;
            let what = if more > 0 { "slower" } else { "faster" };
            writeln!(f, "{what}: {}: {before} -> {now} T-states ({more:+})", case.escaped())?;
        }
        writeln!(
            f,
            "{} new failures, {} fixed, {} known, {} missing; {} cases with other T-states, \
             {sum:+} in all",
            self.new.len(),
            self.fixed.len(),
            self.known,
            self.missing.len(),
            self.times.len()
        )
    }
}
