//! The worker thread of a board: takes cases from the scheduler and records their results.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{MutexGuard, PoisonError};

use cli_support::exit::CommandError;

use super::merge::case_outcome;
use super::scheduler::{Assignment, CaseOutcome, SchedulerUpdate};
use super::state::{
    BoardConnected, BoardFinished, Fleet, FleetEvent, MAX_UNHANDLED_EVENTS, POLL_INTERVAL, Shared,
    SharedState, merge,
};
use crate::executor::{Executor, as_rig_failure, setup_failure};
use crate::runner::{CaseResult, RunEnd, RunOptions, RunSummary};
use crate::suite::Suite;

/// The worker thread of a board.
pub(super) struct Worker<'a, T: Executor> {
    pub(super) fleet: &'a Fleet<'a, T>,
    pub(super) shared: &'a Shared<T::Suite>,
    pub(super) board: usize,
    pub(super) events: Sender<FleetEvent<T::Suite>>,
}

impl<T: Executor> Worker<'_, T> {
    /// Prepares the board and runs cases until there is no more work.
    pub(super) fn work(self) {
        let prepared = self.prepare();
        self.shared.lock().is_preparing[self.board] = false;
        let mut executor = match prepared {
            Ok(executor) => executor,
            Err(failure) => {
                self.send_event(FleetEvent::SetupFailed(self.board, failure));
                return self.retire();
            }
        };
        let summary = self.run_until_done(&mut executor);
        self.retire();
        executor.finish();
        let (stats, not_judged) = (executor.stats(), executor.target().not_judged);
        let finished = BoardFinished { member: self.board, summary, stats, not_judged };
        self.send_event(FleetEvent::BoardFinished(Box::new(finished)));
    }

    fn prepare(&self) -> Result<T, CommandError> {
        let Fleet { members, cases, prepare, .. } = self.fleet;
        let plan = members[self.board].plan.as_ref();
        let copy = |failure: &CommandError| CommandError::new(failure.code, &failure.message);
        let plan = plan.map_err(|failure| as_rig_failure(copy(failure)))?;
        let mut plan = plan.clone();
        let stop = &self.shared.stops[self.board];
        let mut ids = cases.iter().map(|case| T::Suite::id(case).to_owned());
        T::complete_plan(&mut plan, stop, &mut ids);
        let executor = prepare(&plan).map_err(setup_failure)?;
        let ready = BoardConnected {
            at: executor.name().to_owned(),
            program: executor.program(),
            identity: executor.identity().cloned(),
            own: executor.own_routines().to_vec(),
        };
        self.send_event(FleetEvent::Ready(self.board, ready));
        Ok(executor)
    }

    /// Sends an event without waiting for the receiver, since the state may be locked.
    fn send_event(&self, event: FleetEvent<T::Suite>) {
        self.shared.unhandled_events.fetch_add(1, Ordering::Relaxed);
        // The receiver is dropped only if the main thread panicked.
        let _ = self.events.send(event);
    }

    /// Assigns the board its next work. No case starts after the deadline, or while many events are
    /// not handled.
    fn assign_next(&self, state: &mut SharedState<T::Suite>) -> Assignment {
        let is_late = state.rounds.is_past_deadline();
        if is_late && state.scheduler.withdraw_queued() && state.scheduler.is_done() {
            self.end_round(state);
        }
        if self.shared.is_over.load(Ordering::Relaxed) {
            return Assignment::Done;
        }
        if self.shared.unhandled_events.load(Ordering::Relaxed) >= MAX_UNHANDLED_EVENTS {
            return Assignment::Wait;
        }
        state.scheduler.assign_next(self.board, self.shared.began.elapsed())
    }

    /// Returns the next case, or `None` if there is none now.
    fn next_case(&self) -> Option<usize> {
        match self.assign_next(&mut self.shared.lock()) {
            Assignment::Case(case) => Some(case),
            Assignment::Wait | Assignment::Done => None,
        }
    }

    /// Waits for the next case; returns `None` if there is no more work.
    fn wait_for_case(&self) -> Option<usize> {
        let mut state = self.shared.lock();
        loop {
            match self.assign_next(&mut state) {
                Assignment::Case(case) => return Some(case),
                Assignment::Done => return None,
                Assignment::Wait => {
                    let waited = self.shared.changed.wait_timeout(state, POLL_INTERVAL);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    /// Ends a round whose cases are all settled: starts the next one, or ends the run.
    fn end_round(&self, state: &mut SharedState<T::Suite>) {
        let SharedState { scheduler, rounds, .. } = state;
        let is_over = self.shared.is_over.load(Ordering::Relaxed);
        let has_next = !is_over && rounds.has_next(scheduler.round().len());
        let (cases, next) = if has_next {
            let cases = scheduler.round().to_vec();
            rounds.reorder(scheduler.order_mut());
            let next = rounds.next_len(scheduler.order_mut().len());
            scheduler.start_round(next);
            (cases, next)
        } else {
            (scheduler.take_round(), 0)
        };
        self.send_event(FleetEvent::RoundEnded { cases, next });
        if next == 0 {
            // Boards still being prepared are no longer needed, unless they are required. This
            // is done under the lock, so that a worker that sees `is_done` also sees its stop flag
            // and can clear it.
            let prepared = state.is_preparing.iter().filter(|preparing| !**preparing).count();
            let are_enough = prepared >= self.fleet.min_boards;
            self.shared.end_run_keeping(if are_enough { &[] } else { &state.is_preparing });
        }
    }

    fn run_until_done(&self, executor: &mut T) -> RunSummary {
        let mut summary = RunSummary::default();
        let mut was_stopped = false;
        while let Some(first) = self.wait_for_case() {
            let recovered = if was_stopped { executor.recover() } else { Ok(()) };
            let next = match recovered {
                Ok(()) => self.run_batch(executor, first),
                Err(error) => RunSummary {
                    ended: RunEnd::BoardLost(error.to_string()),
                    ..RunSummary::default()
                },
            };
            summary = summary.merge(next);
            was_stopped = summary.ended == RunEnd::Interrupted;
            if was_stopped && !self.shared.is_over.load(Ordering::Relaxed) {
                // Other boards have completed the cases that this one was running.
                summary.ended = RunEnd::Complete;
                self.shared.stops[self.board].store(false, Ordering::Relaxed);
            }
            if summary.ended != RunEnd::Complete {
                break;
            }
        }
        if summary.ended != RunEnd::Complete && self.shared.lock().scheduler.is_done() {
            summary.ended = self.verify_at_end(executor);
        }
        summary
    }

    /// Verifies a board that was stopped when the last case was settled elsewhere: it may have been
    /// lost.
    fn verify_at_end(&self, executor: &mut T) -> RunEnd {
        self.shared.stops[self.board].store(false, Ordering::Relaxed);
        executor.verify().map_or_else(RunEnd::BoardLost, |()| RunEnd::Complete)
    }

    /// Runs cases on the board while there are any for it.
    fn run_batch(&self, executor: &mut T, first: usize) -> RunSummary {
        let Fleet { cases, repeat, baseline, .. } = *self.fleet;
        let stop = &self.shared.stops[self.board];
        let options = RunOptions { repeat, fail_fast: false, baseline, interrupted: stop };
        let mut first = Some(first);
        // The indices of the cases without a result, by name.
        let running = RefCell::new(HashMap::new());
        let mut feed = std::iter::from_fn(|| {
            let index = first.take().or_else(|| self.next_case())?;
            let case = &cases[index];
            running.borrow_mut().insert(T::Suite::id(case).to_owned(), index);
            Some(case.clone())
        });
        executor.run(&mut feed, options, &mut |result| {
            let index = running.borrow_mut().remove(&result.id);
            if let Some(index) = index {
                self.record_result(index, result);
            }
        })
    }

    /// Records the result of a case on this board.
    fn record_result(&self, case: usize, result: CaseResult<T::Suite>) {
        let now = self.shared.began.elapsed();
        let mut state = self.shared.lock();
        let outcome = case_outcome(&result);
        if outcome != CaseOutcome::None {
            state.counts[self.board].add(&result);
            state.results.entry(case).or_default().push((self.board, result));
        }
        let update = state.scheduler.record_outcome(self.board, case, outcome, now);
        self.apply(state, update);
    }

    fn apply(&self, mut state: MutexGuard<SharedState<T::Suite>>, update: SchedulerUpdate) {
        let mut is_last = false;
        for board in update.redundant {
            self.shared.stops[board].store(true, Ordering::Relaxed);
        }
        for case in update.settled {
            let results = state.results.remove(&case).unwrap_or_default();
            if let Some(result) = merge(self.fleet.members, results) {
                is_last |= self.fleet.ends_with(&result);
                self.send_event(FleetEvent::CaseSettled(Box::new(result)));
            }
        }
        if is_last {
            self.shared.end();
        } else if state.scheduler.is_done() {
            self.end_round(&mut state);
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Retires the board: its cases are requeued for others.
    fn retire(&self) {
        let now = self.shared.began.elapsed();
        let mut state = self.shared.lock();
        let update = state.scheduler.board_lost(self.board, now);
        self.apply(state, update);
    }
}
