//! What runs the cases of a suite: a board, or another executor.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cli_support::exit::{CommandError, ENVIRONMENT, FAILED};
use firmware_wire::Identity;

use crate::live::{BoardConfig, LiveBoard, SetupError};
use crate::report::RunTarget;
use crate::runner::{RunEnd, RunOptions, RunSummary, is_new_failure};
use crate::suite::{CaseResult, Suite, Verdict};
use crate::verdict_table::merge_repetitions;

/// A board that is ready.
#[derive(Debug, Clone)]
pub struct ConnectedBoard {
    /// The full name of the board or executor.
    pub name: String,
    /// The program under test and its build, as text. A run is resumed only with the same.
    pub program: String,
    /// The identity of that program, if it has one.
    pub identity: Option<Identity>,
    /// The user's own routines in it.
    pub own_routines: Vec<&'static str>,
    /// What a verdict is about.
    pub target: RunTarget,
}

/// Runs the cases of a suite: a prepared board, or another executor.
pub trait Executor {
    /// The suite.
    type Suite: Suite;
    /// What an executor is prepared from.
    type Plan: Clone + Send + Sync;

    /// Returns the configuration of the board in a plan, which is completed before the run; `None`
    /// if no board is planned.
    fn board_config(_plan: &mut Self::Plan) -> Option<&mut BoardConfig> {
        None
    }

    /// Gives a plan without a board the flag that ends every wait when set.
    fn set_cancel(_plan: &mut Self::Plan, _cancel: &Arc<AtomicBool>) {}

    /// Returns the connection to the board; `None` if the executor has none.
    fn live(&mut self) -> Option<&mut LiveBoard> {
        None
    }

    /// Returns the board, and what a verdict is about.
    fn board(&self) -> ConnectedBoard;

    /// Runs cases and calls `on_result` for each, in completion order. Leaves cases that the run
    /// does not reach in the iterator.
    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = <Self::Suite as Suite>::Case>,
        options: RunOptions,
        on_result: &mut dyn FnMut(CaseResult<Self::Suite>),
    ) -> RunSummary;
}

/// Runs cases one after the other by `run_case`, each as often as the options say, until one of them
/// ends the run: [`Executor::run`] of an executor with one case at a time. Whoever waits in `run_case`
/// ends its wait when the run is interrupted.
pub fn run_one_by_one<S: Suite>(
    cases: &mut dyn Iterator<Item = S::Case>,
    options: RunOptions,
    on_result: &mut dyn FnMut(CaseResult<S>),
    mut run_case: impl FnMut(&S::Case) -> Result<CaseResult<S>, RunEnd>,
) -> RunSummary {
    let mut summary = RunSummary::default();
    while summary.ended == RunEnd::Complete {
        if options.interrupted.load(Ordering::Relaxed) {
            summary.ended = RunEnd::Interrupted;
            break;
        }
        let Some(case) = cases.next() else { break };
        let mut result = run_case(&case);
        for _ in 1..options.repeat {
            let Ok(before) = result else { break };
            result = run_case(&case).map(|again| merge_repetitions(before, again));
        }
        match result {
            Ok(result) => {
                if options.fail_fast && is_new_failure(options.baseline, &result) {
                    summary.ended = RunEnd::FirstFailure;
                }
                on_result(result);
            }
            Err(end) => {
                on_result(CaseResult::new(&case, Verdict::NotRun));
                let is_stopped = options.interrupted.load(Ordering::Relaxed);
                summary.ended = if is_stopped { RunEnd::Interrupted } else { end };
            }
        }
    }
    summary
}

/// Gives a failure of the set-up the exit code of a rig error, since no case has failed.
pub(crate) fn as_rig_failure(failure: CommandError) -> CommandError {
    let code = if failure.code == FAILED { ENVIRONMENT } else { failure.code };
    CommandError { code, ..failure }
}

/// Converts an error of the set-up. Sources that can't be built are what is tested, so a build
/// error keeps its exit code.
pub(crate) fn setup_failure(error: SetupError) -> CommandError {
    match error {
        SetupError::Build(error) => error.into(),
        other => as_rig_failure(other.into()),
    }
}
