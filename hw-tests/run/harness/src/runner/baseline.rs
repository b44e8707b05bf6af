//! The baseline of a run: failures that the baseline already has are known and do not fail the run.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::NO_REPLY_VERDICTS;
use super::{CaseResult, Verdict};
use crate::suite::Suite;
use crate::verdict_table::{Relation, merge_verdicts};

/// The results of an earlier run, with which a run is compared.
#[derive(Debug, Clone, Default)]
pub struct Baseline {
    /// Path of the results file or report.
    pub file: String,
    /// The behaviour of the program under test.
    pub behaviour: String,
    cases: HashMap<String, BaselineCase>,
}

/// What a comparison needs of a case in the baseline.
#[derive(Debug, Clone)]
struct BaselineCase {
    subject: Option<String>,
    verdict: Verdict,
    differences: Vec<String>,
    reason: Option<String>,
}

impl BaselineCase {
    fn new<S: Suite>(result: CaseResult<S>) -> Self {
        Self {
            subject: S::subject(&result.details).map(str::to_owned),
            verdict: result.verdict,
            differences: result.differences.iter().map(ToString::to_string).collect(),
            reason: result.reason,
        }
    }
}

/// How a case compares with the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaselineStatus {
    /// Passed in both runs, or not run now.
    Unremarkable,
    /// The baseline has the same failure.
    Known,
    /// Did not pass; in the baseline it passed, failed in another way, or is missing.
    New,
    /// Passed now, but not in the baseline.
    Fixed,
}

/// The comparison of a whole run with its baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineSummary {
    /// Path of the baseline.
    pub file: String,
    /// Names of the cases whose failure the baseline has, too.
    pub known: Vec<String>,
    /// Names of the other cases that did not pass.
    pub new: Vec<String>,
    /// Names of the cases that passed now, but not in the baseline.
    pub fixed: Vec<String>,
}

impl Baseline {
    /// Creates a baseline without results.
    pub(crate) fn for_file(file: &Path) -> Self {
        Self { file: file.to_string_lossy().into_owned(), ..Self::default() }
    }

    /// Adds a result. A case with several results, as in a soak run, passed only if all are passes.
    pub fn add<S: Suite>(&mut self, mut result: CaseResult<S>) {
        match self.cases.entry(std::mem::take(&mut result.id)) {
            Entry::Vacant(entry) => _ = entry.insert(BaselineCase::new(result)),
            Entry::Occupied(mut entry) => {
                let (before, now) = (entry.get().verdict, result.verdict);
                if merge_verdicts(before, now, Relation::OtherRound) != before {
                    entry.insert(BaselineCase::new(result));
                }
            }
        }
    }

    /// Compares a result with that of the same case in the baseline.
    pub fn compare<S: Suite>(&self, now: &CaseResult<S>) -> BaselineStatus {
        // Another subject of the same name is another case.
        let then = self.cases.get(&now.id);
        let then = then.filter(|then| then.subject.as_deref() == S::subject(&now.details));
        let passed = |verdict| matches!(verdict, Verdict::Pass | Verdict::NotRun);
        match (now.verdict, then) {
            (Verdict::Pass, Some(then)) if !passed(then.verdict) => BaselineStatus::Fixed,
            (verdict, _) if passed(verdict) => BaselineStatus::Unremarkable,
            (_, Some(then)) if has_same_failure(then, now) => BaselineStatus::Known,
            _ => BaselineStatus::New,
        }
    }

    /// Compares all results of a run.
    pub fn summary<S: Suite>(&self, cases: &[CaseResult<S>]) -> BaselineSummary {
        let mut summary = BaselineSummary { file: self.file.clone(), ..BaselineSummary::default() };
        for case in cases {
            match self.compare(case) {
                BaselineStatus::Unremarkable => {}
                BaselineStatus::Known => summary.known.push(case.id.clone()),
                BaselineStatus::New => summary.new.push(case.id.clone()),
                BaselineStatus::Fixed => summary.fixed.push(case.id.clone()),
            }
        }
        summary
    }
}

/// Returns `true` if a case did not pass, and the baseline has not the same failure: a result that
/// ends a run with [`RunOptions::fail_fast`](super::RunOptions::fail_fast).
pub fn is_new_failure<S: Suite>(baseline: Option<&Baseline>, result: &CaseResult<S>) -> bool {
    !matches!(result.verdict, Verdict::Pass | Verdict::Skipped | Verdict::NotRun)
        && baseline.is_none_or(|known| known.compare(result) != BaselineStatus::Known)
}

