//! Results of the requests of a case.

use rcflash_link::LinkError;

use super::{CaseResult, Verdict};
use crate::suite::Suite;

/// Returns the result of a case whose reply is one to another request.
pub(super) fn foreign_reply<S: Suite>(case: &S::Case) -> CaseResult<S> {
    CaseResult::with_reason(case, Verdict::Error, "the reply belongs to another request")
}

/// Returns the result of a case without a valid reply: a timeout or an error. `program_counter` is
/// called for a timeout only.
pub(super) fn missing_reply<S: Suite>(
    case: &S::Case,
    error: &LinkError,
    program_counter: impl FnOnce() -> String,
) -> CaseResult<S> {
    let LinkError::Timeout { .. } = error else {
        return CaseResult::with_reason(case, Verdict::Error, error.to_string());
    };
    CaseResult::with_reason(case, Verdict::Timeout, format!("{error}; {}", program_counter()))
}

/// Merges the results of both requests of a case, of which the first passed.
#[must_use]
pub fn merge_requests<S: Suite>(mut first: CaseResult<S>, second: CaseResult<S>) -> CaseResult<S> {
    first.retries += second.retries;
    first.elapsed_us += second.elapsed_us;
    let CaseResult { verdict, reason, differences, .. } = second;
    CaseResult { verdict, reason, differences, ..first }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcflash_link::{RecentTraffic, RetryCounts};

    use super::*;
    use crate::test_suite::{self, TestSuite, case};

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
    fn a_timeout_has_the_program_counter_and_other_errors_do_not() {
        let timeout = LinkError::Timeout {
            port: "here".to_owned(),
            attempts: 3,
            operation: "reading",
            waited: Duration::from_secs(1),
            recent_traffic: Box::new(RecentTraffic::default()),
        };
        let result = missing_reply::<TestSuite>(&case("a"), &timeout, || "pc 8000h".to_owned());
        assert_eq!(result.verdict, Verdict::Timeout);
        assert!(result.reason.is_some_and(|why| why.ends_with("; pc 8000h")));
        let invalid =
            LinkError::UnexpectedReply { operation: "reading", cause: "it is empty".to_owned() };
        let result =
            missing_reply::<TestSuite>(&case("a"), &invalid, || unreachable!("not a timeout"));
        assert_eq!((result.verdict, result.reason), (Verdict::Error, Some(invalid.to_string())));
    }
}
