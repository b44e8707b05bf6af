//! A session that runs cases of test files, on a simulated machine or on a board.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cli_support::exit::CommandError;
use cli_support::interrupt::install_handler;
use cli_support::output::{pluralize, print};
use cli_support::text::{Escape, eprint_message};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::Identity;
use hil_harness::campaign::{self, FinishedRun, Observer, RunConfig, RunContext, Session};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::SetupError;
use hil_harness::report::RunTarget;
use hil_harness::runner::{BaselineStatus, RunEnd, RunSummary, merge_repetitions};
use hil_harness::suite::{self, CaseResult};
use rcflash_link::LinkStats;
use rcflash_link::caller::CallerError;
use sargon_suite::BoardConfig;
use testfile_suite::{
    BoardMachine, BoardMachineError, Machine, RunError, RunOptions, SimulatedMachine, TestCase,
    TestFile, TestFiles, TestResult, Verdict, run_one,
};

use super::measure::Measurements;
use super::{TestArgs, lines, not_checked};

/// Runs cases with results file and report.
pub(super) fn run(
    args: &TestArgs,
    cases: &[TestCase],
    measurements: &Rc<RefCell<Measurements>>,
) -> Result<FinishedRun<TestFiles>, CommandError> {
    let config = RunConfig {
        profile: "none".to_owned(),
        shard: args.shard.map(|shard| shard.to_string()),
        ..args.execution.config::<TestFiles>(String::new(), &args.board)?
    };
    let plan = args.board.names_board().then(|| args.board.plan()).transpose();
    let measurements = Rc::clone(measurements);
    let plan = plan.map(|board| TestPlan { board, seed: args.seed, measurements });
    let context = RunContext {
        file_system: &OsFileSystem,
        clock: Arc::new(Instant::now),
        stop: install_handler()?,
        prepare: &TestSession::prepare,
        observer: &mut Silent,
    };
    campaign::run(&config, cases, plan, context)
}

/// The session prints results itself.
struct Silent;

impl<T> Observer<T> for Silent {}

/// What a session is prepared from.
struct TestPlan {
    /// The board; `None` for the simulated machine.
    board: Option<BoardConfig>,
    /// The seed of properties.
    seed: Option<u64>,
    measurements: Rc<RefCell<Measurements>>,
}

/// What runs calls.
enum Runner {
    /// A processor with memory, made for each file.
    Simulated(Option<Box<SimulatedMachine>>),
    Board(Box<BoardMachine>, Box<BoardProfile>),
}

/// A session.
struct TestSession {
    runner: Runner,
    seed: Option<u64>,
    /// The file whose program is loaded, and what came of that.
    loaded: Option<(Arc<TestFile>, Result<(), Refusal>)>,
    tally: Tally,
    not_checked: BTreeSet<&'static str>,
    measurements: Rc<RefCell<Measurements>>,
}

/// Why no case of a file runs.
#[derive(Clone)]
enum Refusal {
    /// The file is for other boards.
    Skipped(String),
    /// The program can't be loaded.
    Unloadable(String),
}

/// The results of a file.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
    not_checked: BTreeSet<&'static str>,
}

impl TestSession {
    fn prepare(plan: &TestPlan) -> Result<Self, SetupError> {
        let runner = match &plan.board {
            None => Runner::Simulated(None),
            Some(config) => {
                let profile = config.profile.clone();
                let monitor = build(&profile, ProgramKind::Monitor)?;
                let (board, link) = config.connect(&monitor.bytes)?;
                let machine = BoardMachine::start(board, link, &profile).map_err(setup_error)?;
                Runner::Board(Box::new(machine), Box::new(profile))
            }
        };
        let (loaded, tally, not_checked) = (None, Tally::default(), BTreeSet::new());
        let measurements = Rc::clone(&plan.measurements);
        Ok(Self { runner, seed: plan.seed, loaded, tally, not_checked, measurements })
    }

