//! `junit.xml` for CI services: one test per case, and one that passes if all cases were run.

use std::io::{self, Write};

use askama::Template;

use super::{BoardSummary, Report};
use crate::runner::incomplete_counts;
use crate::suite::{CaseResult, Suite, Verdict};

/// Why a test did not succeed.
struct Problem {
    /// The name of the element: `skipped`, `error` or `failure`.
    element: &'static str,
    kind: String,
    message: String,
    details: Vec<String>,
}

/// A test.
struct Test<'a> {
    name: &'a str,
    class: &'a str,
    /// Its time in seconds.
    time: Option<String>,
    problem: Option<Problem>,
    output: Option<String>,
}

impl<'a> Test<'a> {
    /// Returns a test that is no case; the type and the text of its error, if it did not succeed.
    fn new(name: &'a str, class: &'a str, error: Option<(&str, &str)>) -> Self {
        let problem = error.map(|(kind, why)| Problem {
            element: "error",
            kind: kind.to_owned(),
            message: why.to_owned(),
            details: Vec::new(),
        });
        Self { name, class, time: None, problem, output: None }
    }
}

/// A test suite: its name and tests.
type TestSuite<'a> = (&'static str, Vec<Test<'a>>);

/// Returns the numbers of tests: all, and those that were skipped, had an error, and failed.
fn counts<'t, 'a: 't>(tests: impl Iterator<Item = &'t Test<'a>> + Clone) -> [usize; 4] {
    let elements = tests.clone().filter_map(|test| Some(test.problem.as_ref()?.element));
    let count = |wanted| elements.clone().filter(|element| *element == wanted).count();
    [tests.count(), count("skipped"), count("error"), count("failure")]
}

#[derive(Default, Template)]
#[template(path = "junit.xml")]
struct Page<'a> {
    suites: Vec<TestSuite<'a>>,
    /// The start of the suite `cases`, its seconds, and its properties.
    started: &'a str,
    time: String,
    properties: Vec<(&'static str, String)>,
}

impl<'a> Page<'a> {
    fn tests(&self) -> impl Iterator<Item = &Test<'a>> + Clone {
        self.suites.iter().flat_map(|(_, tests)| tests)
    }
}

/// The name of the test that passes if all cases were run.
const ALL_CASES: &str = "all cases were run";

/// Writes the report as JUnit's XML.
pub(super) fn write_junit<S: Suite>(report: &Report<S>, out: &mut dyn Write) -> io::Result<()> {
    let nothing = (report.counts.cases == 0).then(|| incomplete_counts(report.counts));
    let why = report.incomplete.as_deref().or(nothing.as_deref());
    let run = Test::new(ALL_CASES, "run", why.map(|why| ("incomplete", why)));
    let mut suites = vec![("run", vec![run])];
    if !report.boards.is_empty() {
        suites.push(("boards", report.boards.iter().map(board_test).collect()));
    }
    suites.push(("cases", report.cases.iter().map(case_test).collect()));
    let time = seconds(report.cases.iter().map(milliseconds).sum());
    Page { suites, started: &report.started, time, properties: report.facts() }.write_into(out)
}

/// Writes the XML of a run that ended before it had results.
pub(super) fn write_no_run(why: &str, out: &mut dyn Write) -> io::Result<()> {
    let run = Test::new(ALL_CASES, "run", Some(("no run", why)));
    Page { suites: vec![("run", vec![run])], ..Page::default() }.write_into(out)
}

fn board_test(board: &BoardSummary) -> Test<'_> {
    let missing = board.is_missing.then_some(("missing", &*board.ended));
    let output = format!("lost {} times, restarted {}", board.losses, board.restarts);
    Test { output: Some(output), ..Test::new(&board.name, "boards", missing) }
}

fn case_test<S: Suite>(case: &CaseResult<S>) -> Test<'_> {
    let element = match case.verdict {
        _ if case.known => Some("skipped"),
        Verdict::Pass => None,
        Verdict::Fail => Some("failure"),
        Verdict::Timeout | Verdict::Error | Verdict::Flaky => Some("error"),
        Verdict::Skipped | Verdict::NotRun => Some("skipped"),
    };
    let class = case.tags.first().map_or("cases", String::as_str);
    let time = Some(seconds(milliseconds(case)));
    let problem = element.map(|element| case_problem(case, element));
    let output = S::output(&case.details).map(str::to_owned);
    Test { time, problem, output, ..Test::new(&case.id, class, None) }
}

fn case_problem<S: Suite>(case: &CaseResult<S>, element: &'static str) -> Problem {
    let differences = case.differences.iter().map(ToString::to_string);
    let fault = case.fault.as_ref().map(|fault| format!("at fault: {fault}"));
    let mut details: Vec<_> = case.reason.iter().cloned().chain(differences).chain(fault).collect();
    let known = if case.known { "known: " } else { "" };
    let message = details.first().map_or(case.verdict.as_str(), String::as_str).to_owned();
    if !details.is_empty() {
        details.extend(S::subject(&case.details).map(str::to_owned));
    }
    Problem { element, kind: format!("{known}{}", case.verdict), message, details }
}

/// Returns the time of a case in milliseconds.
fn milliseconds<S: Suite>(case: &CaseResult<S>) -> u64 {
    (case.elapsed_us + 500) / 1000
}

/// Formats milliseconds as seconds.
fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use quick_junit::{NonSuccessKind, Report as ReadPage, TestCase, TestCaseStatus};

    use cli_support::text::Escape;

    use super::*;
    use crate::report::FollowUpOptions;
    use crate::results::RunHeader;
    use crate::test_suite::{self, result};

    /// Writes the XML of a run with these results, and reads it by another library.
    fn read_back(results: Vec<test_suite::Result>) -> ReadPage {
        let mut report = Report::new(RunHeader::default(), Vec::new(), SystemTime::UNIX_EPOCH);
        report.set_cases(results, Duration::ZERO, &FollowUpOptions::default(), None);
        let mut text = Vec::new();
        write_junit(&report, &mut text).expect("it is written");
        let text = String::from_utf8(text).expect("it is text");
        ReadPage::deserialize_from_str(&text).expect("it is well-formed")
    }

    /// Returns the XML of a run with one case of each verdict.
    fn page_of_all_verdicts() -> ReadPage {
        let result =
            |verdict: Verdict| CaseResult { elapsed_us: 1500, ..result(verdict.as_str(), verdict) };
        read_back(Verdict::ALL.map(result).to_vec())
    }

    #[test]
    fn a_hostile_name_ends_no_element() {
        let hostile = "</testsuite>\n    </testsuite>\n        <testcase \u{1}&\"";
        let results = Verdict::ALL.map(|verdict| CaseResult {
            id: format!("{hostile} {verdict}"),
            ..test_suite::Result::with_reason(&test_suite::case("a"), verdict, hostile)
        });
        let page = read_back(results.to_vec());
        let names: Vec<_> = page.test_suites[1].test_cases.iter().map(|test| &*test.name).collect();
        let escaped = |verdict| format!("{hostile} {verdict}").escaped().to_string();
        assert_eq!(names, Verdict::ALL.map(escaped));
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
