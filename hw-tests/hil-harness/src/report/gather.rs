//! The cases of a run, each once: of one that was run over and over, how it ended at its worst.

use std::collections::HashMap;

use crate::runner::{CaseResult, Verdict};
use sargon_corpus::Case;

/// Results by case. It grows with the number of cases, not with how often they are run.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    results: Vec<CaseResult>,
    places: HashMap<String, usize>,
}

impl Gathered {
    /// Takes one more result in.
    pub fn add(&mut self, result: &CaseResult) {
        match self.places.get(&result.id) {
            Some(&place) if weight(result.verdict) <= weight(self.results[place].verdict) => {}
            Some(&place) => self.results[place] = result.clone(),
            None => {
                self.places.insert(result.id.clone(), self.results.len());
                self.results.push(result.clone());
            }
        }
    }

    /// All results; these cases, where they have none, had no turn.
    #[must_use]
    pub fn finish(mut self, selected: &[Case]) -> Vec<CaseResult> {
        for case in selected {
            self.add(&CaseResult::new(case, Verdict::NotRun));
        }
        self.results
    }
}

/// Returns the rank of a verdict among others on the same case.
fn weight(verdict: Verdict) -> u8 {
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
    use sargon_corpus::shipped;

    #[test]
    fn a_case_stands_once_and_as_it_ended_at_its_worst() {
        let cases = &shipped().expect("it ships")[..2];
        let mut gathered = Gathered::default();
        for verdict in [Verdict::Pass, Verdict::Timeout, Verdict::Pass, Verdict::NotRun] {
            gathered.add(&CaseResult::new(&cases[0], verdict));
        }
        let verdicts: Vec<_> = gathered.finish(cases).iter().map(|case| case.verdict).collect();
        assert_eq!(verdicts, [Verdict::Timeout, Verdict::NotRun]);
    }
}
