//! Runs on several boards: each case has exactly one verdict, and the faulty side is reported.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use cli_support::exit::{CommandError, NOTHING_SELECTED};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use hil_harness::board::{Board, BoardError, BoardKind};
use hil_harness::campaign::{self, Observer, RunConfig};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::{BoardConfig, SetupError};
use hil_harness::runner::{Conclusion, FaultOrigin, RunEnd, Verdict};
use hil_harness::suite::{CaseResult, Suite};
use rcflash_transport::{ControlLine, Transport};
use sargon_corpus::{Case, builtin_corpus};
use sargon_suite::{FinishedRun, Member, Report, RunContext, SargonBoard, SargonConfig};

fn profile() -> BoardProfile {
    BoardProfile::named("rc2014-classic").expect("it ships")
}

fn cases(count: usize) -> Vec<Case> {
    builtin_corpus()
        .expect("the corpus")
        .into_iter()
        .filter(|case| case.id.contains("play"))
        .take(count)
        .collect()
}

/// An in-process board, with the evaluator or with another application.
fn member(name: &str, application: Option<Vec<u8>>) -> Member {
    let plan = BoardConfig {
        board: BoardKind::InProcess,
        application: application.map(|bytes| (built().address, bytes)),
        reconnect_timeout: Duration::from_millis(1),
        ..BoardConfig::simulated(profile())
    };
    Member { name: name.to_owned(), plan: Ok(plan.into()) }
}

fn built() -> firmware::build::BuiltImage {
    build(&profile(), ProgramKind::Application).expect("it builds")
}

/// The evaluator with another value for a piece: the rook is the fifth of the table.
fn wrong_application(points: u8) -> Vec<u8> {
    let image = built();
    let symbol = |name| image.program.symbol(name).expect("a symbol of the table page");
    let rook = usize::from(symbol("TBASE") - image.address + symbol("PVALUE") + 4);
    let mut bytes = image.bytes;
    assert_eq!(std::mem::replace(&mut bytes[rook], points), 5);
    bytes
}

/// A board whose line fails permanently after the reads that are `left`.
struct Unplugged {
    board: Box<dyn Board>,
    left: Arc<AtomicU64>,
}

struct Line {
    line: Box<dyn Transport + Send>,
    left: Arc<AtomicU64>,
}

impl Board for Unplugged {
    fn name(&self) -> &str {
        self.board.name()
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let line = self.board.open()?;
        Ok(Box::new(Line { line, left: Arc::clone(&self.left) }))
    }
}

impl Transport for Line {
    fn name(&self) -> &str {
        self.line.name()
    }

    fn now(&self) -> Instant {
        self.line.now()
    }

    fn set_control_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        self.line.set_control_line(line, on)
    }

    fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
        self.line.set_flow_control(obey)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.line.discard_unsent()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let less = |left: u64| left.checked_sub(1);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => self.line.read(buffer, timeout),
            Err(_) => Err(io::Error::other("unplugged")),
        }
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.line.write(bytes, deadline)
    }
}

/// Returns `true` if the run is over for a board.
fn is_over(plan: &SargonConfig) -> bool {
    plan.board.cancel.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
}

/// Prepares a board. The nanoseconds of its reconnect timeout are the number of reads after which
/// it is unplugged.
fn prepare(plan: &SargonConfig) -> Result<SargonBoard, SetupError> {
    let programs = Arc::new(plan.programs()?);
    let reads = plan.board.reconnect_timeout.subsec_nanos();
    SargonBoard::prepare_with(plan, programs, &OsFileSystem, |board| match reads {
        1_000_000 => board,
        reads => Box::new(Unplugged { board, left: Arc::new(AtomicU64::new(reads.into())) }),
    })
}

/// A board that is unplugged after a number of reads.
fn unplugged(name: &str, reads: u32) -> Member {
    let mut member = member(name, None);
    if let Ok(plan) = &mut member.plan {
        plan.board.reconnect_timeout = Duration::from_nanos(reads.into());
    }
    member
}

/// The configuration of a run, and its cases.
type Settings = (RunConfig, Vec<Case>);

/// A run on these boards, and its report.
fn run(members: &[Member], settings: Settings) -> (Result<FinishedRun, CommandError>, Report) {
    run_prepared(members, settings, &prepare)
}

/// A run in which no board runs a case before all are ready.
fn run_when_all_are_ready(
    members: &[Member],
    settings: Settings,
) -> (Result<FinishedRun, CommandError>, Report) {
    let all_ready = Barrier::new(members.len());
    run_prepared(members, settings, &|plan| {
        let live = prepare(plan);
        all_ready.wait();
        live
    })
}

