//! Runs the cases of test files, on a simulated machine or on a board.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cli_support::exit::CommandError;
use cli_support::text::{Escape, eprint_message};
use hil_harness::campaign::{ConnectedBoard, Executor, FinishedRun, RunConfig, run_one_by_one};
use hil_harness::live::{BoardConfig, LiveBoard, SetupError};
use hil_harness::report::RunTarget;
use hil_harness::runner::{RunEnd, RunOptions, RunSummary};
use hil_harness::suite::{CaseResult, Verdict};
use indicatif::ProgressBar;
use testfile_suite::{
    BoardMachine, Machine, MachineError, RoutineMachine, RunError, TestCase, TestFile, TestFiles,
    TestOptions, TestResult, UNOBSERVED, run_one,
};

use super::super::execution::run_on;
use super::TestArgs;
use super::measure::{Measurements, lock};
use super::printer::Printer;

/// How long a case runs until its progress is shown.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// Runs cases with results file and report.
pub(super) fn run(
    args: &TestArgs,
    cases: &[TestCase],
    measurements: &Arc<Mutex<Measurements>>,
) -> Result<FinishedRun<TestFiles>, CommandError> {
    let config = RunConfig {
        profile: "none".to_owned(),
        shard: args.shard.map(|shard| shard.to_string()),
        ..args.execution.config::<TestFiles>(String::new(), &args.board)?
    };
    let plan = |board| {
        let measurements = Arc::clone(measurements);
        TestPlan { board, seed: args.seed, stop: Arc::default(), measurements }
    };
    let each = |board| Ok(plan(Some(board)));
    let single = || match args.board.names_board() {
        true => args.board.plan().and_then(each),
        false => Ok(plan(None)),
    };
    let mut printer = Printer::new(cases, config.boards.len(), config.is_soak());
    run_on(&args.board, &config, cases, single, each, &TestExecutor::prepare, &mut printer)
}

/// What an executor is prepared from.
#[derive(Clone)]
struct TestPlan {
    /// The board; `None` for the simulated machine.
    board: Option<BoardConfig>,
    /// The seed of properties.
    seed: Option<u64>,
    /// Interrupts a call.
    stop: Arc<AtomicBool>,
    measurements: Arc<Mutex<Measurements>>,
}

/// What runs calls.
enum TestMachine {
    /// A processor with memory, made at the first call of each file.
    Simulated(Option<Box<RoutineMachine>>),
    Board(Box<BoardMachine>),
}

/// Runs the cases of test files.
struct TestExecutor {
    machine: TestMachine,
    seed: Option<u64>,
    stop: Arc<AtomicBool>,
    /// The file whose program is loaded, and what came of that.
    loaded: Option<(Arc<TestFile>, Result<(), Refusal>)>,
    not_checked: BTreeSet<&'static str>,
    measurements: Arc<Mutex<Measurements>>,
}

/// Why the cases of a file do not run, and their verdict.
#[derive(Clone)]
enum Refusal {
    /// Skipped: the file is for other boards.
    OtherBoard(String),
    /// An error: its program can't be loaded.
    Unloadable(String),
}

impl TestExecutor {
    fn prepare(plan: &TestPlan) -> Result<Self, SetupError> {
        let machine = match &plan.board {
            None => TestMachine::Simulated(None),
            Some(config) => TestMachine::Board(Box::new(BoardMachine::prepare(config)?)),
        };
        let TestPlan { seed, stop, measurements, .. } = plan.clone();
        Ok(Self { machine, seed, stop, loaded: None, not_checked: BTreeSet::new(), measurements })
    }

