//! An executor without a board and without a line has all that runs have: results file, report,
//! resume, baseline, repetitions of a soak run, exit code.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cli_support::exit::CommandError;
use firmware::profile::UartKind;
use hil_harness::baseline;
use hil_harness::campaign::{
    self, ConnectedBoard, Executor, FinishedRun, Member, Observer, RunConfig, RunContext,
};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::SetupError;
use hil_harness::report::{Report, RunTarget};
use hil_harness::results::Clock;
use hil_harness::runner::{RunEnd, RunOptions, RunSummary};
use hil_harness::suite::{CaseResult, Verdict};

use crate::test_suite::{TestCase, TestSuite, case, result};

/// Which case fails, and after how many cases the user interrupts the run.
#[derive(Clone, Copy)]
struct Plan {
    failing: &'static str,
    interrupted_after: usize,
}

const ALL_PASS: Plan = Plan { failing: "", interrupted_after: usize::MAX };

/// Runs cases in memory.
struct InMemory(Plan);

const NAME: &str = "simulated without a line";

impl Executor for InMemory {
    type Suite = TestSuite;
    type Plan = Plan;

    fn board(&self) -> ConnectedBoard {
        ConnectedBoard {
            name: NAME.to_owned(),
            program: "mul.asm, build 00000001".to_owned(),
            identity: None,
            own_routines: vec!["MUL"],
            target: RunTarget { board: NAME.to_owned(), ..RunTarget::default() },
        }
    }

    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = TestCase>,
        options: RunOptions,
        on_result: &mut dyn FnMut(CaseResult<TestSuite>),
    ) -> RunSummary {
        let Self(Plan { failing, interrupted_after }) = self;
        for case in cases.take(*interrupted_after) {
            let is_failing = case.id == *failing;
            let verdict = if is_failing { Verdict::Fail } else { Verdict::Pass };
            let mut result = result(&case.id, verdict);
            result.details.registers = vec![7];
            result.differences.extend(is_failing.then(|| "HL: 6, expected 7".to_owned()));
            on_result(result);
            if options.fail_fast && is_failing {
                return RunSummary { ended: RunEnd::FirstFailure, ..RunSummary::default() };
            }
        }
        let is_interrupted = *interrupted_after < usize::MAX;
        options.interrupted.store(is_interrupted, Ordering::Relaxed);
        let ended = if is_interrupted { RunEnd::Interrupted } else { RunEnd::Complete };
        RunSummary { ended, ..RunSummary::default() }
    }
}

struct Silent;

impl Observer<TestSuite> for Silent {}

type Outcome = Result<FinishedRun<TestSuite>, CommandError>;

/// Runs five cases.
fn run(config: &RunConfig, plan: Plan) -> Outcome {
    run_by(Arc::new(Instant::now), config, plan)
}

fn run_by(clock: Clock, config: &RunConfig, plan: Plan) -> Outcome {
    run_after(|| (), clock, config, plan)
}

/// Calls `prepare` after the report of the start is written and before the first case.
fn run_after(prepare: impl Fn() + Sync, clock: Clock, config: &RunConfig, plan: Plan) -> Outcome {
    let cases = ["a", "b", "c", "d", "e"].map(case);
    let context = RunContext {
        file_system: &OsFileSystem,
        clock,
        stop: Arc::new(AtomicBool::new(false)),
        prepare: &|plan: &Plan| {
            prepare();
            Ok::<_, SetupError>(InMemory(*plan))
        },
        observer: &mut Silent,
    };
    let members = [Member { name: String::new(), plan: Ok(plan) }];
    campaign::run(config, &cases, &members, context)
}

fn config(folder: &Path) -> RunConfig {
    RunConfig {
        repeat: 1,
        profile: "none".to_owned(),
        results: Some(folder.join("results")),
        report: Some(folder.join("report")),
        ..RunConfig::default()
    }
}

fn report(folder: &Path) -> Report<TestSuite> {
    let text = std::fs::read_to_string(folder.join("report/report.json")).expect("it is written");
    serde_json::from_str(&text).expect("a report")
}

#[test]
fn verdicts_report_and_exit_code_are_those_of_a_board() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let failing = Plan { failing: "c", ..ALL_PASS };
    let done = run(&config(folder.path()), failing).expect("it ends");
    assert_eq!(done.exit_code(), 1);
    assert!(
        done.totals.results_text().contains("cases  outputs"),
        "{}",
        done.totals.results_text()
    );
    assert!(done.totals.results_text().contains("HL: 6, expected 7"));
    let report = report(folder.path());
    assert_eq!((report.counts.pass, report.counts.fail, report.counts.values), (4, 1, 5));
    assert_eq!((report.run.profile.as_str(), report.image), ("none", None));
    assert_eq!(report.user_routines, ["MUL"]);
    let page = std::fs::read_to_string(folder.path().join("report/report.html")).expect("a page");
    assert!(page.contains("\"values\":\"outputs\""));
}