/// A run on a good board and on one that is unplugged after `reads` reads. The good one is prepared
/// only after that, so that it does not run all cases first.
fn run_with_a_loss(
    reads: u32,
    reconnect: Duration,
    settings: Settings,
) -> (Result<FinishedRun, CommandError>, Report) {
    let left = Arc::new(AtomicU64::new(reads.into()));
    let mut gone = member("gone", None);
    if let Ok(plan) = &mut gone.plan {
        plan.board.reconnect_timeout = reconnect;
    }
    run_prepared(&[member("good", None), gone], settings, &|plan| {
        if plan.board.reconnect_timeout == reconnect {
            let programs = Arc::new(plan.programs()?);
            let left = Arc::clone(&left);
            let wrap = |board| -> Box<dyn Board> { Box::new(Unplugged { board, left }) };
            return SargonBoard::prepare_with(plan, programs, &OsFileSystem, wrap);
        }
        while left.load(Ordering::Relaxed) > 0 && !is_over(plan) {
            std::thread::yield_now();
        }
        prepare(plan)
    })
}

/// A run with this function to prepare boards.
fn run_prepared(
    members: &[Member],
    settings: Settings,
    prepare: &(dyn Fn(&SargonConfig) -> Result<SargonBoard, SetupError> + Sync),
) -> (Result<FinishedRun, CommandError>, Report) {
    let stop = Arc::default();
    run_observed(members, settings, prepare, Arc::new(Instant::now), stop, |_| false)
}

/// Stops a run by the number of its verdicts.
struct StoppingObserver<F> {
    verdicts: usize,
    stop: Arc<AtomicBool>,
    is_enough: F,
}

