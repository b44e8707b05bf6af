//! `junit.xml` for CI services: one test per case, and one that passes if all cases were run.

use std::io::{self, Write};

use std::fmt;

use askama::Template;

use super::{BoardSummary, Report};
use crate::runner::incomplete_counts;
use crate::suite::{CaseResult, Suite, Verdict};

/// The outcome of a test other than success; its name is that of the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Skipped,
    Error,
    Failure,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Skipped => "skipped",
            Self::Error => "error",
            Self::Failure => "failure",
        })
    }
}

/// Why a test did not succeed.
struct Problem {
    outcome: Outcome,
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
            outcome: Outcome::Error,
            kind: kind.to_owned(),
            message: why.to_owned(),
            details: Vec::new(),
        });
        Self { name, class, time: None, problem, output: None }
    }
}

/// The numbers of tests: all, and those of each [`Outcome`].
type Counts = [u64; 4];

#[derive(Default)]
struct TestSuite<'a> {
    name: &'static str,
    tests: Vec<Test<'a>>,
    /// Its start, and its time in seconds.
    timing: Option<(&'a str, String)>,
    properties: Vec<(&'static str, String)>,
}

impl TestSuite<'_> {
    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for test in &self.tests {
            counts[0] += 1;
            test.problem.iter().for_each(|problem| counts[1 + problem.outcome as usize] += 1);
        }
        counts
    }
}

#[derive(Template)]
#[template(path = "junit.xml")]
struct Page<'a> {
    all: Counts,
    suites: Vec<TestSuite<'a>>,
}

impl<'a> Page<'a> {
    fn new(suites: Vec<TestSuite<'a>>) -> Self {
        let counts: Vec<_> = suites.iter().map(TestSuite::counts).collect();
        let all = std::array::from_fn(|kind| counts.iter().map(|counts| counts[kind]).sum());
        Self { all, suites }
    }
}

/// The name of the test that passes if all cases were run.
const ALL_CASES: &str = "all cases were run";

/// Writes the report as JUnit's XML.
pub(super) fn write_junit<S: Suite>(report: &Report<S>, out: &mut dyn Write) -> io::Result<()> {
    let nothing = (report.counts.cases == 0).then(|| incomplete_counts(report.counts));
    let why = report.incomplete.as_deref().or(nothing.as_deref());
    let run = Test::new(ALL_CASES, "run", why.map(|why| ("incomplete", why)));
    let boards: Vec<_> = report.boards.iter().map(board_test).collect();
    let cases = TestSuite {
        name: "cases",
        tests: report.cases.iter().map(case_test).collect(),
        timing: Some((&report.started, seconds(report.cases.iter().map(milliseconds).sum()))),
        properties: report.facts(),
    };
    let run = TestSuite { name: "run", tests: vec![run], ..TestSuite::default() };
    let mut suites = vec![run, cases];
    if !boards.is_empty() {
        suites.insert(1, TestSuite { name: "boards", tests: boards, ..TestSuite::default() });
    }
    Page::new(suites).write_into(out)
}

/// Writes the XML of a run that ended before it had results.
pub(super) fn write_no_run(why: &str, out: &mut dyn Write) -> io::Result<()> {
    let tests = vec![Test::new(ALL_CASES, "run", Some(("no run", why)))];
    let suites = vec![TestSuite { name: "run", tests, ..TestSuite::default() }];
    Page::new(suites).write_into(out)
}

fn board_test(board: &BoardSummary) -> Test<'_> {
    let missing = board.is_missing.then_some(("missing", &*board.ended));
    let output = format!("lost {} times, restarted {}", board.losses, board.restarts);
    Test { output: Some(output), ..Test::new(&board.name, "boards", missing) }
}

fn case_test<S: Suite>(case: &CaseResult<S>) -> Test<'_> {
    let outcome = match case.verdict {
        _ if case.known => Some(Outcome::Skipped),
        Verdict::Pass => None,
        Verdict::Fail => Some(Outcome::Failure),
        Verdict::Timeout | Verdict::Error | Verdict::Flaky => Some(Outcome::Error),
        Verdict::Skipped | Verdict::NotRun => Some(Outcome::Skipped),
    };
    Test {
        name: &case.id,
        class: case.tags.first().map_or("cases", String::as_str),
        time: Some(seconds(milliseconds(case))),
        problem: outcome.map(|outcome| case_problem(case, outcome)),
        output: None,
    }
}

fn case_problem<S: Suite>(case: &CaseResult<S>, outcome: Outcome) -> Problem {
    let differences = case.differences.iter().map(ToString::to_string);
    let fault = case.fault.as_ref().map(|fault| format!("at fault: {fault}"));
    let mut details: Vec<_> = case.reason.iter().cloned().chain(differences).chain(fault).collect();
    let known = if case.known { "known: " } else { "" };
    let message = details.first().map_or(case.verdict.as_str(), String::as_str).to_owned();
    if !details.is_empty() {
        details.extend(S::subject(&case.details).map(str::to_owned));
    }
    Problem { outcome, kind: format!("{known}{}", case.verdict), message, details }
}

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
