//! Merges the results of the requests of a case, and those of its repetitions.

use super::{CaseResult, Verdict};
use crate::suite::Suite;

/// Merges the results of both requests of a case, of which the first passed.
#[must_use]
pub fn merge_requests<S: Suite>(mut first: CaseResult<S>, second: CaseResult<S>) -> CaseResult<S> {
    first.retries += second.retries;
    first.elapsed_us += second.elapsed_us;
    let CaseResult { verdict, reason, differences, .. } = second;
    CaseResult { verdict, reason, differences, ..first }
}

/// Merges the results of two repetitions of a case. One that passes only sometimes is flaky,
/// whatever the other results.
#[must_use]
pub fn merge_repetitions<S: Suite>(first: CaseResult<S>, again: CaseResult<S>) -> CaseResult<S> {
    let mut retries = first.retries;
    retries += again.retries;
    let attempts = first.attempts + again.attempts;
    let elapsed_us = first.elapsed_us + again.elapsed_us;
    CaseResult { attempts, retries, elapsed_us, ..worse_of(first, again) }
}

/// Returns the result that counts of two, without the sums of figures.
fn worse_of<S: Suite>(first: CaseResult<S>, again: CaseResult<S>) -> CaseResult<S> {
    if first.verdict == again.verdict || first.verdict == Verdict::Flaky {
        return first;
    }
    let verdicts = [first.verdict, again.verdict];
    let has = |verdict| verdicts.contains(&verdict);
    let bad = if first.verdict == Verdict::Pass { again } else { first };
    if has(Verdict::Pass) || has(Verdict::Flaky) {
        let detail = bad.reason.as_deref().map_or(String::new(), |why| format!(": {why}"));
        let reason = Some(format!("sometimes {}, sometimes {}{detail}", verdicts[0], verdicts[1]));
        return CaseResult { verdict: Verdict::Flaky, reason, ..bad };
    }
    let verdict = if has(Verdict::Fail) { Verdict::Fail } else { Verdict::Error };
    CaseResult { verdict, ..bad }
}

#[cfg(test)]
mod tests {
    use rcflash_link::RetryCounts;

    use super::*;
    use crate::test_suite::{self, TestSuite};

    /// A result whose figures are multiples of `factor`.
    fn result(verdict: Verdict, factor: u64) -> CaseResult<TestSuite> {
        let retries =
            RetryCounts { timeout: factor, missing: 10 * factor, ..RetryCounts::default() };
        let attempts = factor as u32;
        let reason = (verdict != Verdict::Pass).then(|| format!("{verdict}s"));
        CaseResult {
            attempts,
            retries,
            elapsed_us: 100 * factor,
            reason,
            ..test_suite::result("a", verdict)
        }
    }

    #[test]
    fn the_second_request_decides_and_both_count() {
        let wrong = vec!["HL: 1, expected 0".to_owned()];
        let second = CaseResult { differences: wrong.clone(), ..result(Verdict::Fail, 2) };
        let joined = merge_requests(result(Verdict::Pass, 1), second);
        assert_eq!(joined.differences, wrong);
        assert_eq!((joined.verdict, joined.reason.as_deref()), (Verdict::Fail, Some("fails")));
        assert_eq!((joined.retries, joined.elapsed_us), (result(Verdict::Pass, 3).retries, 300));
        assert_eq!(joined.attempts, 1, "one attempt");
    }

    #[test]
    fn what_passes_only_sometimes_is_flaky_and_nothing_else_hides_a_failure() {
        use Verdict::{Error, Fail, Flaky, Pass, Timeout};
        let both = |first, again| merge_repetitions(result(first, 1), result(again, 2)).verdict;
        for same in [Pass, Fail, Error, Timeout, Flaky] {
            assert_eq!(both(same, same), same);
        }
        for bad in [Fail, Error, Timeout, Flaky] {
            assert_eq!([both(Pass, bad), both(bad, Pass)], [Flaky; 2], "{bad}");
            assert_eq!([both(Flaky, bad), both(bad, Flaky)], [Flaky; 2], "{bad}");
        }
        assert_eq!([both(Fail, Error), both(Timeout, Fail)], [Fail; 2]);
        assert_eq!([both(Error, Timeout), both(Timeout, Error)], [Error; 2]);
    }

    #[test]
    fn attempts_add_up_and_a_flaky_result_names_both_verdicts() {
        let combined = merge_repetitions(result(Verdict::Timeout, 1), result(Verdict::Pass, 2));
        assert_eq!((combined.attempts, combined.elapsed_us), (3, 300));
        assert_eq!(combined.retries, result(Verdict::Pass, 3).retries);
        let why = combined.reason.expect("a reason");
        assert_eq!(why, "sometimes timeout, sometimes pass: timeouts");
    }
}