impl<S: Suite, F: Fn(usize) -> bool> Observer<S> for StoppingObserver<F> {
    fn on_result(&mut self, _: &CaseResult<S>) {
        self.verdicts += 1;
        if (self.is_enough)(self.verdicts) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// A run by this clock, which is stopped by the flag or after a number of verdicts.
fn run_observed(
    members: &[Member],
    (settings, cases): Settings,
    prepare: &(dyn Fn(&SargonConfig) -> Result<SargonBoard, SetupError> + Sync),
    clock: Arc<dyn Fn() -> Instant + Send + Sync>,
    stop: Arc<AtomicBool>,
    is_enough: impl Fn(usize) -> bool,
) -> (Result<FinishedRun, CommandError>, Report) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let report = folder.path().to_owned();
    let boards = members.iter().map(|member| member.name.clone()).collect();
    let settings = RunConfig { boards, repeat: 1, report: Some(report), ..settings };
    let mut observer = StoppingObserver { verdicts: 0, stop: Arc::clone(&stop), is_enough };
    let here =
        RunContext { file_system: &OsFileSystem, clock, stop, prepare, observer: &mut observer };
    let done = campaign::run(&settings, &cases, members, here);
    let text = std::fs::read_to_string(folder.path().join("report.json")).expect("a report");
    (done, serde_json::from_str(&text).expect("it is one"))
}

fn of(cases: Vec<Case>) -> Settings {
    (RunConfig { behaviour: "corrected".to_owned(), ..RunConfig::default() }, cases)
}

/// Checks that each case has one verdict; the names of those with this one.
#[track_caller]
fn with(report: &Report, cases: &[Case], verdict: Verdict) -> Vec<String> {
    let mut names: Vec<_> = report.cases.iter().map(|case| case.id.clone()).collect();
    let mut all: Vec<_> = cases.iter().map(|case| case.id.clone()).collect();
    names.sort();
    all.sort();
    assert_eq!(names, all, "each case once");
    assert!(report.counts.is_consistent() && report.counts.cases == cases.len() as u64);
    let meant = report.cases.iter().filter(|case| case.verdict == verdict);
    meant.map(|case| case.id.clone()).collect()
}

#[test]
fn a_run_is_distributed_over_boards_and_one_report_has_what_each_did() {
    let cases = cases(120);
    let members = ["a", "b", "c"].map(|name| member(name, None));
    let (done, report) = run_when_all_are_ready(&members, of(cases.clone()));
    assert_eq!(done.expect("it ends").exit_code(), 0);
    assert_eq!(with(&report, &cases, Verdict::Pass).len(), cases.len());
    let by_board: u64 = report.boards.iter().map(|row| row.counts.pass).sum();
    assert!(by_board == cases.len() as u64, "each on one board");
    assert!(report.boards.iter().all(|row| row.ended == "complete" && row.image.is_some()));
    let named = |case: &sargon_suite::CaseResult| {
        ["a", "b", "c"].contains(&case.board.as_deref().unwrap_or_default())
    };
    assert!(report.cases.iter().all(named));
    assert_eq!(report.run.boards, ["a", "b", "c"]);
}

#[test]
fn a_faulty_board_is_distinguished_from_wrong_code() {
    let cases = cases(200);
    let members =
        [member("good", None), member("liar", Some(wrong_application(4))), member("fine", None)];
    let (done, report) = run_when_all_are_ready(&members, of(cases.clone()));
    let done = done.expect("it ends");
    let failed = with(&report, &cases, Verdict::Fail);
    assert!(!failed.is_empty() && done.exit_code() == 1, "{:?}", report.boards);
    let liar = Some(FaultOrigin::Boards(vec!["liar".to_owned()]));
    for case in report.cases.iter().filter(|case| case.verdict == Verdict::Fail) {
        assert_eq!((&case.fault, case.board.as_deref()), (&liar, Some("liar")), "{case:?}");
        assert_eq!(case.board_verdicts.len(), 2, "one board more");
    }
    let row = &report.boards[1];
    assert_eq!(row.at_fault as usize, failed.len());
    assert!(row.ended.starts_with("quarantined") || row.at_fault < 3, "{row:?}");
    assert!(with(&report, &cases, Verdict::NotRun).is_empty());
}

#[test]
fn code_that_is_wrong_on_every_board_is_at_fault() {
    let cases = cases(100);
    let members = ["a", "b", "c"].map(|name| member(name, Some(wrong_application(4))));
    let (done, report) = run(&members, of(cases.clone()));
    assert_eq!(done.expect("it ends").exit_code(), 1);
    let failed = with(&report, &cases, Verdict::Fail);
    assert!(failed.len() > 3, "{failed:?}");
    for case in report.cases.iter().filter(|case| case.verdict == Verdict::Fail) {
        assert_eq!(case.fault, Some(FaultOrigin::Code(2)), "{case:?}");
    }
    assert!(report.boards.iter().all(|row| row.at_fault == 0 && row.ended == "complete"));
}

#[test]
fn cases_in_flight_on_an_unplugged_board_are_run_by_others() {
    let cases = cases(150);
    for reads in [2, 150, 200] {
        let (done, report) = run_with_a_loss(reads, Duration::from_nanos(1), of(cases.clone()));
        // A board that was never ready has run nothing.
        let expected = if report.boards[1].port.is_some() { 3 } else { 0 };
        assert_eq!(done.expect("it ends").exit_code(), expected, "{:?}", report.boards);
        assert_eq!(with(&report, &cases, Verdict::Pass).len(), cases.len(), "{reads} reads");
        let ended = &report.boards[1].ended;
        assert!(ended.contains("unplugged"), "{reads} reads: {ended}");
    }
}

#[test]
fn a_board_that_does_not_come_back_in_time_is_reported_as_lost_and_others_run_its_cases() {
    let cases = cases(60);
    let (done, report) = run_with_a_loss(200, Duration::from_millis(50), of(cases.clone()));
    // A case may have damaged it.
    assert_eq!(done.expect("it ends").exit_code(), 3);
    assert_eq!(report.outcome, Conclusion::Incomplete);
    assert_eq!(with(&report, &cases, Verdict::Pass).len(), cases.len());
    let lost = &report.boards[1];
    assert!(lost.ended.contains("lost") && lost.is_missing, "{lost:?}");
    assert_eq!((lost.losses, report.boards[0].is_missing), (1, false));
}

#[test]
fn a_board_that_is_no_longer_needed_has_no_problem() {
    let cases = cases(20);
    let mut late = member("late", None);
    let timeout = Duration::from_millis(2001); // unlike any other timeout
    if let Ok(plan) = &mut late.plan {
        plan.board.reconnect_timeout = timeout;
    }
    let members = [member("good", None), late];
    let (done, report) = run_prepared(&members, of(cases.clone()), &|plan| {
        while plan.board.reconnect_timeout == timeout && !is_over(plan) {
            std::thread::yield_now();
        }
        prepare(plan)
    });
    assert_eq!(done.expect("it ends").exit_code(), 0);
    assert_eq!(with(&report, &cases, Verdict::Pass).len(), cases.len());
    let ended = &report.boards[1].ended;
    assert!(ended.starts_with("was not ready before the run was over: interrupted"), "{ended}");
}

/// A board that sets a flag when it is dropped, after its last case.
struct Flagged {
    board: Box<dyn Board>,
    is_done: Arc<AtomicBool>,
}

impl Drop for Flagged {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
    }
}

