//! `junit.xml` for CI services: one test per case, and one that passes if all cases were run.

use std::io::{self, Write};
use std::time::Duration;

use chrono::DateTime;
use cli_support::text::Escape;
use quick_junit::{NonSuccessKind, Report as Page, TestCase, TestCaseStatus, TestSuite};

use super::{BoardSummary, CaseResults, Report};
use crate::runner::{CaseResult, Verdict, incomplete_counts};
use crate::suite::Suite;

/// The indent of a test, and the line that ends a suite, as `quick_junit` writes them.
const TEST_START: &str = "        <testcase";
const SUITE_END: &str = "    </testsuite>\n";

/// Writes the report as JUnit XML, one test at a time. Only a wrong answer is a failure; flaky
/// cases and cases without an answer are errors; cases not run and failures known from the baseline
/// are skipped.
pub(super) fn write_junit<S: Suite>(
    report: &Report<S>,
    cases: &mut dyn CaseResults<S>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let text = without_cases(report, cases)?;
    let Some(end) = text.rfind(SUITE_END) else { return out.write_all(text.as_bytes()) };
    out.write_all(&text.as_bytes()[..end])?;
    cases.visit(&mut |case| out.write_all(test_text(case)?.as_bytes()))?;
    out.write_all(&text.as_bytes()[end..])
}

/// Returns the XML with the counts of all tests, and only the test of the whole run. The properties
/// of suite `cases` keep it from being an empty element.
fn without_cases<S: Suite>(
    report: &Report<S>,
    cases: &mut dyn CaseResults<S>,
) -> io::Result<String> {
    let mut run = TestSuite::new("run");
    run.add_test_case(whole(report));
    let mut boards = TestSuite::new("boards");
    boards.add_test_cases(report.boards.iter().map(board_test));
    let mut all = TestSuite::new("cases");
    let mut time = Duration::ZERO;
    cases.visit(&mut |case| {
        time += time_of(case);
        // Counted here; `write_junit` writes the element.
        all.add_test_case(test(case)).test_cases.clear();
        Ok(())
    })?;
    all.set_time(time);
    if let Ok(moment) = DateTime::parse_from_rfc3339(&report.started) {
        all.set_timestamp(moment);
    }
    for (name, value) in report.facts() {
        all.add_property((name, value.escaped().as_str()));
    }
    let mut page = Page::new("hw-tests");
    page.add_test_suite(run);
    if !report.boards.is_empty() {
        page.add_test_suite(boards);
    }
    page.add_test_suite(all);
    page.to_string().map_err(io::Error::other)
}

/// Returns the XML of a test, as it is in a whole page.
fn test_text<S: Suite>(case: &CaseResult<S>) -> io::Result<String> {
    let mut suite = TestSuite::new("cases");
    suite.add_test_case(test(case));
    let mut page = Page::new("hw-tests");
    page.add_test_suite(suite);
    let text = page.to_string().map_err(io::Error::other)?;
    let element = text.find(TEST_START).zip(text.rfind(SUITE_END));
    Ok(element.map_or("", |(start, end)| &text[start..end]).to_owned())
}

/// Returns the test that all cases were run.
fn whole<S: Suite>(report: &Report<S>) -> TestCase {
    let nothing = (report.counts.cases == 0).then(|| incomplete_counts(report.counts));
    let why = report.incomplete.as_deref().or(nothing.as_deref());
    all_cases_test(why.map(|why| ("incomplete", why)))
}

/// Returns the test of a board of a fleet: an error if it is missing at the end.
fn board_test<S: Suite>(board: &BoardSummary<S>) -> TestCase {
    let mut status = TestCaseStatus::success();
    if board.is_missing {
        status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("missing").set_message(board.ended.escaped());
    }
    let mut test = TestCase::new(board.name.escaped(), status);
    test.set_classname("boards");
    test.set_system_out(format!("lost {} times, restarted {}", board.losses, board.restarts));
    test
}