    /// Loads the program of a file, unless it is loaded.
    fn load(&mut self, file: &Arc<TestFile>) -> Result<Result<(), Refusal>, RunEnd> {
        if let Some((loaded, outcome)) = &self.loaded
            && Arc::ptr_eq(loaded, file)
        {
            return Ok(outcome.clone());
        }
        self.finish_file();
        let outcome = match &mut self.machine {
            TestMachine::Simulated(_) => Ok(()),
            TestMachine::Board(machine) if !file.fits(&machine.live.config.profile.name) => {
                let (boards, profile) = (file.boards.join(", "), &machine.live.config.profile.name);
                Err(Refusal::OtherBoard(format!("its file is for {boards}, not {profile}")))
            }
            TestMachine::Board(machine) => match machine.load(&file.program) {
                Ok(()) => Ok(()),
                Err(MachineError::Unloadable(error)) => {
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
        let error = |why: String| CaseResult::with_reason(case, Verdict::Error, why);
        let found = match self.load(&case.file)? {
            Err(Refusal::Unloadable(why)) => return Ok(error(why)),
            Err(Refusal::OtherBoard(why)) => CaseResult::with_reason(case, Verdict::Skipped, why),
            Ok(()) => match self.call(case) {
                Ok(mut found) => {
                    lock(&self.measurements).judge(case, &mut found);
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
        let names = &found.details.not_checked;
        self.not_checked.extend(UNOBSERVED.iter().filter(|name| names.contains(**name)));
        Ok(case.result(found))
    }

    fn call(&mut self, case: &TestCase) -> Result<TestResult, RunError> {
        let inputs = case.inputs.clone();
        let progress = CaseProgress::new(case);
        let show_progress = |text: &str| progress.show(text);
        let options = TestOptions {
            seed: self.seed,
            inputs,
            contracts: &case.contracts,
            progress: Some(&show_progress),
            ..TestOptions::default()
        };
        let machine: &mut dyn Machine = match &mut self.machine {
            TestMachine::Simulated(machine) => {
                let new = || {
                    let mut machine = lock(&self.measurements).machine(&case.file);
                    machine.stop = Arc::clone(&self.stop);
                    Box::new(machine)
                };
                &mut **machine.get_or_insert_with(new)
            }
            TestMachine::Board(machine) => &mut **machine,
        };
        run_one(&case.file, case.index, machine, &options)
    }

    /// Adds up what was measured of the file whose cases have run.
    fn finish_file(&mut self) {
        if let (Some((file, _)), TestMachine::Simulated(machine)) =
            (&self.loaded, &mut self.machine)
            && let Some(machine) = machine.take()
        {
            lock(&self.measurements).add(file, &machine);
        }
    }

    fn restarts(&self) -> u64 {
        match &self.machine {
            TestMachine::Simulated(_) => 0,
            TestMachine::Board(machine) => machine.restarts,
        }
    }
}

/// A line on a terminal about a case that takes long.
struct CaseProgress {
    bar: ProgressBar,
    name: String,
    began: Instant,
}

impl CaseProgress {
    fn new(case: &TestCase) -> Self {
        let (bar, name) = (ProgressBar::new_spinner(), case.heading().name.escaped());
        Self { bar, name, began: Instant::now() }
    }

    fn show(&self, text: &str) {
        if self.began.elapsed() > SHOWN_AFTER {
            self.bar.set_message(format!("{}: {text}", self.name));
            self.bar.tick();
        }
    }
}

impl Drop for CaseProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Executor for TestExecutor {
    type Suite = TestFiles;
    type Plan = TestPlan;

    fn board_config(plan: &mut TestPlan) -> Option<&mut BoardConfig> {
        plan.board.as_mut()
    }

    fn set_cancel(plan: &mut TestPlan, cancel: &Arc<AtomicBool>) {
        plan.stop = Arc::clone(cancel);
    }

    fn live(&mut self) -> Option<&mut LiveBoard> {
        match &mut self.machine {
            TestMachine::Simulated(_) => None,
            TestMachine::Board(machine) => Some(&mut machine.live),
        }
    }

    fn board(&self) -> ConnectedBoard {
        let (name, identity) = match &self.machine {
            TestMachine::Simulated(_) => ("simulated", None),
            TestMachine::Board(machine) => (machine.name(), Some(machine.live.identity.clone())),
        };
        let program = identity.as_ref().map(ToString::to_string);
        let builds = identity.iter().map(|caller| caller.build_id).collect();
        let not_judged = self.not_checked.iter().copied().collect();
        ConnectedBoard {
            name: name.to_owned(),
            program: program.unwrap_or_else(|| "simulated machine".to_owned()),
            identity,
            own_routines: Vec::new(),
            target: RunTarget { board: name.to_owned(), builds, not_judged },
        }
    }

    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = TestCase>,
        options: RunOptions,
        on_result: &mut dyn FnMut(CaseResult<TestFiles>),
    ) -> RunSummary {
        let restarts = self.restarts();
        let run_case = |case: &TestCase| self.run_case(case);
        let mut summary = run_one_by_one(cases, options, on_result, run_case);
        self.finish_file();
        summary.restarts = self.restarts() - restarts;
        summary.last_restart =
            (summary.restarts > 0).then(|| "a routine did not return".to_owned());
        summary
    }
}
