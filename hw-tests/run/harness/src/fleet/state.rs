//! A fleet, its events, and the state that its boards share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use cli_support::exit::CommandError;
use firmware_wire::Identity;
use rcflash_link::LinkStats;
use rcflash_transport::time::{Duration, Instant};

use super::merge::merge_verdicts;
use super::scheduler::{Scheduler, SchedulerStats};
use crate::executor::Executor;
use crate::live::SetupError;
use crate::rounds::Rounds;
use crate::runner::{Baseline, CaseResult, RunEnd, RunSummary, Verdict, VerdictCounts};
use crate::suite::Suite;

/// How often Ctrl-C and slow cases are checked for.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The number of events waiting for their handler at which boards start no more cases.
pub(super) const MAX_UNHANDLED_EVENTS: usize = 100;

/// A board of a fleet.
#[derive(Debug)]
pub struct FleetBoard<P> {
    /// Its name, unique in the fleet.
    pub name: String,
    /// What its executor is prepared from, or the error if there is no plan.
    pub plan: Result<P, CommandError>,
}

/// A board that is ready.
#[derive(Debug, Clone)]
pub struct BoardConnected {
    /// Its full name.
    pub at: String,
    /// The program on it and its build, as text.
    pub program: String,
    /// The identity of that program, if it has one.
    pub identity: Option<Identity>,
    /// The user's own routines in it.
    pub own: Vec<&'static str>,
}

/// The result of a board that has finished its work.
#[derive(Debug, Clone)]
pub struct BoardFinished {
    /// The index of the board in the fleet.
    pub member: usize,
    /// The end of its work and its statistics.
    pub summary: RunSummary,
    /// Statistics of its line.
    pub stats: LinkStats,
    /// Names of what was not judged on it.
    pub not_judged: Vec<&'static str>,
}

/// An event of a run on a fleet.
#[derive(Debug)]
pub enum FleetEvent<S: Suite> {
    /// A board is ready; its index.
    Ready(usize, BoardConnected),
    /// A board could not be prepared.
    SetupFailed(usize, CommandError),
    /// A case has its verdict.
    CaseSettled(Box<CaseResult<S>>),
    /// A round has ended.
    RoundEnded {
        /// The indices of its cases. Those that no board had started at the deadline are missing.
        cases: Vec<u32>,
        /// The number of cases of the next round; 0 if none follows.
        next: usize,
    },
    /// A board has finished.
    BoardFinished(Box<BoardFinished>),
}

/// Prepares a board.
pub type Prepare<'a, T> = dyn Fn(&<T as Executor>::Plan) -> Result<T, SetupError> + Sync + 'a;
/// The suite of an executor, and a case of it.
pub(super) type SuiteOf<T> = <T as Executor>::Suite;
pub(super) type CaseOf<T> = <SuiteOf<T> as Suite>::Case;

/// A run on a fleet.
pub struct Fleet<'a, T: Executor> {
    /// The boards.
    pub members: &'a [FleetBoard<T::Plan>],
    /// The cases.
    pub cases: &'a [CaseOf<T>],
    /// The number of repetitions of each case on a board.
    pub repeat: u32,
    /// Whether the first case that does not pass ends the run.
    pub fail_fast: bool,
    /// The earlier run whose failures do not end this one.
    pub baseline: Option<&'a Baseline>,
    /// How often the cases are run.
    pub rounds: Rounds,
    /// The number of boards that must be ready. They are waited for even when no case is left.
    pub min_boards: usize,
    /// Prepares a board.
    pub prepare: &'a Prepare<'a, T>,
}

/// The summary of a run on a fleet.
#[derive(Debug, Clone)]
pub struct FleetSummary<S> {
    /// The end of the run as a whole.
    pub ended: RunEnd,
    /// The counts of each board.
    pub counts: Vec<VerdictCounts<S>>,
    /// The problems of each board that another one did not have.
    pub strikes: Vec<u32>,
    /// Whether each board was quarantined for them.
    pub is_quarantined: Vec<bool>,
    /// Statistics on the work besides running each case once.
    pub stats: SchedulerStats,
}

/// The state that the boards share.
pub(super) struct Shared<S: Suite> {
    pub(super) state: Mutex<SharedState<S>>,
    pub(super) changed: Condvar,
    pub(super) began: Instant,
    /// For each board: whether to stop its running cases.
    pub(super) stops: Vec<Arc<AtomicBool>>,
    /// Whether to end the whole run.
    pub(super) is_over: AtomicBool,
    /// The number of events that were sent and not handled.
    pub(super) unhandled_events: AtomicUsize,
}

pub(super) struct SharedState<S: Suite> {
    pub(super) scheduler: Scheduler,
    pub(super) rounds: Rounds,
    /// The results of the cases that are not settled.
    pub(super) results: HashMap<usize, Vec<(usize, CaseResult<S>)>>,
    pub(super) counts: Vec<VerdictCounts<S>>,
    /// For each board: whether it is still being prepared.
    pub(super) is_preparing: Vec<bool>,
}

impl<S: Suite> Shared<S> {
    pub(super) fn new<T: Executor<Suite = S>>(fleet: &Fleet<T>) -> Self {
        let (cases, boards) = (fleet.cases.len(), fleet.members.len());
        let mut scheduler = Scheduler::new(cases, boards);
        scheduler.start_round(fleet.rounds.next_len(cases));
        let state = SharedState {
            scheduler,
            rounds: fleet.rounds.clone(),
            results: HashMap::new(),
            counts: vec![VerdictCounts::default(); boards],
            is_preparing: vec![true; boards],
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            began: Instant::now(),
            stops: (0..boards).map(|_| Arc::default()).collect(),
            is_over: AtomicBool::new(false),
            unhandled_events: AtomicUsize::new(0),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SharedState<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run.
    pub(super) fn end(&self) {
        self.end_run_keeping(&[]);
    }

    /// Ends the run. The boards of which `is_needed` is set finish their preparation.
    pub(super) fn end_run_keeping(&self, is_needed: &[bool]) {
        if self.is_over.swap(true, Ordering::Relaxed) {
            return;
        }
        for (board, stop) in self.stops.iter().enumerate() {
            stop.store(!is_needed.get(board).is_some_and(|needed| *needed), Ordering::Relaxed);
        }
        self.changed.notify_all();
    }

    /// Stops the preparation of boards after the run has ended.
    pub(super) fn stop_preparing(&self) {
        let state = self.lock();
        let preparing = self.stops.iter().zip(&state.is_preparing).filter(|(_, is)| **is);
        preparing.for_each(|(stop, _)| stop.store(true, Ordering::Relaxed));
    }
}

/// Merges the results of a case on several boards.
pub(super) fn merge<P, S: Suite>(
    members: &[FleetBoard<P>],
    results: Vec<(usize, CaseResult<S>)>,
) -> Option<CaseResult<S>> {
    merge_verdicts(
        results.into_iter().map(|(board, end)| (members[board].name.clone(), end)).collect(),
    )
}

impl<T: Executor> Fleet<'_, T> {
    /// Returns `true` if this result ends the run.
    pub(super) fn ends_with(&self, result: &CaseResult<T::Suite>) -> bool {
        use crate::runner::BaselineStatus;
        let is_known = |earlier: &Baseline| earlier.compare(result) == BaselineStatus::Known;
        self.fail_fast
            && !matches!(result.verdict, Verdict::Pass | Verdict::Skipped)
            && !self.baseline.is_some_and(is_known)
    }
}
