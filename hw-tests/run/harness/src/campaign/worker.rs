//! Prepares a board and runs cases on it. All decisions are those of the run loop, to which it
//! sends messages.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use cli_support::exit::CommandError;
use rcflash_link::LinkStats;

use super::executor::{ConnectedBoard, as_rig_failure, setup_failure};
use super::run_loop::LoopContext;
use super::{Executor, Member, RunConfig};
use crate::board::FaultCounts;
use crate::live::LiveBoard;
use crate::report::RunTarget;
use crate::runner::{RunEnd, RunOptions, RunSummary};
use crate::suite::{CaseResult, Suite};

/// A board that has done its work.
pub(super) struct FinishedBoard {
    /// How its work ended.
    pub(super) summary: RunSummary,
    /// Statistics of its line.
    pub(super) stats: LinkStats,
    pub(super) faults: Option<FaultCounts>,
    pub(super) target: RunTarget,
}

/// What a worker tells the run loop, in this order: [`Self::Ready`], cases and their results,
/// [`Self::Finished`]; or else [`Self::SetupFailed`].
pub(super) enum Message<S: Suite> {
    Ready(ConnectedBoard),
    SetupFailed(CommandError),
    /// It asks for a case. If it runs no other one, it can wait for a case.
    NextCase {
        is_idle: bool,
    },
    /// The result of the case with this index.
    Result(usize, Box<CaseResult<S>>),
    Finished(Box<FinishedBoard>),
}

/// Sends a message to the run loop. Returns a case if it is [`Message::NextCase`] and there is one.
pub(super) type Send<'a, S> = dyn Fn(Message<S>) -> Option<usize> + 'a;

impl<T: Executor> LoopContext<'_, T> {
    /// Prepares a board and runs cases on it until there is no more work for it.
    pub(super) fn work(&self, board: usize, send: &Send<T::Suite>) {
        let mut executor = match self.prepare(&self.members[board]) {
            Ok(executor) => executor,
            Err(failure) => {
                send(Message::SetupFailed(failure));
                return;
            }
        };
        send(Message::Ready(executor.board()));
        let mut summary = self.run_cases(&mut executor, send);
        // Otherwise the run has ended by something worse, and the board reports it when dropped.
        if summary.ended == RunEnd::Complete
            && let Some(Err(error)) = executor.live().map(LiveBoard::return_to_monitor)
        {
            summary.ended = RunEnd::BoardLost(error.to_string());
        }
        send(Message::Finished(Box::new(FinishedBoard {
            summary,
            stats: executor.live().map(|live| live.link.stats()).unwrap_or_default(),
            faults: executor.live().and_then(|live| live.faults()),
            target: executor.board().target,
        })));
    }

    fn prepare(&self, member: &Member<T::Plan>) -> Result<T, CommandError> {
        let copy = |failure: &CommandError| CommandError::new(failure.code, &failure.message);
        let plan = member.plan.as_ref().map_err(|failure| as_rig_failure(copy(failure)))?;
        let mut plan = plan.clone();
        T::set_cancel(&mut plan, &self.stop);
        if let Some(config) = T::board_config(&mut plan) {
            config.cancel = Some(Arc::clone(&self.stop));
            if let Some(recording) = &mut config.recording {
                let ids = self.cases.iter().map(|case| T::Suite::id(case).to_owned());
                recording.cases = ids.collect();
            }
        }
        (self.prepare)(&plan).map_err(setup_failure)
    }

    fn options(&self) -> RunOptions<'_> {
        let RunConfig { repeat, fail_fast, .. } = *self.config;
        RunOptions {
            repeat,
            fail_fast: fail_fast && self.members.len() == 1,
            baseline: self.config.baseline.as_deref(),
            interrupted: &self.stop,
        }
    }

    /// Runs batches of cases. A batch ends when there is no case at the moment; another board may
    /// cause one later.
    fn run_cases(&self, executor: &mut T, send: &Send<T::Suite>) -> RunSummary {
        let mut summary = RunSummary::default();
        while summary.ended == RunEnd::Complete
            && let Some(first) = send(Message::NextCase { is_idle: true })
        {
            summary = summary.merge(self.run_batch(executor, first, send));
        }
        summary
    }

    /// Runs cases, `first` at first, while there are any for this board.
    fn run_batch(&self, executor: &mut T, first: usize, send: &Send<T::Suite>) -> RunSummary {
        let mut first = Some(first);
        // The indices of the cases without a result, by name.
        let running = RefCell::new(HashMap::new());
        let mut feed = std::iter::from_fn(|| {
            let next = || send(Message::NextCase { is_idle: running.borrow().is_empty() });
            let index = first.take().or_else(next)?;
            let case = &self.cases[index];
            running.borrow_mut().insert(T::Suite::id(case).to_owned(), index);
            Some(case.clone())
        });
        executor.run(&mut feed, self.options(), &mut |result| {
            let index = running.borrow_mut().remove(&result.id);
            if let Some(index) = index {
                send(Message::Result(index, Box::new(result)));
            }
        })
    }
}