/// Returns `true` if the verdicts are the same, and a failed case has no difference and no reason
/// that the baseline lacks.
fn has_same_failure<S: Suite>(then: &BaselineCase, now: &CaseResult<S>) -> bool {
    let kind = |verdict| match verdict {
        verdict if NO_REPLY_VERDICTS.contains(&verdict) => Verdict::Timeout,
        other => other,
    };
    let is_known = |found: &S::Difference| then.differences.contains(&found.to_string());
    kind(then.verdict) == kind(now.verdict)
        && (now.verdict != Verdict::Fail
            || now.differences.iter().all(is_known)
                && (now.reason.is_none() || now.reason == then.reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_suite::{self, case, result};

    fn ended(verdict: Verdict) -> test_suite::Result {
        result("a", verdict)
    }

    fn wrong(registers: &[&str]) -> test_suite::Result {
        let differences = registers.iter().map(|register| format!("{register}: 1, expected 0"));
        CaseResult { differences: differences.collect(), ..ended(Verdict::Fail) }
    }

    fn baseline(results: Vec<test_suite::Result>) -> Baseline {
        let mut baseline = Baseline::default();
        results.into_iter().for_each(|result| baseline.add(result));
        baseline
    }

    #[test]
    fn only_the_same_failure_is_known() {
        use Verdict::{Error, Fail, Flaky, NotRun, Pass, Skipped, Timeout};
        for then in Verdict::ALL {
            let before = baseline(vec![ended(then)]);
            for now in Verdict::ALL {
                let has_no_reply = |verdict| matches!(verdict, Timeout | Error);
                let expected = match (then, now) {
                    (Fail | Timeout | Error | Flaky | Skipped, Pass) => BaselineStatus::Fixed,
                    (_, Pass | NotRun) => BaselineStatus::Unremarkable,
                    (then, now) if then == now => BaselineStatus::Known,
                    (then, now) if has_no_reply(then) && has_no_reply(now) => BaselineStatus::Known,
                    _ => BaselineStatus::New,
                };
                assert_eq!(before.compare(&ended(now)), expected, "{then} then, {now} now");
            }
        }
    }

    #[test]
    fn a_fail_is_known_only_if_the_baseline_has_all_its_differences() {
        let before = baseline(vec![wrong(&["A", "B"])]);
        assert_eq!(before.compare(&wrong(&["A", "B"])), BaselineStatus::Known);
        assert_eq!(before.compare(&wrong(&["B"])), BaselineStatus::Known);
        assert_eq!(before.compare(&wrong(&["A", "C"])), BaselineStatus::New);
        let mut other = wrong(&["A"]);
        other.differences[0] = "A: 2, expected 0".to_owned();
        assert_eq!(before.compare(&other), BaselineStatus::New, "a different value");
    }

    #[test]
    fn a_fail_for_another_reason_is_new() {
        let found = |why: &str| test_suite::Result::with_reason(&case("a"), Verdict::Fail, why);
        let before = baseline(vec![found("MUL executed HLT")]);
        assert_eq!(before.compare(&found("MUL executed HLT")), BaselineStatus::Known);
        assert_eq!(before.compare(&found("MUL read port 81H")), BaselineStatus::New);
        let values_only = baseline(vec![wrong(&["A"])]);
        assert_eq!(values_only.compare(&found("MUL executed HLT")), BaselineStatus::New);
    }

    #[test]
    fn a_case_that_the_baseline_lacks_or_has_with_another_subject_is_new() {
        let before = baseline(vec![ended(Verdict::Fail)]);
        assert_eq!(before.compare(&result("b", Verdict::Fail)), BaselineStatus::New);
        let mut other = ended(Verdict::Fail);
        other.details.entry = Some("DIV".to_owned());
        assert_eq!(before.compare(&other), BaselineStatus::New);
        assert_eq!(baseline(Vec::new()).compare(&ended(Verdict::Flaky)), BaselineStatus::New);
    }

    #[test]
    fn of_several_results_of_a_case_the_worst_counts() {
        use Verdict::{Fail, Pass, Timeout};
        for (one, other, counts) in
            [(Pass, Fail, Fail), (Pass, Timeout, Timeout), (Timeout, Fail, Fail)]
        {
            for order in [[one, other], [other, one]] {
                let before = baseline(order.map(ended).to_vec());
                assert_eq!(before.compare(&ended(counts)), BaselineStatus::Known, "{order:?}");
                assert_eq!(before.compare(&ended(Pass)), BaselineStatus::Fixed, "{order:?}");
            }
        }
    }
}
