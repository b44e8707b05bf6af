//! `junit.xml` for CI services: one test per case, and one that passes if all cases were run.

use std::io::{self, Write};

use cli_support::text::Escape;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::{BoardSummary, Report};
use crate::runner::{CaseResult, Verdict, incomplete_counts};
use crate::suite::Suite;

/// The outcome of a test other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Skipped,
    Error,
    Failure,
}

/// The names of the elements of outcomes, and of attributes with their numbers.
const ELEMENTS: [&str; 3] = ["skipped", "error", "failure"];
const COUNTS: [&str; 4] = ["tests", "skipped", "errors", "failures"];

/// Why a test did not succeed.
struct Problem {
    outcome: Outcome,
    kind: String,
    message: String,
    /// More lines.
    details: Option<String>,
}

/// A test.
struct Test {
    name: String,
    class: String,
    /// Its time in milliseconds.
    time: Option<u64>,
    problem: Option<Problem>,
    output: Option<String>,
}

impl Test {
    /// Returns a test that is no case; the type and the text of its error, if it did not succeed.
    fn new(name: &str, class: &str, error: Option<(&str, &str)>) -> Self {
        let problem = error.map(|(kind, why)| Problem {
            outcome: Outcome::Error,
            kind: kind.to_owned(),
            message: why.escaped().to_string(),
            details: None,
        });
        let (name, class) = (name.escaped().to_string(), class.to_owned());
        Self { name, class, time: None, problem, output: None }
    }

    fn outcome(&self) -> Option<Outcome> {
        self.problem.as_ref().map(|problem| problem.outcome)
    }
}

/// Returns the attributes with the numbers of tests.
fn counts(
    outcomes: impl Iterator<Item = Option<Outcome>>,
) -> impl Iterator<Item = (&'static str, String)> {
    let mut counts = [0; COUNTS.len()];
    for outcome in outcomes {
        counts[0] += 1;
        outcome.into_iter().for_each(|outcome| counts[1 + outcome as usize] += 1);
    }
    COUNTS.into_iter().zip(counts.map(|count: u64| count.to_string()))
}

type Xml<'a> = Writer<&'a mut dyn Write>;

/// The name of the test that all cases were run.
const ALL_CASES: &str = "all cases were run";

/// Writes the report as JUnit XML. Only a wrong answer is a failure; flaky cases and cases without
/// an answer are errors; cases not run and failures known from the baseline are skipped.
pub(super) fn write_junit<S: Suite>(report: &Report<S>, out: &mut dyn Write) -> io::Result<()> {
    let nothing = (report.counts.cases == 0).then(|| incomplete_counts(report.counts));
    let why = report.incomplete.as_deref().or(nothing.as_deref());
    let run = [Test::new(ALL_CASES, "run", why.map(|why| ("incomplete", why)))];
    let boards: Vec<_> = report.boards.iter().map(board_test).collect();
    let outcomes = run.iter().chain(&boards).map(Test::outcome);
    write_page(out, outcomes.chain(report.cases.iter().map(outcome)), |xml| {
        write_suite(xml, "run", &run)?;
        if !boards.is_empty() {
            write_suite(xml, "boards", &boards)?;
        }
        write_cases(xml, report)
    })
}

/// Writes the XML of a run that ended before it had results: one test, an error.
pub(super) fn write_no_run(why: &str, out: &mut dyn Write) -> io::Result<()> {
    let run = [Test::new(ALL_CASES, "run", Some(("no run", why)))];
    write_page(out, run.iter().map(Test::outcome), |xml| write_suite(xml, "run", &run))
}

fn write_page(
    out: &mut dyn Write,
    outcomes: impl Iterator<Item = Option<Outcome>>,
    suites: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(out, b' ', 4);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let page = xml.create_element("testsuites").with_attribute(("name", "hw-tests"));
    with(page, counts(outcomes)).write_inner_content(suites)?;
    xml.write_indent()
}

fn write_suite(xml: &mut Xml, name: &str, tests: &[Test]) -> io::Result<()> {
    let suite = xml.create_element("testsuite").with_attribute(("name", name));
    let write_tests = |xml: &mut Xml| tests.iter().try_for_each(|test| write_test(xml, test));
    let suite = with(suite, counts(tests.iter().map(Test::outcome)));
    suite.write_inner_content(write_tests).map(drop)
}

/// Writes the suite with a test for each case.
fn write_cases<S: Suite>(xml: &mut Xml, report: &Report<S>) -> io::Result<()> {
    let time = seconds(report.cases.iter().map(milliseconds).sum());
    let suite = xml.create_element("testsuite").with_attribute(("name", "cases"));
    let suite = with(suite, counts(report.cases.iter().map(outcome)));
    let suite = suite.with_attributes([("timestamp", &*report.started), ("time", &time)]);
    suite.write_inner_content(|xml| {
        xml.create_element("properties").write_inner_content(|xml| {
            for (name, value) in report.facts() {
                let value = value.escaped().to_string();
                let property = xml.create_element("property");
                property.with_attributes([("name", name), ("value", &value)]).write_empty()?;
            }
            Ok(())
        })?;
        report.cases.iter().try_for_each(|case| write_test(xml, &case_test(case)))
    })?;
    Ok(())
}

