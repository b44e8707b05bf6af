//! Boards that follow a script, and the world that they share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cli_support::exit::USAGE;
use firmware::profile::UartKind;
use hil_harness::board::BoardError;
use hil_harness::campaign::{ConnectedBoard, Executor};
use hil_harness::live::SetupError;
use hil_harness::report::RunTarget;
use hil_harness::runner::{RunEnd, RunOptions, RunSummary};
use hil_harness::suite::{CaseResult, Verdict};
use rcflash_link::LinkError;

use super::scenario::{BoardScript, RunScenario, Setup};
use super::suite::{Factors, Products};

/// What boards share: virtual time, the signal, and a record of what they delivered.
pub(super) struct World {
    boards: Vec<BoardScript>,
    wrong: Vec<usize>,
    stop_at: Option<u64>,
    pub(super) stall: u64,
    began: Instant,
    steps: AtomicU64,
    /// Ends the run when set.
    pub(super) stop: Arc<AtomicBool>,
    /// Whether the user has set it.
    pub(super) is_signalled: AtomicBool,
    /// The results that boards delivered: board, case, verdict.
    pub(super) delivered: Mutex<Vec<(usize, String, Verdict)>>,
    /// For each board: whether it was lost while it ran cases.
    pub(super) is_lost: Vec<AtomicBool>,
}

impl World {
    pub(super) fn new(scenario: &RunScenario) -> Self {
        Self {
            boards: scenario.boards.clone(),
            wrong: scenario.wrong.clone(),
            stop_at: scenario.stop_at,
            stall: scenario.stall,
            began: Instant::now(),
            steps: AtomicU64::new(0),
            stop: Arc::default(),
            is_signalled: AtomicBool::new(false),
            delivered: Mutex::default(),
            is_lost: scenario.boards.iter().map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// Returns the virtual time.
    pub(super) fn now(&self) -> Instant {
        self.began + Duration::from_millis(self.steps.load(Ordering::Relaxed))
    }

    /// Makes a step, at which the signal may arrive.
    pub(super) fn step(&self) {
        let step = self.steps.fetch_add(1, Ordering::Relaxed);
        if self.stop_at.is_some_and(|at| step >= at)
            && !self.is_signalled.swap(true, Ordering::Relaxed)
        {
            self.stop.store(true, Ordering::Relaxed);
        }
        std::thread::yield_now();
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Makes steps until there were so many, or the run is stopped. Returns `true` if it is.
    fn wait(&self, steps: u64) -> bool {
        (0..steps).any(|_| {
            self.step();
            self.is_stopped()
        })
    }
}

/// A board that follows its script.
pub(super) struct ScriptedBoard {
    index: usize,
    name: String,
    world: Arc<World>,
    /// The number of cases that it has run.
    count: usize,
}

impl ScriptedBoard {
    pub(super) fn prepare(index: usize, world: &Arc<World>) -> Result<Self, SetupError> {
        let interrupted = || LinkError::Interrupted { operation: "waiting", hint: String::new() };
        let failure = |code| match code {
            USAGE => SetupError::Board(BoardError::NotATranscript("tape".into())),
            _ => SetupError::NoReply(UartKind::Acia),
        };
        let (steps, end) = match world.boards[index].setup {
            Setup::Ready(steps) => (steps, None),
            Setup::Fails(steps, code) => (steps, Some(failure(code))),
            Setup::NoPlan(_) => unreachable!("it has no plan"),
        };
        if world.wait(steps) {
            return Err(interrupted().into());
        }
        let (name, world) = (super::name(index), Arc::clone(world));
        end.map_or(Ok(Self { index, name, world, count: 0 }), Err)
    }

    fn script(&self) -> &BoardScript {
        &self.world.boards[self.index]
    }

    /// Returns the board's result of a case.
    fn result(&self, case: &Factors) -> CaseResult<Products> {
        let number = usize::from(case.factors[0]);
        let script = self.script();
        let wrong = |value: String| {
            let differences = vec![value];
            CaseResult { differences, ..CaseResult::new(case, Verdict::Fail) }
        };
        if script.skips.contains(&number) {
            CaseResult::with_reason(case, Verdict::Skipped, "it has no such request")
        } else if self.world.wrong.contains(&number) {
            wrong("wrong everywhere".to_owned())
        } else if script.wrong.contains(&number) {
            wrong(format!("wrong on {}", self.name))
        } else if script.silent.contains(&number) {
            CaseResult::with_reason(case, Verdict::Timeout, "no answer")
        } else {
            CaseResult::new(case, Verdict::Pass)
        }
    }

    fn deliver(
        &self,
        result: CaseResult<Products>,
        on_result: &mut dyn FnMut(CaseResult<Products>),
    ) {
        let delivered = (self.index, result.id.clone(), result.verdict);
        self.world.delivered.lock().unwrap_or_else(PoisonError::into_inner).push(delivered);
        on_result(result);
    }

    /// Hangs if it is time to. Returns the end if it does not come back.
    fn hang(&self) -> Option<RunEnd> {
        let (_, steps, comes_back) = self.script().hang.filter(|(at, ..)| *at == self.count)?;
        if self.world.wait(steps) {
            return Some(RunEnd::Interrupted);
        }
        if comes_back {
            return None;
        }
        self.world.is_lost[self.index].store(true, Ordering::Relaxed);
        Some(RunEnd::BoardLost("it hangs".to_owned()))
    }

    /// Runs the oldest case in flight. Returns the end if the board hangs.
    fn run_oldest(
        &mut self,
        in_flight: &mut VecDeque<Factors>,
        on_result: &mut dyn FnMut(CaseResult<Products>),
    ) -> Option<RunEnd> {
        self.world.step();
        let end = self.hang();
        self.count += 1;
        if end.is_none()
            && let Some(case) = in_flight.pop_front()
        {
            self.deliver(self.result(&case), on_result);
        }
        end
    }
}

impl Executor for ScriptedBoard {
    type Suite = Products;
    type Plan = usize;

    fn board(&self) -> ConnectedBoard {
        ConnectedBoard {
            name: self.name.clone(),
            program: "multiplier".to_owned(),
            identity: None,
            own_routines: Vec::new(),
            target: RunTarget { board: self.name.clone(), ..RunTarget::default() },
        }
    }

    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = Factors>,
        options: RunOptions,
        on_result: &mut dyn FnMut(CaseResult<Products>),
    ) -> RunSummary {
        let mut in_flight = VecDeque::new();
        let mut ended = RunEnd::Complete;
        while ended == RunEnd::Complete {
            if options.interrupted.load(Ordering::Relaxed) {
                ended = RunEnd::Interrupted;
                break;
            }
            while in_flight.len() < self.script().window
                && let Some(case) = cases.next()
            {
                in_flight.push_back(case);
            }
            let Some(case) = in_flight.front() else { break };
            let is_problem = !matches!(self.result(case).verdict, Verdict::Pass | Verdict::Skipped);
            match self.run_oldest(&mut in_flight, on_result) {
                Some(end) => ended = end,
                None if is_problem && options.fail_fast => ended = RunEnd::FirstFailure,
                None => {}
            }
        }
        if self.script().reports_lost_cases {
            for case in in_flight {
                self.deliver(CaseResult::new(&case, Verdict::NotRun), on_result);
            }
        }
        RunSummary { ended, ..RunSummary::default() }
    }
}
