//! What code under test did wrong, as a failure of the case whose request ran.

use super::in_flight::InFlightRequest;
use super::{CaseResult, Runner, Verdict};
use crate::live::BoardSuite;
use crate::live::Finding;
use crate::suite::Suite;

/// Returns the result of a case during which code under test did what it must not do. It fails,
/// whatever the values are.
pub(super) fn with_finding<S: Suite>(result: CaseResult<S>, finding: &str) -> CaseResult<S> {
    let reason = match result.reason {
        Some(other) if other.contains(finding) => other,
        Some(other) => format!("{finding}; {other}"),
        None => finding.to_owned(),
    };
    CaseResult { verdict: Verdict::Fail, reason: Some(reason), ..result }
}

impl<S: BoardSuite> InFlightRequest<S> {
    /// Adds what code under test did wrong during this request to its cases.
    pub(super) fn add_findings(&mut self, findings: Vec<Finding>) {
        let jobs = self.jobs.len();
        for finding in findings {
            if let Some(index) = finding.case.checked_rem(jobs) {
                self.jobs[index].finding.get_or_insert(finding.reason);
            }
        }
    }
}

impl<S: BoardSuite> Runner<'_, S> {
    /// Adds the findings that no reply has claimed to the cases whose requests ran; if a request is
    /// unknown, to the oldest one.
    pub(super) fn add_unclaimed_findings(&mut self) {
        for finding in self.live.take_findings() {
            let is_match = |request: &InFlightRequest<S>| request.seq == finding.seq;
            let index = self.in_flight.iter().position(is_match).unwrap_or(0);
            match self.in_flight.get_mut(index).filter(|request| !request.jobs.is_empty()) {
                Some(request) => request.add_findings(vec![finding]),
                None => {
                    let oldest = self.in_flight.iter_mut().flat_map(|request| &mut request.jobs);
                    if let Some(job) = oldest.chain(&mut self.pending).next() {
                        job.finding.get_or_insert(finding.reason);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_suite::{self, TestSuite};

    fn result(verdict: Verdict) -> CaseResult<TestSuite> {
        let reason = (verdict != Verdict::Pass).then(|| format!("{verdict}s"));
        CaseResult { attempts: 3, reason, ..test_suite::result("a", verdict) }
    }

    #[test]
    fn a_finding_makes_any_verdict_a_fail_and_keeps_the_other_reason() {
        for verdict in Verdict::ALL {
            let found = with_finding(result(verdict), "it executed HLT");
            assert_eq!((found.verdict, found.attempts), (Verdict::Fail, 3), "{verdict}");
            let other = (verdict != Verdict::Pass).then(|| format!("; {verdict}s"));
            let expected = format!("it executed HLT{}", other.unwrap_or_default());
            assert_eq!(found.reason, Some(expected.clone()));
            let again =
                with_finding(CaseResult { reason: found.reason, ..found }, "it executed HLT");
            assert_eq!(again.reason, Some(expected), "once");
        }
    }
}
