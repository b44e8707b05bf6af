//! Runs programs on a board.

use std::time::Duration;

use cli_support::text::Escape;
use hil_harness::board::BoardKind;
use hil_harness::campaign::{ConnectedBoard, Executor, run_one_by_one};
use hil_harness::live::{
    BoardConfig, ProgramBoard, ProgramEnd, ProgramError, ProgramLimits, SetupError,
};
use hil_harness::report::RunTarget;
use hil_harness::runner::{RunEnd, RunOptions, RunSummary};
use hil_harness::suite::{CaseResult, Verdict};
use rcflash_monitors::HostedProgram;

use super::bare;
use super::console::Console;
use super::stand_in::{MakeMonitor, StandInBoard};
use super::suite::{Batch, ProgramCase};

/// What to do with a program at 0000H.
const LINK_OTHERWISE: &str =
    "if SDCC's start-up is at 0000H, link docs/examples/crt0.s instead (docs/BATCH.md)";

/// The board of a run, and how long its programs may take.
#[derive(Clone)]
pub(super) struct BatchPlan {
    pub(super) board: BoardConfig,
    /// Makes the simulated stock monitor that replaces the board; `None` if there is none.
    pub(super) stand_in: Option<MakeMonitor>,
    pub(super) limits: ProgramLimits,
}

/// Runs programs on a board.
pub(super) struct BatchExecutor {
    board: ProgramBoard,
    plan: BatchPlan,
}

impl BatchExecutor {
    pub(super) fn prepare(plan: &BatchPlan) -> Result<Self, SetupError> {
        let board = ProgramBoard::connect(&plan.board, |board| match plan.stand_in {
            Some(make) => Box::new(StandInBoard::new(make())),
            None => board,
        })?;
        Ok(Self { board, plan: plan.clone() })
    }

    /// Runs a program once.
    fn run_case(&mut self, case: &ProgramCase) -> Result<CaseResult<Batch>, RunEnd> {
        let error = |why: String| CaseResult::with_reason(case, Verdict::Error, why);
        let program = match &case.program {
            Ok(program) => program,
            Err(why) => return Ok(error(why.clone())),
        };
        let mut console = Console::new(&case.criteria);
        let BatchPlan { board, stand_in, limits } = &self.plan;
        let begins_at_0 = program.image.byte(0).is_some();
        if begins_at_0 && board.board == BoardKind::InProcess && stand_in.is_none() {
            let ended = bare::run(program, *limits, board, &mut console);
            let (end, time) = ended.ok_or(RunEnd::Interrupted)?;
            return Ok(result(case, console, end, time));
        }
        let hosted =
            HostedProgram { image: &program.image, entry: program.entry, top: program.top };
        let (end, time) = match self.board.run(hosted, *limits, &mut console) {
            Ok(ended) => ended,
            Err(ProgramError::Refused(why)) if begins_at_0 => {
                return Ok(error(format!("{why}; {LINK_OTHERWISE}")));
            }
            Err(ProgramError::Refused(why)) => return Ok(error(why.to_string())),
            Err(ProgramError::Board(why)) => return Err(RunEnd::BoardLost(why.to_string())),
        };
        Ok(result(case, console, end, time))
    }
}

fn result(
    case: &ProgramCase,
    console: Console,
    end: ProgramEnd,
    time: Duration,
) -> CaseResult<Batch> {
    let (details, failure) = console.judge(end);
    let verdict = if failure.is_some() { Verdict::Fail } else { Verdict::Pass };
    let mut result = CaseResult::<Batch>::new(case, verdict);
    if failure.is_some() {
        let last = details.output.lines().rev().find(|line| !line.trim().is_empty());
        result.differences.extend(last.map(|line| format!("the last line: {}", line.escaped())));
    }
    result.reason = failure;
    result.details = details;
    result.attempts = 1;
    result.elapsed_us = time.as_micros().try_into().unwrap_or(u64::MAX);
    result
}

impl Executor for BatchExecutor {
    type Suite = Batch;
    type Plan = BatchPlan;

    fn board_config(plan: &mut BatchPlan) -> Option<&mut BoardConfig> {
        Some(&mut plan.board)
    }

    fn board(&self) -> ConnectedBoard {
        let name = self.board.name().to_owned();
        ConnectedBoard {
            name: name.clone(),
            program: "programs".to_owned(),
            identity: None,
            own_routines: Vec::new(),
            target: RunTarget { board: name, ..RunTarget::default() },
        }
    }

    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = ProgramCase>,
        options: RunOptions,
        on_result: &mut dyn FnMut(CaseResult<Batch>),
    ) -> RunSummary {
        run_one_by_one(cases, options, on_result, |case| self.run_case(case))
    }
}
