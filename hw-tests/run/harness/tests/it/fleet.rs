//! Runs on several boards in memory: a slow receiver of the events, boards of unlike kinds, and
//! boards that are never ready.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use cli_support::exit::{CommandError, FAILED};
use hil_harness::campaign::{
    self, ConnectedBoard, Executor, Member, Observer, RunConfig, RunContext,
};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::SetupError;
use hil_harness::report::{Report, RunTarget};
use hil_harness::runner::{RunEnd, RunOptions, RunSummary};
use hil_harness::suite::{CaseResult, Verdict};

use crate::test_suite::{TestCase, TestSuite, case, result};

/// How long a test waits for a thread before it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a board in memory does.
#[derive(Clone)]
struct Board {
    /// The end of the names of the cases that it can run; it skips the others.
    runs: &'static str,
    /// Receives a message when the results of all cases are delivered.
    delivered: Option<Sender<()>>,
    /// Receives a message when the board gets no case while it runs one.
    goes_on: Option<Sender<()>>,
    bug: Option<Bug>,
}

/// A bug of an executor.
#[derive(Clone, Copy)]
enum Bug {
    /// It panics when it has taken cases.
    Panic,
    /// It gives cases back, though it is not lost.
    GivesBack,
}

impl Board {
    /// A board that passes the cases whose names end so, and skips the others.
    fn that_runs(runs: &'static str) -> Self {
        Self { runs, delivered: None, goes_on: None, bug: None }
    }

    fn with_bug(bug: Bug) -> Self {
        Self { bug: Some(bug), ..Self::that_runs("") }
    }
}

impl Executor for Board {
    type Suite = TestSuite;
    type Plan = Board;

    fn board(&self) -> ConnectedBoard {
        ConnectedBoard {
            name: "in memory".to_owned(),
            program: "mul.asm, build 00000001".to_owned(),
            identity: None,
            own_routines: Vec::new(),
            target: RunTarget::default(),
        }
    }

    /// Takes all cases before it delivers the first result, or else runs two at a time.
    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = TestCase>,
        options: RunOptions,
        on_result: &mut dyn FnMut(CaseResult<TestSuite>),
    ) -> RunSummary {
        if let Some(goes_on) = &self.goes_on {
            let mut oldest = cases.next();
            while let Some(case) = oldest {
                oldest = cases.next();
                if oldest.is_none() {
                    let _ = goes_on.send(());
                }
                on_result(result(&case.id, Verdict::Pass));
            }
        }
        for case in cases.collect::<Vec<_>>() {
            let verdict = match self.bug {
                Some(Bug::Panic) => panic!("a bug of the executor"),
                Some(Bug::GivesBack) => Verdict::NotRun,
                None if case.id.ends_with(self.runs) => Verdict::Pass,
                None => Verdict::Skipped,
            };
            on_result(result(&case.id, verdict));
        }
        if let Some(delivered) = &self.delivered {
            let _ = delivered.send(());
        }
        let is_stopped = options.interrupted.load(Ordering::Relaxed);
        let ended = if is_stopped { RunEnd::Interrupted } else { RunEnd::Complete };
        RunSummary { ended, ..RunSummary::default() }
    }
}

fn member(name: &str, plan: Result<Board, CommandError>) -> Member<Board> {
    Member { name: name.to_owned(), plan }
}

/// Runs cases with these names on boards and returns the exit code.
fn run(
    config: &RunConfig,
    cases: &[String],
    members: &[Member<Board>],
    stop: &Arc<AtomicBool>,
    observer: &mut dyn Observer<TestSuite>,
) -> u8 {
    let cases: Vec<_> = cases.iter().map(|name| case(name)).collect();
    let context = RunContext {
        file_system: &OsFileSystem,
        clock: Arc::new(Instant::now),
        stop: Arc::clone(stop),
        prepare: &|plan: &Board| Ok::<_, SetupError>(plan.clone()),
        observer,
    };
    match campaign::run(config, &cases, members, context) {
        Ok(done) => done.exit_code(),
        Err(failure) => failure.code,
    }
}

fn config(members: &[Member<Board>]) -> RunConfig {
    let boards: Vec<_> = members.iter().map(|member| member.name.clone()).collect();
    RunConfig { repeat: 1, min_boards: boards.len(), boards, ..RunConfig::default() }
}

fn report(folder: &Path) -> Report<TestSuite> {
    let text = std::fs::read_to_string(folder.join("report.json")).expect("it is written");
    serde_json::from_str(&text).expect("a report")
}

struct Silent;

impl Observer<TestSuite> for Silent {}

/// Handles the first result only when a board has sent a message, and sets a flag then.
struct Stalled {
    delivered: std::sync::mpsc::Receiver<()>,
    stop: Arc<AtomicBool>,
}

