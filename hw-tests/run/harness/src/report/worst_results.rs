//! The results of a run, one per case: the worst one if a case was run repeatedly.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::suite::{CaseResult, Suite};
use crate::verdict_table::{Relation, merge_verdicts};

/// The worst result of each case, in the order in which the cases first completed.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorstResults<S: Suite> {
    pub(crate) all: Vec<CaseResult<S>>,
    /// The index of each case's result, by name.
    indices: HashMap<String, usize>,
}

impl<S: Suite> WorstResults<S> {
    /// Returns `true` if the case has a result.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.indices.contains_key(id)
    }

    /// Adds a result.
    pub(crate) fn add(&mut self, result: CaseResult<S>) {
        match self.indices.entry(result.id.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(self.all.len());
                self.all.push(result);
            }
            Entry::Occupied(entry) => {
                let known = &mut self.all[*entry.get()];
                let (before, now) = (known.verdict, result.verdict);
                if merge_verdicts(before, now, Relation::OtherRound) != before {
                    *known = result;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Verdict;
    use crate::test_suite::result;

    #[test]
    fn a_case_is_listed_once_with_its_worst_result() {
        let mut gathered = WorstResults::default();
        for verdict in [Verdict::Pass, Verdict::Timeout, Verdict::Pass, Verdict::NotRun] {
            gathered.add(result("a", verdict));
        }
        gathered.add(result("b", Verdict::NotRun));
        assert!(gathered.contains("b") && !gathered.contains("c") && gathered.all.len() == 2);
        gathered.add(result("a", Verdict::Error));
        let listed: Vec<_> = gathered.all.iter().map(|case| (&*case.id, case.verdict)).collect();
        assert_eq!(listed, [("a", Verdict::Error), ("b", Verdict::NotRun)]);
    }
}
