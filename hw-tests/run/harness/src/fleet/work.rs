//! Runs the boards of a fleet, each in its own thread.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use super::state::{
    Fleet, FleetEvent, FleetSummary, MAX_UNHANDLED_EVENTS, POLL_INTERVAL, Shared, SharedState,
    merge,
};
use super::worker::Worker;
use crate::executor::Executor;
use crate::runner::{CaseResult, RunEnd, Verdict};

/// Runs each case on some board, once in each round. Calls `on_event` for each event; if it returns
/// `false`, the run is stopped.
pub fn run_fleet<T: Executor>(
    fleet: &Fleet<T>,
    stop: &AtomicBool,
    mut on_event: impl FnMut(FleetEvent<T::Suite>) -> bool,
) -> FleetSummary<T::Suite> {
    let shared = Shared::new(fleet);
    let mut ended = RunEnd::Complete;
    std::thread::scope(|scope| {
        // Bounded by `MAX_UNHANDLED_EVENTS` and what is in flight: a board that waited here with
        // the state locked would hold up a stop.
        let (events, received) = channel();
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
fn collect_events<T: Executor>(
    fleet: &Fleet<T>,
    shared: &Shared<T::Suite>,
    received: &Receiver<FleetEvent<T::Suite>>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(FleetEvent<T::Suite>) -> bool,
) -> RunEnd {
    let mut ended = RunEnd::Complete;
    loop {
        let event = received.recv_timeout(POLL_INTERVAL);
        match (stop.load(Ordering::Relaxed), shared.is_over.load(Ordering::Relaxed)) {
            (true, false) => {
                ended = RunEnd::Interrupted;
                shared.end();
            }
            (true, true) => shared.stop_preparing(),
            (false, _) => {}
        }
        let event = match event {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return ended,
        };
        let is_last = matches!(&event, FleetEvent::CaseSettled(result) if fleet.ends_with(result));
        let should_continue = on_event(event);
        if shared.unhandled_events.fetch_sub(1, Ordering::Relaxed) == MAX_UNHANDLED_EVENTS {
            shared.changed.notify_all();
        }
        if ended == RunEnd::Complete && (is_last || !should_continue) {
            ended = if should_continue { RunEnd::FirstFailure } else { RunEnd::Interrupted };
            shared.end();
        }
    }
}

/// Settles the remaining cases of the round: those with a result on some board keep it, the others
/// are not run.
fn conclude<T: Executor>(
    fleet: &Fleet<T>,
    mut state: SharedState<T::Suite>,
    ended: RunEnd,
    on_event: &mut dyn FnMut(FleetEvent<T::Suite>) -> bool,
) -> FleetSummary<T::Suite> {
    let mut not_run = 0;
    for case in state.scheduler.unsettled_cases() {
        let case = case as usize;
        let results = state.results.remove(&case).unwrap_or_default();
        let result = merge(fleet.members, results).unwrap_or_else(|| {
            not_run += 1;
            CaseResult::new(&fleet.cases[case], Verdict::NotRun)
        });
        on_event(FleetEvent::CaseSettled(Box::new(result)));
    }
    on_event(FleetEvent::RoundEnded { cases: state.scheduler.take_round(), next: 0 });
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
