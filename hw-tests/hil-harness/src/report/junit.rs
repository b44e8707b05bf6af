//! `junit.xml` for CI services: one test per case, and one that passes if all cases were run.

use std::io;
use std::time::Duration;

use chrono::DateTime;
use cli_support::text::Escape;
use quick_junit::{NonSuccessKind, Report as Page, TestCase, TestCaseStatus, TestSuite};

use super::Report;
use crate::runner::{CaseResult, Verdict};

/// Returns the report as JUnit XML. Only a wrong answer is a failure; flaky cases and cases without
/// an answer are errors; cases not run and failures known from the baseline are skipped.
pub(super) fn junit(report: &Report) -> io::Result<String> {
    let mut suites = [TestSuite::new("run"), TestSuite::new("cases")];
    suites[0].add_test_case(whole(report));
    suites[1].set_time(Duration::from_millis(report.took_ms));
    suites[1].add_test_cases(report.cases.iter().map(test));
    if let Ok(moment) = DateTime::parse_from_rfc3339(&report.started) {
        suites[1].set_timestamp(moment);
    }
    for (name, value) in report.facts() {
        suites[1].add_property((name, value.escaped().as_str()));
    }
    let mut page = Page::new("hw-tests");
    page.add_test_suites(suites);
    page.to_string().map_err(io::Error::other)
}

/// Returns the test that all cases were run.
fn whole(report: &Report) -> TestCase {
    let mut status = TestCaseStatus::success();
    if let Some(why) = &report.incomplete {
        status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("incomplete").set_message(why.escaped());
    }
    let mut test = TestCase::new("all cases were run", status);
    test.set_classname("run");
    test
}

fn test(case: &CaseResult) -> TestCase {
    let mut status = match case.verdict {
        _ if case.known => TestCaseStatus::skipped(),
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Timeout | Verdict::Error | Verdict::Flaky => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
        Verdict::Skipped | Verdict::NotRun => TestCaseStatus::skipped(),
    };
    let mut lines: Vec<String> = case.reason.iter().cloned().collect();
    lines.extend(case.differences.iter().map(ToString::to_string));
    lines.extend(case.fault.as_ref().map(|fault| format!("at fault: {fault}")));
    let known = if case.known { "known: " } else { "" };
    status.set_type(format!("{known}{}", case.verdict));
    lines.iter_mut().for_each(|line| *line = line.escaped());
    status.set_message(lines.first().map_or(case.verdict.as_str(), String::as_str));
    if !lines.is_empty() {
        lines.extend(case.fen.as_deref().map(Escape::escaped));
        status.set_description(lines.join("\n"));
    }
    let mut test = TestCase::new(case.id.escaped(), status);
    test.set_classname(case.tags.first().map_or("cases".to_owned(), |tag| tag.escaped()));
    test.set_time(Duration::from_micros(case.elapsed_us));
    test
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::results::RunHeader;
    use sargon_corpus::builtin_corpus;

    /// Returns the XML of a run with one case of each verdict.
    fn page_of_all_verdicts() -> Page {
        let cases = builtin_corpus().expect("the corpus");
        let results = cases.iter().zip(Verdict::ALL);
        let results: Vec<_> =
            results.map(|(case, verdict)| CaseResult::new(case, verdict)).collect();
        let mut report = Report::new(RunHeader::default(), Vec::new(), SystemTime::UNIX_EPOCH);
        report.set_cases(results, Duration::ZERO, &crate::report::FollowUpOptions::default());
        let text = junit(&report).expect("it is written");
        Page::deserialize_from_str(&text).expect("it is well-formed")
    }

    #[test]
    fn each_verdict_has_its_kind_of_test() {
        let page = page_of_all_verdicts();
        let kind = |test: &TestCase| match &test.status {
            TestCaseStatus::Success { .. } => "success",
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, .. } => "failure",
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Error, .. } => "error",
            TestCaseStatus::Skipped { .. } => "skipped",
        };
        let kinds: Vec<_> = page.test_suites[1].test_cases.iter().map(kind).collect();
        // Pass, fail, timeout, error, flaky, skipped, not run, in the order of `Verdict::ALL`.
        let expected = ["success", "failure", "error", "error", "error", "skipped", "skipped"];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn the_type_of_a_test_that_did_not_succeed_is_its_verdict() {
        let page = page_of_all_verdicts();
        for (test, verdict) in page.test_suites[1].test_cases.iter().zip(Verdict::ALL) {
            let shown = match &test.status {
                TestCaseStatus::Success { .. } => Some("pass"),
                TestCaseStatus::NonSuccess { ty, .. } | TestCaseStatus::Skipped { ty, .. } => {
                    ty.as_ref().map(|ty| ty.as_str())
                }
            };
            assert_eq!(shown, Some(verdict.as_str()));
        }
    }
}
