//! Runs the boards of a fleet, each in its own thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use cli_support::exit::CommandError;
use firmware_wire::Identity;
use rcflash_link::LinkStats;
use rcflash_transport::time::{Duration, Instant};

use super::merge::{case_outcome, merge_verdicts};
use super::scheduler::{Assignment, CaseOutcome, Scheduler, SchedulerStats, SchedulerUpdate};
use crate::case_list::{CaseList, ids};
use crate::live::SetupError;
use crate::runner::{Baseline, CaseResult, RunEnd, RunOptions, RunSummary, Verdict, VerdictCounts};
use crate::session::Session;
use crate::suite::Suite;

/// How often Ctrl-C and slow cases are checked for.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The boards wait while so many events are not handled.
const MAX_BUFFERED_EVENTS: usize = 1000;

/// A board of a fleet.
#[derive(Debug)]
pub struct FleetBoard<P> {
    /// Its name, unique in the fleet.
    pub name: String,
    /// What its session is prepared from, or the error if there is no plan.
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
    /// A board has finished.
    BoardFinished(Box<BoardFinished>),
}

/// Prepares a board.
pub type Prepare<'a, T> = dyn Fn(&<T as Session>::Plan) -> Result<T, SetupError> + Sync + 'a;
/// The suite of a session, and a case of it.
type SuiteOf<T> = <T as Session>::Suite;
type CaseOf<T> = <SuiteOf<T> as Suite>::Case;

/// A run on a fleet.
pub struct Fleet<'a, T: Session> {
    /// The boards.
    pub members: &'a [FleetBoard<T::Plan>],
    /// The cases.
    pub cases: &'a dyn CaseList<CaseOf<T>>,
    /// The number of repetitions of each case on a board.
    pub repeat: u32,
    /// Whether the first case that does not pass ends the run.
    pub fail_fast: bool,
    /// The earlier run whose failures do not end this one.
    pub baseline: Option<&'a Baseline>,
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
struct Shared<S: Suite> {
    state: Mutex<SharedState<S>>,
    changed: Condvar,
    began: Instant,
    /// For each board: whether to stop its running cases.
    stops: Vec<Arc<AtomicBool>>,
    /// Whether to end the whole run.
    is_over: AtomicBool,
}

struct SharedState<S: Suite> {
    scheduler: Scheduler,
    /// The results of the cases that are not settled.
    results: HashMap<usize, Vec<(usize, CaseResult<S>)>>,
    counts: Vec<VerdictCounts<S>>,
}

