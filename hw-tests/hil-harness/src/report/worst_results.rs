//! The results of a run, one per case: the worst one if a case was run repeatedly.

use std::collections::HashMap;

use crate::runner::{CaseResult, Verdict};
use sargon_corpus::Case;

/// The worst result of each case. Its size does not depend on how often cases are run.
#[derive(Debug, Clone, Default)]
pub struct WorstResults {
    results: Vec<CaseResult>,
    indices: HashMap<String, usize>,
}

impl WorstResults {
    /// Adds a result.
    pub fn add(&mut self, result: &CaseResult) {
        match self.indices.get(&result.id) {
            Some(&index) if severity(result.verdict) <= severity(self.results[index].verdict) => {}
            Some(&index) => self.results[index] = result.clone(),
            None => {
                self.indices.insert(result.id.clone(), self.results.len());
                self.results.push(result.clone());
            }
        }
    }

    /// Returns all results. Cases of `selected` without a result are listed as not run.
    #[must_use]
    pub fn finish(mut self, selected: &[Case]) -> Vec<CaseResult> {
        for case in selected {
            self.add(&CaseResult::new(case, Verdict::NotRun));
        }
        self.results
    }
}

/// Returns the rank of a verdict: the higher of two is reported.
fn severity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::NotRun => 0,
        Verdict::Skipped => 1,
        Verdict::Pass => 2,
        Verdict::Flaky => 3,
        Verdict::Timeout => 4,
        Verdict::Error => 5,
        Verdict::Fail => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sargon_corpus::builtin_corpus;

    #[test]
    fn a_case_is_listed_once_with_its_worst_result() {
        let cases = &builtin_corpus().expect("it ships")[..2];
        let mut gathered = WorstResults::default();
        for verdict in [Verdict::Pass, Verdict::Timeout, Verdict::Pass, Verdict::NotRun] {
            gathered.add(&CaseResult::new(&cases[0], verdict));
        }
        let verdicts: Vec<_> = gathered.finish(cases).iter().map(|case| case.verdict).collect();
        assert_eq!(verdicts, [Verdict::Timeout, Verdict::NotRun]);
    }
}