fn write_test(xml: &mut Xml, test: &Test) -> io::Result<()> {
    let Test { name, class, time, problem, output } = test;
    let element = xml.create_element("testcase");
    let element = element.with_attributes([("name", &**name), ("classname", class)]);
    let element = with(element, time.map(|time| ("time", seconds(time))));
    if problem.is_none() && output.is_none() {
        return element.write_empty().map(drop);
    }
    element.write_inner_content(|xml| {
        if let Some(Problem { outcome, kind, message, details }) = problem {
            let element = xml.create_element(ELEMENTS[*outcome as usize]);
            let element = element.with_attributes([("message", &**message), ("type", kind)]);
            match details {
                Some(details) => element.write_text_content(BytesText::new(details))?,
                None => element.write_empty()?,
            };
        }
        if let Some(output) = output {
            xml.create_element("system-out").write_text_content(BytesText::new(output))?;
        }
        Ok(())
    })?;
    Ok(())
}

type Element<'a, 'b> = quick_xml::writer::ElementWriter<'a, &'b mut dyn Write>;

fn with<'a, 'b>(
    element: Element<'a, 'b>,
    attributes: impl IntoIterator<Item = (&'static str, String)>,
) -> Element<'a, 'b> {
    attributes
        .into_iter()
        .fold(element, |element, (name, value)| element.with_attribute((name, &*value)))
}

/// Returns the test of a board of a fleet: an error if it is missing at the end.
fn board_test(board: &BoardSummary) -> Test {
    let missing = board.is_missing.then_some(("missing", &*board.ended));
    let output = format!("lost {} times, restarted {}", board.losses, board.restarts);
    Test { output: Some(output), ..Test::new(&board.name, "boards", missing) }
}

/// Returns the outcome of the test of a case; `None` for success.
fn outcome<S: Suite>(case: &CaseResult<S>) -> Option<Outcome> {
    match case.verdict {
        _ if case.known => Some(Outcome::Skipped),
        Verdict::Pass => None,
        Verdict::Fail => Some(Outcome::Failure),
        Verdict::Timeout | Verdict::Error | Verdict::Flaky => Some(Outcome::Error),
        Verdict::Skipped | Verdict::NotRun => Some(Outcome::Skipped),
    }
}

fn case_test<S: Suite>(case: &CaseResult<S>) -> Test {
    let class = case.tags.first().map_or("cases", String::as_str);
    Test {
        name: case.id.escaped().to_string(),
        class: class.escaped().to_string(),
        time: Some(milliseconds(case)),
        problem: outcome(case).map(|outcome| case_problem(case, outcome)),
        output: None,
    }
}

fn case_problem<S: Suite>(case: &CaseResult<S>, outcome: Outcome) -> Problem {
    let differences = case.differences.iter().map(ToString::to_string);
    let fault = case.fault.as_ref().map(|fault| format!("at fault: {fault}"));
    let lines = case.reason.iter().cloned().chain(differences).chain(fault);
    let mut lines: Vec<_> = lines.map(|line| line.escaped().to_string()).collect();
    let known = if case.known { "known: " } else { "" };
    let message = lines.first().map_or(case.verdict.as_str(), String::as_str).to_owned();
    if !lines.is_empty() {
        lines.extend(S::subject(&case.details).map(|subject| subject.escaped().to_string()));
    }
    let details = (!lines.is_empty()).then(|| lines.join("\n"));
    Problem { outcome, kind: format!("{known}{}", case.verdict), message, details }
}

/// Returns the time of a case in whole milliseconds, as it is written, so that the times add up.
fn milliseconds<S: Suite>(case: &CaseResult<S>) -> u64 {
    (case.elapsed_us + 500) / 1000
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use quick_junit::{NonSuccessKind, Report as Page, TestCase, TestCaseStatus};

    use super::*;
    use crate::report::FollowUpOptions;
    use crate::results::RunHeader;
    use crate::test_suite::{self, result};

    /// Writes the XML of a run with these results, and reads it by another library.
    fn read_back(results: Vec<test_suite::Result>) -> Page {
        let mut report = Report::new(RunHeader::default(), Vec::new(), SystemTime::UNIX_EPOCH);
        report.set_cases(results, Duration::ZERO, &FollowUpOptions::default(), None);
        let mut text = Vec::new();
        write_junit(&report, &mut text).expect("it is written");
        let text = String::from_utf8(text).expect("it is text");
        Page::deserialize_from_str(&text).expect("it is well-formed")
    }

    /// Returns the XML of a run with one case of each verdict.
    fn page_of_all_verdicts() -> Page {
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