impl<S: Suite> Shared<S> {
    fn new<T: Session<Suite = S>>(fleet: &Fleet<T>) -> Self {
        let (cases, boards) = (fleet.cases.len(), fleet.members.len());
        let state = SharedState {
            scheduler: Scheduler::new(cases, boards),
            results: HashMap::new(),
            counts: vec![VerdictCounts::default(); boards],
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            began: Instant::now(),
            stops: (0..boards).map(|_| Arc::default()).collect(),
            is_over: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SharedState<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next case for a board, or `None` if there is none now.
    fn next_case(&self, board: usize) -> Option<usize> {
        if self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        match self.lock().scheduler.assign_next(board, self.began.elapsed()) {
            Assignment::Case(case) => Some(case),
            Assignment::Wait | Assignment::Done => None,
        }
    }

    /// Waits for the next case; returns `None` if there is no more work.
    fn wait_for_case(&self, board: usize) -> Option<usize> {
        let mut state = self.lock();
        while !self.is_over.load(Ordering::Relaxed) {
            match state.scheduler.assign_next(board, self.began.elapsed()) {
                Assignment::Case(case) => return Some(case),
                Assignment::Done => return None,
                Assignment::Wait => {
                    let waited = self.changed.wait_timeout(state, POLL_INTERVAL);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        None
    }

    /// Ends the run.
    fn end(&self) {
        if self.is_over.swap(true, Ordering::Relaxed) {
            return;
        }
        self.stops.iter().for_each(|stop| stop.store(true, Ordering::Relaxed));
        self.changed.notify_all();
    }
}

/// The worker thread of a board.
struct Worker<'a, T: Session> {
    fleet: &'a Fleet<'a, T>,
    shared: &'a Shared<T::Suite>,
    board: usize,
    events: SyncSender<FleetEvent<T::Suite>>,
}

impl<T: Session> Worker<'_, T> {
    /// Prepares the board and runs cases until there is no more work.
    fn work(self) {
        let mut session = match self.prepare() {
            Ok(session) => session,
            Err(failure) => {
                self.send_event(FleetEvent::SetupFailed(self.board, failure));
                return self.retire();
            }
        };
        let summary = self.run_until_done(&mut session);
        self.retire();
        session.finish();
        let (stats, not_judged) = (session.stats(), session.target().not_judged);
        let finished = BoardFinished { member: self.board, summary, stats, not_judged };
        self.send_event(FleetEvent::BoardFinished(Box::new(finished)));
    }

    fn prepare(&self) -> Result<T, CommandError> {
        let Fleet { members, cases, prepare, .. } = self.fleet;
        let plan = members[self.board].plan.as_ref();
        let plan = plan.map_err(|failure| CommandError::new(failure.code, &failure.message))?;
        let mut plan = plan.clone();
        let stop = &self.shared.stops[self.board];
        T::complete_plan(&mut plan, stop, &mut ids::<T::Suite>(*cases));
        let session = prepare(&plan)?;
        let ready = BoardConnected {
            at: session.name().to_owned(),
            program: session.program(),
            identity: session.identity().cloned(),
            own: session.own_routines().to_vec(),
        };
        self.send_event(FleetEvent::Ready(self.board, ready));
        Ok(session)
    }

    fn send_event(&self, event: FleetEvent<T::Suite>) {
        // The receiver is dropped only if the main thread panicked.
        let _ = self.events.send(event);
    }

    fn run_until_done(&self, session: &mut T) -> RunSummary {
        let mut summary = RunSummary::default();
        let mut was_stopped = false;
        while let Some(first) = self.shared.wait_for_case(self.board) {
            let recovered = if was_stopped { session.recover() } else { Ok(()) };
            let next = match recovered {
                Ok(()) => self.run_batch(session, first),
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
            summary.ended = self.verify_at_end(session);
        }
        summary
    }

    /// Verifies a board that was stopped when the last case was settled elsewhere: it may have been
    /// lost.
    fn verify_at_end(&self, session: &mut T) -> RunEnd {
        self.shared.stops[self.board].store(false, Ordering::Relaxed);
        session.verify().map_or_else(RunEnd::BoardLost, |()| RunEnd::Complete)
    }

    /// Runs cases on the board while there are any for it.
    fn run_batch(&self, session: &mut T, first: usize) -> RunSummary {
        let Fleet { cases, repeat, baseline, .. } = *self.fleet;
        let stop = &self.shared.stops[self.board];
        let options = RunOptions { repeat, fail_fast: false, baseline, interrupted: stop };
        let mut first = Some(first);
        // The indices of the cases without a result, by name.
        let running = RefCell::new(HashMap::new());
        let mut feed = std::iter::from_fn(|| {
            let index = first.take().or_else(|| self.shared.next_case(self.board))?;
            let case = cases.case(index);
            running.borrow_mut().insert(T::Suite::id(&case).to_owned(), index);
            Some(case)
        });
        session.run(&mut feed, options, &mut |result| {
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
        if is_last || state.scheduler.is_done() {
            // Boards still being prepared are no longer needed. This is done under the lock, so
            // that a worker that sees `is_done` also sees its stop flag and can clear it.
            self.shared.end();
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

/// Merges the results of a case on several boards.
fn merge<P, S: Suite>(
    members: &[FleetBoard<P>],
    results: Vec<(usize, CaseResult<S>)>,
) -> Option<CaseResult<S>> {
    merge_verdicts(
        results.into_iter().map(|(board, end)| (members[board].name.clone(), end)).collect(),
    )
}

/// Runs each case on some board. Calls `on_event` for each event; if it returns `false`, the run
/// is stopped.
pub fn run_fleet<T: Session>(
    fleet: &Fleet<T>,
    stop: &AtomicBool,
    mut on_event: impl FnMut(FleetEvent<T::Suite>) -> bool,
) -> FleetSummary<T::Suite> {
    let shared = Shared::new(fleet);
    let mut ended = RunEnd::Complete;
    std::thread::scope(|scope| {
        let (events, received) = sync_channel(MAX_BUFFERED_EVENTS);
        for board in 0..fleet.members.len() {
            let events = events.clone();
            let worker = Worker { fleet, shared: &shared, board, events };
            scope.spawn(move || worker.work());
        }
        drop(events);
        ended = collect_events(fleet, &shared, &received, stop, &mut on_event);
    });
    let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    conclude(fleet, state, ended, &mut on_event)
}

/// Handles events until all boards have finished. Returns how the run ended.
fn collect_events<T: Session>(
    fleet: &Fleet<T>,
    shared: &Shared<T::Suite>,
    received: &Receiver<FleetEvent<T::Suite>>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(FleetEvent<T::Suite>) -> bool,
) -> RunEnd {
    let mut ended = RunEnd::Complete;
    loop {
        let event = received.recv_timeout(POLL_INTERVAL);
        if stop.load(Ordering::Relaxed) && !shared.is_over.load(Ordering::Relaxed) {
            ended = RunEnd::Interrupted;
            shared.end();
        }
        let event = match event {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return ended,
        };
        let is_last = matches!(&event, FleetEvent::CaseSettled(result) if fleet.ends_with(result));
        let should_continue = on_event(event);
        if ended == RunEnd::Complete && (is_last || !should_continue) {
            ended = if should_continue { RunEnd::FirstFailure } else { RunEnd::Interrupted };
            shared.end();
        }
    }
}

impl<T: Session> Fleet<'_, T> {
    /// Returns `true` if this result ends the run.
    fn ends_with(&self, result: &CaseResult<T::Suite>) -> bool {
        use crate::runner::BaselineStatus;
        let is_known = |earlier: &Baseline| earlier.compare(result) == BaselineStatus::Known;
        self.fail_fast
            && !matches!(result.verdict, Verdict::Pass | Verdict::Skipped)
            && !self.baseline.is_some_and(is_known)
    }
}

/// Settles the remaining cases: those with a result on some board keep it, the others are not run.
fn conclude<T: Session>(
    fleet: &Fleet<T>,
    mut state: SharedState<T::Suite>,
    ended: RunEnd,
    on_event: &mut dyn FnMut(FleetEvent<T::Suite>) -> bool,
) -> FleetSummary<T::Suite> {
    let mut not_run = 0;
    for case in state.scheduler.unsettled_cases() {
        let results = state.results.remove(&case).unwrap_or_default();
        let result = merge(fleet.members, results).unwrap_or_else(|| {
            not_run += 1;
            CaseResult::new(&fleet.cases.case(case), Verdict::NotRun)
        });
        on_event(FleetEvent::CaseSettled(Box::new(result)));
    }
    let is_short = ended == RunEnd::Complete && not_run > 0;
    let lost = || RunEnd::BoardLost("no working board is left".to_owned());
    let boards = 0..fleet.members.len();
    let strikes = boards.clone().map(|board| state.scheduler.strikes(board));
    FleetSummary {
        ended: if is_short { lost() } else { ended },
        counts: state.counts,
        strikes: strikes.collect(),
        is_quarantined: boards.map(|board| state.scheduler.is_quarantined(board)).collect(),
        stats: state.scheduler.stats(),
    }
}
