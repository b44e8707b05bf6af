//! `junit.xml`: a test a case for CI services, and one more that says whether all cases had their turn.

use std::io;
use std::time::Duration;

use chrono::DateTime;
use quick_junit::{NonSuccessKind, Report as Page, TestCase, TestCaseStatus, TestSuite};

use super::Report;
use crate::runner::{CaseResult, Verdict};

/// The report as JUnit's XML. Flaky cases are failures, cases without an answer errors, and cases without a turn skipped.
pub(super) fn junit(report: &Report) -> io::Result<String> {
    let mut suites = [TestSuite::new("run"), TestSuite::new("cases")];
    suites[0].add_test_case(whole(report));
    suites[1].set_time(Duration::from_millis(report.took_ms));
    suites[1].add_test_cases(report.cases.iter().map(test));
    if let Ok(moment) = DateTime::parse_from_rfc3339(&report.started) {
        suites[1].set_timestamp(moment);
    }
    for (name, value) in report.facts() {
        suites[1].add_property((name, value.as_str()));
    }
    let mut page = Page::new("hw-tests");
    page.add_test_suites(suites);
    page.to_string().map_err(io::Error::other)
}

/// The test that all cases had their turn.
fn whole(report: &Report) -> TestCase {
    let mut status = TestCaseStatus::success();
    if let Some(why) = &report.incomplete {
        status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("incomplete").set_message(why);
    }
    let mut test = TestCase::new("all cases had their turn", status);
    test.set_classname("run");
    test
}

fn test(case: &CaseResult) -> TestCase {
    let mut status = match case.verdict {
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Fail | Verdict::Flaky => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Timeout | Verdict::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        Verdict::Skipped | Verdict::NotRun => TestCaseStatus::skipped(),
    };
    let mut lines: Vec<String> = case.why.iter().cloned().collect();
    lines.extend(case.differences.iter().map(ToString::to_string));
    status.set_type(case.verdict.word());
    status.set_message(lines.first().map_or(case.verdict.word(), String::as_str));
    if !lines.is_empty() {
        lines.extend(case.fen.clone());
        status.set_description(lines.join("\n"));
    }
    let mut test = TestCase::new(&case.id, status);
    test.set_classname(case.tags.first().map_or("cases", String::as_str));
    test.set_time(Duration::from_micros(case.took_us));
    test
}