    /// Loads the program of a file, unless it is loaded.
    fn load(&mut self, file: &Arc<TestFile>) -> Result<Result<(), Refusal>, RunEnd> {
        if let Some((loaded, outcome)) = &self.loaded
            && Arc::ptr_eq(loaded, file)
        {
            return Ok(outcome.clone());
        }
        self.finish_file();
        let outcome = match &mut self.runner {
            Runner::Simulated(machine) => {
                *machine = Some(Box::new(self.measurements.borrow().machine(file)));
                Ok(())
            }
            Runner::Board(_, profile) if !file.fits(&profile.name) => {
                let boards = file.boards.join(", ");
                Err(Refusal::Skipped(format!("its file is for {boards}, not {}", profile.name)))
            }
            Runner::Board(machine, _) => match machine.load(&file.program) {
                Ok(()) => Ok(()),
                Err(error @ BoardMachineError::Overlap { .. }) => {
                    let message = format!("{}: {error}", file.path.escaped());
                    eprint_message(format!("hw-tests: {message}"));
                    Err(Refusal::Unloadable(message))
                }
                Err(error) => return Err(RunEnd::BoardLost(error.to_string())),
            },
        };
        self.loaded = Some((Arc::clone(file), outcome.clone()));
        Ok(outcome)
    }

    /// Runs a case once, and prints its result.
    fn run_case(&mut self, case: &TestCase) -> Result<CaseResult<TestFiles>, RunEnd> {
        let skip = |reason| TestResult {
            id: case.heading().name.clone(),
            verdict: Verdict::Skipped,
            reason: Some(reason),
            ..TestResult::default()
        };
        let error = |why: String| CaseResult::with_reason(case, suite::Verdict::Error, why);
        let found = match self.load(&case.file)? {
            Err(Refusal::Unloadable(message)) => return Ok(error(message)),
            Err(Refusal::Skipped(reason)) => skip(reason),
            Ok(()) => match self.call(case) {
                Ok(mut found) => {
                    self.measurements.borrow_mut().judge(case, &mut found);
                    found
                }
                Err(RunError::File(message)) => {
                    eprint_message(format!("hw-tests: {message}"));
                    return Ok(error(message.to_string()));
                }
                Err(RunError::Machine(message)) => {
                    return Err(RunEnd::BoardLost(format!("{}: {message}", case.id)));
                }
            },
        };
        self.report(case, &found);
        Ok(case.result(found))
    }

    fn call(&mut self, case: &TestCase) -> Result<TestResult, RunError> {
        let options = RunOptions { seed: self.seed, contracts: &case.contracts };
        let machine: &mut dyn Machine = match &mut self.runner {
            Runner::Simulated(machine) => {
                let new = || Box::new(self.measurements.borrow().machine(&case.file));
                &mut **machine.get_or_insert_with(new)
            }
            Runner::Board(machine, _) => &mut **machine,
        };
        run_one(&case.file, case.index, machine, &options)
    }

    fn report(&mut self, case: &TestCase, found: &TestResult) {
        // The summary at the end is printed the same way, and returns the error.
        let _ = print(&lines(&case.file.path, found));
        let tally = &mut self.tally;
        match found.verdict {
            Verdict::Pass => tally.passed += 1,
            Verdict::Fail => tally.failed += 1,
            Verdict::Skipped => tally.skipped += 1,
        }
        tally.not_checked.extend(&found.not_checked);
        self.not_checked.extend(&found.not_checked);
    }

    /// Prints the summary of the file whose cases have run, and adds up what was measured.
    fn finish_file(&mut self) {
        if let (Some((file, _)), Runner::Simulated(machine)) = (&self.loaded, &mut self.runner)
            && let Some(machine) = machine.take()
        {
            self.measurements.borrow_mut().add(file, &machine);
        }
        let Tally { passed, failed, skipped, not_checked: names } = std::mem::take(&mut self.tally);
        let Some((file, _)) = &self.loaded else { return };
        if passed + failed + skipped == 0 {
            return;
        }
        let (verdict, part) = if failed > 0 { ("FAIL", failed) } else { ("PASS", passed) };
        let cases = pluralize(passed + failed, "case");
        let remarks = (skipped > 0).then(|| format!("{skipped} skipped"));
        let remarks = remarks.into_iter().chain(not_checked(&names));
        let remarks: String = remarks.map(|remark| format!(", {remark}")).collect();
        let (path, name) = (file.path.escaped(), self.name().escaped());
        let _ = print(&format!("{verdict} {part} of {cases} in {path}, {name}{remarks}\n"));
    }