#[test]
fn junit_has_no_failed_set_up_in_place_of_the_image_that_an_executor_has_not() {
    let junit = |folder: &Path| {
        std::fs::read_to_string(folder.join("report/junit.xml")).expect("it is written")
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    run(&config(folder.path()), ALL_PASS).expect("it ends");
    assert!(!junit(folder.path()).contains("name=\"image\""), "{}", junit(folder.path()));
    let folder = tempfile::tempdir().expect("a scratch folder");
    let context = RunContext {
        file_system: &OsFileSystem,
        clock: Arc::new(Instant::now),
        stop: Arc::new(AtomicBool::new(false)),
        prepare: &|_: &Plan| Err::<InMemory, _>(SetupError::NoReply(UartKind::Acia)),
        observer: &mut Silent,
    };
    let cases = vec![case("a")];
    let members = [Member { name: String::new(), plan: Ok(ALL_PASS) }];
    campaign::run(&config(folder.path()), &cases, &members, context).expect_err("no reply");
    let image = "<property name=\"image\" value=\"none: the set-up did not end\"/>";
    assert!(junit(folder.path()).contains(image), "{}", junit(folder.path()));
}

#[test]
fn a_report_that_cannot_be_written_fails_a_run_unless_a_case_does() {
    let run = |plan: Plan| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let config = config(folder.path());
        let report = folder.path().join("report");
        let block = || {
            std::fs::remove_dir_all(&report).expect("it is there");
            std::fs::write(&report, "").expect("a file");
        };
        run_after(block, Arc::new(Instant::now), &config, plan)
    };
    let error = run(ALL_PASS).expect_err("no report");
    assert_eq!(error.code, 3, "{error:?}");
    let done = run(Plan { failing: "c", ..ALL_PASS }).expect("it ends");
    assert_eq!(done.exit_code(), 1);
    assert!(done.report_failure.is_some_and(|failure| failure.contains("report")));
}

#[test]
fn an_interrupted_run_is_resumed_and_a_known_failure_passes() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let first = Plan { failing: "a", interrupted_after: 2 };
    let done = run(&config(folder.path()), first).expect("it ends");
    assert_eq!((done.exit_code(), done.totals.counts.not_run), (1, 3));
    let rest = RunConfig { resume: true, ..config(folder.path()) };
    let done = run(&rest, ALL_PASS).expect("it ends");
    let counts = done.totals.counts;
    assert_eq!((counts.pass, counts.fail, counts.not_run), (4, 1, 0));
    let known = baseline::read::<TestSuite>(&folder.path().join("results"), "").expect("it is one");
    let other = tempfile::tempdir().expect("a scratch folder");
    let config = RunConfig { baseline: Some(Arc::new(known)), ..config(other.path()) };
    let done = run(&config, Plan { failing: "a", ..ALL_PASS }).expect("it ends");
    assert_eq!((done.exit_code(), done.totals.comparison().contains("1 known")), (0, true));
}

#[test]
fn results_of_a_damaged_file_are_not_in_the_report() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    run(&config(folder.path()), ALL_PASS).expect("it ends");
    let path = folder.path().join("results");
    let text = std::fs::read_to_string(&path).expect("it is written");
    std::fs::write(&path, text.replace("\"id\":\"e\"", "\"id\":\"f\"")).expect("a file");
    let rest = RunConfig { resume: true, ..config(folder.path()) };
    let error = run(&rest, ALL_PASS).expect_err("it is damaged");
    assert!(error.message.contains("a damaged line"), "{error:?}");
    let counts = report(folder.path()).counts;
    assert_eq!((counts.pass, counts.not_run), (0, 5));
}

#[test]
fn a_soak_run_repeats_the_cases_and_ends_at_the_first_failure_if_asked() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let soak = RunConfig { count: Some(12), results: None, ..config(folder.path()) };
    let done = run(&soak, ALL_PASS).expect("it ends");
    assert_eq!((done.exit_code(), done.totals.counts.pass), (0, 12));
    let fast = RunConfig { fail_fast: true, results: None, ..config(folder.path()) };
    let done = run(&fast, Plan { failing: "b", ..ALL_PASS }).expect("it ends");
    assert_eq!((done.exit_code(), done.totals.counts.not_run), (1, 3));
}

#[test]
fn a_soak_run_writes_every_failure_and_its_counts_once_a_minute() {
    let start = Instant::now();
    for (seconds, progress_lines) in [(0, 0), (60, 12)] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let readings = AtomicU32::new(0);
        let step = Duration::from_secs(seconds);
        let clock = Arc::new(move || start + step * readings.fetch_add(1, Ordering::Relaxed));
        let soak = RunConfig { count: Some(12), ..config(folder.path()) };
        let done = run_by(clock, &soak, Plan { failing: "b", ..ALL_PASS }).expect("it ends");
        assert_eq!((done.exit_code(), done.totals.counts.fail), (1, 3));
        let problems = done.totals.results_text();
        assert_eq!(problems.matches("fail b ").count(), 1, "each case once: {problems}");
        let text = std::fs::read_to_string(folder.path().join("results")).expect("it is written");
        let count = |kind: &str| text.lines().filter(|line| line.starts_with(kind)).count();
        assert_eq!(count("{\"case\":"), 3, "{text}");
        assert_eq!(count("{\"progress\":"), progress_lines, "{text}");
    }
}