impl Board for Flagged {
    fn name(&self) -> &str {
        self.board.name()
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        self.board.open()
    }
}

#[test]
fn ctrl_c_while_only_required_boards_are_prepared_ends_the_run() {
    let cases = cases(20);
    let mut late = member("late", None);
    let reconnect = Duration::from_millis(2001); // unlike any other timeout
    if let Ok(plan) = &mut late.plan {
        plan.board.reconnect_timeout = reconnect;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let deadline = Instant::now() + Duration::from_secs(60);
    let prepare = |plan: &SargonConfig| {
        while plan.board.reconnect_timeout == reconnect && !is_over(plan) {
            assert!(Instant::now() < deadline, "not stopped");
            std::thread::yield_now();
        }
        let is_done = Arc::clone(&stop);
        let programs = Arc::new(plan.programs()?);
        SargonBoard::prepare_with(plan, programs, &OsFileSystem, |board| {
            Box::new(Flagged { board, is_done })
        })
    };
    let (settings, cases) = of(cases);
    let required = (RunConfig { min_boards: 2, ..settings }, cases.clone());
    let members = [member("good", None), late];
    let clock = Arc::new(Instant::now);
    let (done, report) =
        run_observed(&members, required, &prepare, clock, Arc::clone(&stop), |_| false);
    let done = done.expect("it ends");
    assert_eq!((done.exit_code(), done.totals.counts.pass), (3, 20));
    let ended = &report.boards[1].ended;
    assert!(ended.starts_with("was not ready before the run was over: interrupted"), "{ended}");
}

#[test]
fn a_run_without_a_board_left_has_cases_that_are_not_run() {
    let cases = cases(150);
    let members = [unplugged("one", 200), unplugged("two", 200)];
    let (done, report) = run(&members, of(cases.clone()));
    let done = done.expect("it ends");
    assert_eq!((done.exit_code(), done.summary.ended == RunEnd::Complete), (3, false));
    assert!(!with(&report, &cases, Verdict::NotRun).is_empty());
    assert!(report.incomplete.is_some_and(|why| why.contains("no working board is left")));
    let (done, report) = run(&[unplugged("one", 2), unplugged("two", 2)], of(cases.clone()));
    let failure = done.expect_err("none is ready");
    assert_eq!(failure.code, 3);
    assert!(failure.message.contains("one: set-up failed"), "{}", failure.message);
    assert_eq!(with(&report, &cases, Verdict::NotRun).len(), cases.len());
}

/// A results file of a run that lost its boards, for a resumed run.
fn broken_off(file: &Path) -> Settings {
    let (settings, cases) = of(cases(200));
    let settings = RunConfig { results: Some(file.to_owned()), ..settings };
    let lost = ["a", "b"].map(|name| unplugged(name, 200));
    let (_, report) = run(&lost, (settings.clone(), cases.clone()));
    assert!(report.counts.not_run > 0, "{:?}", report.counts);
    (RunConfig { resume: true, ..settings }, cases)
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("results.jsonl");
    (folder, file)
}

#[test]
fn a_run_with_fail_fast_ends_when_both_boards_fail_a_case() {
    let (settings, cases) = of(cases(200));
    let settings = RunConfig { fail_fast: true, ..settings };
    let liars = ["a", "b"].map(|name| member(name, Some(wrong_application(4))));
    let done = run(&liars, (settings, cases)).0.expect("it ends");
    assert_eq!((done.exit_code(), done.summary.ended), (1, RunEnd::FirstFailure));
}

#[test]
fn a_run_is_resumed_by_the_same_boards_and_by_others_with_the_same_build() {
    for names in [&["a", "b"][..], &["a", "c"], &["a"]] {
        let (_folder, file) = scratch();
        let rest = broken_off(&file);
        let before = std::fs::read(&file).expect("a file");
        let mut other = member("d", None);
        if let Ok(plan) = &mut other.plan {
            plan.board.profile = BoardProfile::named("rc2014-zed").expect("it ships");
        }
        let failure = run(&[other], rest.clone()).0.expect_err("another build");
        assert_eq!(failure.code, 2);
        assert!(failure.message.contains("the application is "), "{}", failure.message);
        assert!(std::fs::read(&file).expect("a file").starts_with(&before));
        let members: Vec<_> = names.iter().map(|name| member(name, None)).collect();
        let (done, report) = run(&members, rest.clone());
        assert_eq!(done.expect("it ends").exit_code(), 0);
        assert!(with(&report, &rest.1, Verdict::NotRun).is_empty());
        let others = if *names == ["a", "b"] { [].as_slice() } else { &["a", "b"] };
        assert_eq!(report.earlier_boards, others, "{names:?}");
    }
}

/// A soak run of these cases.
fn soak(cases: &[Case], time: Option<Duration>, count: Option<u64>) -> Settings {
    let (settings, cases) = of(cases.to_vec());
    (RunConfig { time, count, seed: Some(7), ..settings }, cases)
}

#[test]
fn cases_are_repeated_until_so_many_have_run_although_a_board_is_lost_in_a_later_round() {
    let cases = cases(10);
    let (done, report) =
        run_with_a_loss(400, Duration::from_nanos(1), soak(&cases, None, Some(405)));
    let done = done.expect("it ends");
    let counts = done.totals.counts;
    assert_eq!((done.exit_code(), counts.cases, counts.pass), (3, 405, 405), "{counts:?}");
    assert_eq!(report.rounds.map(|rounds| rounds.pass), Some(405));
    let [good, gone] = &report.boards[..] else { panic!("{:?}", report.boards) };
    assert!(good.counts.cases > 0 && good.ended == "complete", "{good:?}");
    assert!(gone.counts.cases > 10 && gone.ended.contains("unplugged"), "{gone:?}");
}

#[test]
fn each_round_has_the_failures_of_the_code_and_the_results_file_has_no_other_cases() {
    let cases = cases(100);
    let wrong = ["a", "b"].map(|name| member(name, Some(wrong_application(4))));
    let once = run(&wrong, of(cases.clone())).0.expect("it ends").totals.counts;
    let (_folder, file) = scratch();
    let (settings, _) = soak(&cases, None, Some(300));
    let settings = RunConfig { results: Some(file.clone()), ..settings };
    let done = run(&wrong, (settings, cases)).0.expect("it ends");
    let counts = done.totals.counts;
    assert_eq!((done.exit_code(), counts.cases, counts.fail), (1, 300, 3 * once.fail));
    let text = std::fs::read_to_string(file).expect("it is written");
    let written = text.lines().filter(|line| line.starts_with("{\"case\":")).count() as u64;
    assert!(written == counts.fail && written > 0, "{text}");
}

#[test]
fn no_case_starts_after_the_deadline_and_the_run_is_complete() {
    let cases = cases(30);
    let start = Instant::now();
    for seconds in [1, 70, 400] {
        let readings = AtomicU64::new(0);
        let second = move || Duration::from_secs(readings.fetch_add(1, Ordering::Relaxed));
        let members = ["a", "b"].map(|name| member(name, None));
        let settings = soak(&cases, Some(Duration::from_secs(seconds)), None);
        let clock = Arc::new(move || start + second());
        let (done, _) =
            run_observed(&members, settings, &prepare, clock, Arc::default(), |_| false);
        let done = done.expect("it ends");
        let counts = done.totals.counts;
        // A run without cases is no pass.
        let code = if counts.cases == 0 { NOTHING_SELECTED } else { 0 };
        assert_eq!((done.exit_code(), counts.pass), (code, counts.cases), "{seconds} s");
        // Each start of a case reads the clock once.
        assert!(counts.cases < seconds && (counts.cases > 0 || seconds == 1), "{counts:?}");
    }
}

#[test]
fn a_soak_run_that_is_interrupted_or_has_lost_all_boards_completes_its_round_as_not_run() {
    let cases = cases(40);
    let members = ["a", "b"].map(|name| member(name, None));
    let hour = soak(&cases, Some(Duration::from_secs(3600)), None);
    let clock = Arc::new(Instant::now);
    let is_enough = |count| count == 100;
    let (done, _) =
        run_observed(&members, hour.clone(), &prepare, clock, Arc::default(), is_enough);
    let done = done.expect("it ends");
    let counts = done.totals.counts;
    assert_eq!((done.exit_code(), done.summary.ended), (130, RunEnd::Interrupted));
    assert!(counts.pass >= 100 && counts.cases % 40 == 0, "{counts:?}");
    let lost = ["a", "b"].map(|name| unplugged(name, 300));
    let (done, report) = run(&lost, hour);
    let done = done.expect("it ends");
    let counts = done.totals.counts;
    assert_eq!((done.exit_code(), counts.cases % 40), (3, 0), "{counts:?}");
    assert!(counts.pass > 0 && counts.pass + counts.not_run == counts.cases, "{counts:?}");
    assert!(report.incomplete.is_some_and(|why| why.contains("no working board is left")));
}