    fn restarts(&self) -> u64 {
        match &self.runner {
            Runner::Simulated(_) => 0,
            Runner::Board(machine, _) => machine.restarts(),
        }
    }
}

impl Session for TestSession {
    type Suite = TestFiles;
    type Plan = TestPlan;

    fn planned_profile(plan: &TestPlan) -> Option<&BoardProfile> {
        plan.board.as_ref().map(|config| &config.profile)
    }

    fn complete_plan(
        plan: &mut TestPlan,
        cancel: &Arc<AtomicBool>,
        case_ids: &mut dyn Iterator<Item = &str>,
    ) {
        if let Some(config) = &mut plan.board {
            config.cancel = Some(Arc::clone(cancel));
            if let Some(recording) = &mut config.recording {
                recording.cases = case_ids.map(str::to_owned).collect();
            }
        }
    }

    fn name(&self) -> &str {
        match &self.runner {
            Runner::Simulated(_) => "simulated",
            Runner::Board(machine, _) => machine.name(),
        }
    }

    fn program(&self) -> String {
        self.identity().map_or_else(|| "simulated machine".to_owned(), ToString::to_string)
    }

    fn identity(&self) -> Option<&Identity> {
        match &self.runner {
            Runner::Simulated(_) => None,
            Runner::Board(machine, _) => Some(machine.caller().identity()),
        }
    }

    fn target(&self) -> RunTarget {
        let builds = self.identity().map(|caller| caller.build_id).into_iter().collect();
        let not_judged = self.not_checked.iter().copied().collect();
        RunTarget { board: self.name().to_owned(), builds, not_judged }
    }

    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = TestCase>,
        options: hil_harness::runner::RunOptions,
        on_result: &mut dyn FnMut(CaseResult<TestFiles>),
    ) -> RunSummary {
        let mut summary = RunSummary::default();
        while summary.ended == RunEnd::Complete {
            if options.interrupted.load(Ordering::Relaxed) {
                summary.ended = RunEnd::Interrupted;
                break;
            }
            let Some(case) = cases.next() else { break };
            let mut result = self.run_case(&case);
            for _ in 1..options.repeat {
                let Ok(before) = result else { break };
                result = self.run_case(&case).map(|again| merge_repetitions(before, again));
            }
            match result {
                Ok(result) => {
                    let status = options.baseline.map(|known| known.compare(&result));
                    let is_good = result.verdict == suite::Verdict::Pass
                        || status == Some(BaselineStatus::Known);
                    on_result(result);
                    if options.fail_fast && !is_good {
                        summary.ended = RunEnd::FirstFailure;
                    }
                }
                Err(end) => {
                    on_result(CaseResult::new(&case, suite::Verdict::NotRun));
                    summary.ended = end;
                }
            }
        }
        self.finish_file();
        summary.restarts = self.restarts();
        summary.last_restart =
            (summary.restarts > 0).then(|| "a routine did not return".to_owned());
        summary
    }

    fn stats(&self) -> LinkStats {
        match &self.runner {
            Runner::Simulated(_) => LinkStats::default(),
            Runner::Board(machine, _) => machine.stats(),
        }
    }
}

/// Converts an error of the set-up to the engine's.
fn setup_error(error: BoardMachineError) -> SetupError {
    match error {
        BoardMachineError::Build(error) => error.into(),
        BoardMachineError::Board(error) => error.into(),
        BoardMachineError::Link(error) | BoardMachineError::Caller(CallerError::Link(error)) => {
            error.into()
        }
        BoardMachineError::Caller(CallerError::Load(error)) => error.into(),
        other => SetupError::UntestedApplication(other.to_string()),
    }
}