/// Returns the test that all cases were run, with the type and the text of its error.
fn all_cases_test(error: Option<(&str, &str)>) -> TestCase {
    let mut status = TestCaseStatus::success();
    if let Some((kind, why)) = error {
        status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type(kind).set_message(why.escaped());
    }
    let mut test = TestCase::new("all cases were run", status);
    test.set_classname("run");
    test
}

/// Returns the XML of a run that ended before it had results: one test, an error.
pub(super) fn no_run(why: &str) -> io::Result<String> {
    let mut suite = TestSuite::new("run");
    suite.add_test_case(all_cases_test(Some(("no run", why))));
    let mut page = Page::new("hw-tests");
    page.add_test_suite(suite);
    page.to_string().map_err(io::Error::other)
}

fn test<S: Suite>(case: &CaseResult<S>) -> TestCase {
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
        lines.extend(S::subject(&case.details).map(Escape::escaped));
        status.set_description(lines.join("\n"));
    }
    let mut test = TestCase::new(case.id.escaped(), status);
    test.set_classname(case.tags.first().map_or("cases".to_owned(), |tag| tag.escaped()));
    test.set_time(time_of(case));
    test
}

/// Returns the time of a case in whole milliseconds, as they are written, so that the times add up.
fn time_of<S: Suite>(case: &CaseResult<S>) -> Duration {
    Duration::from_millis((case.elapsed_us + 500) / 1000)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::results::RunHeader;
    use crate::test_suite::{self, result};

    /// Returns the XML of a run with one case of each verdict.
    fn page_of_all_verdicts() -> Page {
        let result =
            |verdict: Verdict| CaseResult { elapsed_us: 1500, ..result(verdict.as_str(), verdict) };
        let mut results = Verdict::ALL.map(result).to_vec();
        let mut report = Report::new(RunHeader::default(), Vec::new(), SystemTime::UNIX_EPOCH);
        let options = crate::report::FollowUpOptions::default();
        report.set_cases(&mut results, Duration::ZERO, &options, None).expect("it is readable");
        let mut text = Vec::new();
        write_junit(&report, &mut results, &mut text).expect("it is written");
        let text = String::from_utf8(text).expect("it is text");
        Page::deserialize_from_str(&text).expect("it is well-formed")
    }

    #[test]
    fn tests_that_are_written_one_at_a_time_are_those_of_a_whole_page() {
        let hostile = "</testsuite>\n    </testsuite>\n        <testcase \u{1}&\"";
        let mut results: Vec<_> = Verdict::ALL
            .map(|verdict| CaseResult {
                id: format!("{hostile} {verdict}"),
                ..test_suite::Result::with_reason(&test_suite::case("a"), verdict, hostile)
            })
            .to_vec();
        let mut report = Report::new(RunHeader::default(), Vec::new(), SystemTime::UNIX_EPOCH);
        let options = crate::report::FollowUpOptions::default();
        report.set_cases(&mut results, Duration::ZERO, &options, None).expect("it is readable");
        let mut streamed = Vec::new();
        write_junit(&report, &mut results, &mut streamed).expect("it is written");
        let mut page = Page::new("hw-tests");
        let text =
            without_cases(&report, &mut Vec::<test_suite::Result>::new()).expect("it is written");
        let empty = Page::deserialize_from_str(&text).expect("it is well-formed");
        for mut suite in empty.test_suites {
            if suite.name.as_str() == "cases" {
                suite.add_test_cases(results.iter().map(test));
            }
            page.add_test_suite(suite);
        }
        let whole = page.to_string().expect("it is written");
        assert_eq!(String::from_utf8(streamed).expect("it is text"), whole);
    }

    #[test]
    fn the_time_of_the_suite_is_the_sum_of_those_of_its_tests() {
        let page = page_of_all_verdicts();
        let times = page.test_suites[1].test_cases.iter().filter_map(|test| test.time);
        let sum = Duration::from_millis(2) * Verdict::ALL.len() as u32;
        assert_eq!((page.test_suites[1].time, times.sum()), (Some(sum), sum));
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