impl Observer<TestSuite> for Stalled {
    fn on_result(&mut self, _result: &CaseResult<TestSuite>) {
        if !self.stop.swap(true, Ordering::Relaxed) {
            self.delivered.recv_timeout(PATIENCE).expect("the board waits for no receiver");
        }
    }
}

#[test]
fn a_board_delivers_its_results_however_slowly_they_are_handled() {
    let (sender, delivered) = channel();
    let board = || Board { delivered: Some(sender.clone()), ..Board::that_runs("") };
    let members = [member("one", Ok(board())), member("two", Ok(board()))];
    let cases: Vec<_> = (0..1000).map(|number| format!("case {number}")).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let mut stalled = Stalled { delivered, stop: Arc::clone(&stop) };
    let code = run(&config(&members), &cases, &members, &stop, &mut stalled);
    assert_eq!(code, 0, "all cases had run when it was stopped");
}

#[test]
fn a_board_with_a_case_in_flight_does_not_wait_for_a_slow_receiver() {
    let (sender, goes_on) = channel();
    let board = || Board { goes_on: Some(sender.clone()), ..Board::that_runs("") };
    let members = [member("one", Ok(board())), member("two", Ok(board()))];
    let cases: Vec<_> = (0..20).map(|number| format!("case {number}")).collect();
    let mut stalled = Stalled { delivered: goes_on, stop: Arc::default() };
    let code = run(&config(&members), &cases, &members, &Arc::default(), &mut stalled);
    assert_eq!(code, 0);
}

#[test]
fn boards_that_skip_what_others_run_are_kept() {
    let board = |name: &str, runs| member(name, Ok(Board::that_runs(runs)));
    let members = [board("one", "x"), board("two", "y")];
    let cases: Vec<_> =
        (0..12).map(|number| format!("{number}{}", ["x", "y"][number % 2])).collect();
    let folder = tempfile::tempdir().expect("a scratch folder");
    let config = RunConfig { report: Some(folder.path().to_owned()), ..config(&members) };
    // All boards are required.
    assert_eq!(run(&config, &cases, &members, &Arc::default(), &mut Silent), 0);
    let report = report(folder.path());
    assert_eq!((report.counts.pass, report.counts.cases), (12, 12));
    for row in &report.boards {
        assert_eq!((row.is_missing, row.at_fault, &*row.ended), (false, 0, "complete"));
    }
}

#[test]
fn a_case_that_no_board_runs_is_skipped() {
    let board = |name: &str| member(name, Ok(Board::that_runs("x")));
    let members = ["one", "two", "three", "four"].map(board);
    let cases = ["ax".to_owned(), "b".to_owned()];
    assert_eq!(run(&config(&members), &cases, &members, &Arc::default(), &mut Silent), 5);
}

#[test]
fn boards_without_plan_are_a_failure_of_the_rig_on_one_and_on_several() {
    let failure = || Err(CommandError::new(FAILED, "no such routine"));
    let cases = ["a".to_owned()];
    let members = [member("one", failure()), member("two", failure())];
    assert_eq!(run(&config(&members), &cases, &members, &Arc::default(), &mut Silent), 3);
    let config = RunConfig { repeat: 1, ..RunConfig::default() };
    let member = [member("one", failure())];
    assert_eq!(run(&config, &cases, &member, &Arc::default(), &mut Silent), 3);
}

#[test]
fn a_run_whose_time_is_over_before_a_case_starts_is_no_pass() {
    let members = [member("one", Ok(Board::that_runs("")))];
    let folder = tempfile::tempdir().expect("a scratch folder");
    let config = RunConfig {
        time: Some(Duration::ZERO),
        report: Some(folder.path().to_owned()),
        ..config(&members)
    };
    let code = run(&config, &["a".to_owned()], &members, &Arc::default(), &mut Silent);
    assert_eq!(code, 4);
    let junit = std::fs::read_to_string(folder.path().join("junit.xml")).expect("it is written");
    assert!(junit.contains("no case was run"), "{junit}");
}

#[test]
fn cases_that_every_board_gives_back_are_not_run_and_the_run_ends() {
    let cases = ["a".to_owned(), "b".to_owned()];
    for boards in 1..3 {
        let member = |index: usize| member(&index.to_string(), Ok(Board::with_bug(Bug::GivesBack)));
        let members: Vec<_> = (0..boards).map(member).collect();
        let code = run(&config(&members), &cases, &members, &Arc::default(), &mut Silent);
        assert_eq!(code, 3, "{boards} boards");
    }
}

#[test]
#[should_panic = "a scoped thread panicked"]
fn a_panic_of_one_board_ends_the_run() {
    let cases: Vec<_> = (0..100).map(|number| number.to_string()).collect();
    let members = [
        member("one", Ok(Board::with_bug(Bug::Panic))),
        member("two", Ok(Board::with_bug(Bug::Panic))),
    ];
    run(&config(&members), &cases, &members, &Arc::default(), &mut Silent);
}
