//! The loop of a run. It alone has the state of a run: what each board does, which cases are left,
//! what is recorded. Boards send it messages; a single board runs on the same thread.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::Poll;

use cli_support::exit::CommandError;
use rcflash_transport::time::{Duration, Instant};

use super::board_rows::BoardRows;
use super::schedule::{Rounds, Schedule, SettledCase};
use super::worker::Message;
use super::{
    CaseOf, ConnectedBoard, Executor, FinishedRun, Member, Observer, Prepare, Reporter,
    ResultRecorder, RunConfig,
};
use crate::report;
use crate::results::{BoardReady, Clock};
use crate::runner::{RunEnd, RunSummary, is_new_failure};
use crate::suite::{CaseResult, Suite, Verdict};
use crate::verdict_table::merge_boards;

/// How often the flag that stops a run is read.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a board that runs cases waits for another one while the loop is busy.
const MAX_BUSY_WAIT: Duration = Duration::from_millis(100);

/// What the run loop and its boards use of a run.
pub(super) struct LoopContext<'r, T: Executor> {
    pub(super) config: &'r RunConfig,
    pub(super) members: &'r [Member<T::Plan>],
    /// The cases to run, in the order of the first round.
    pub(super) cases: &'r [CaseOf<T>],
    pub(super) prepare: &'r Prepare<'r, T>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) clock: Clock,
}

/// A message of the board with this index; `None` if its thread ends.
type BoardMessage<S> = (usize, Option<Message<S>>);

pub(super) struct RunLoop<'l, 'p, T: Executor> {
    run: &'l LoopContext<'l, T>,
    recorder: &'l mut ResultRecorder<T::Suite>,
    reporter: &'l mut Reporter<'p, T::Suite>,
    observer: &'l mut dyn Observer<T::Suite>,
    schedule: Schedule<T::Suite>,
    rounds: Rounds,
    rows: BoardRows,
    /// Why no more cases start; `None` while the run goes on.
    ended: Option<RunEnd>,
    /// The error if a board could not be recorded.
    failed: Option<CommandError>,
    /// When the first board was ready.
    began: Option<Instant>,
}

impl<'l, 'p, T: Executor> RunLoop<'l, 'p, T> {
    pub(super) fn new(
        run: &'l LoopContext<'l, T>,
        recorder: &'l mut ResultRecorder<T::Suite>,
        reporter: &'l mut Reporter<'p, T::Suite>,
        observer: &'l mut dyn Observer<T::Suite>,
    ) -> Self {
        let rounds = Rounds::new(run.config, Arc::clone(&run.clock));
        let mut schedule = Schedule::new(run.cases.len(), run.members.len());
        schedule.start_round(rounds.next_len(run.cases.len()));
        let rows = BoardRows::new::<T>(run.config, run.members);
        let (ended, failed, began) = (None, None, None);
        Self { run, recorder, reporter, observer, schedule, rounds, rows, ended, failed, began }
    }

    /// Runs all cases on the boards.
    pub(super) fn run(mut self) -> Result<FinishedRun<T::Suite>, CommandError> {
        if self.schedule.is_round_over() {
            self.end_round();
        }
        // A resumed run may have no case left.
        if self.ended.is_none() || !self.rows.prepares_needlessly() {
            self = match self.run.members {
                [_] => self.run_here(),
                _ => self.run_threads(),
            };
        }
        self.conclude()
    }

    /// Runs the cases on a single board in this thread.
    fn run_here(self) -> Self {
        let run = self.run;
        let this = RefCell::new(self);
        run.work(0, &|message| this.borrow_mut().handle(0, message)?);
        this.into_inner()
    }

    /// Runs the cases on several boards, each in a thread.
    fn run_threads(mut self) -> Self {
        let run = self.run;
        std::thread::scope(|scope| {
            let (to_loop, messages) = channel();
            let mut answers = Vec::new();
            for board in 0..run.members.len() {
                let (answer, cases) = channel();
                answers.push(answer);
                let to_loop = to_loop.clone();
                let connection = BoardThread { board, to_loop, cases, has_asked: Cell::new(false) };
                scope.spawn(move || {
                    run.work(board, &|message| connection.send(message));
                });
            }
            self.serve_boards(&messages, &answers);
        });
        self
    }

    /// Handles the messages of boards until all have finished.
    fn serve_boards(
        &mut self,
        messages: &Receiver<BoardMessage<T::Suite>>,
        answers: &[Sender<Option<usize>>],
    ) {
        let mut running = answers.len();
        let mut waiting = BTreeSet::new();
        while running > 0 {
            match messages.recv_timeout(POLL_INTERVAL) {
                Ok((board, Some(Message::NextCase { is_idle: true }))) => {
                    waiting.insert(board);
                }
                Ok((board, Some(message))) => {
                    if let Some(answer) = self.handle(board, message) {
                        let _ = answers[board].send(answer);
                    }
                }
                Ok((board, None)) => {
                    running -= 1;
                    // The cases in flight on it are given to others.
                    let settled = self.schedule.retire(board);
                    self.record_all(settled);
                }
                Err(_) => {}
            }
            if self.run.stop.load(Ordering::Relaxed) {
                self.end(RunEnd::Interrupted);
            }
            waiting.retain(|board| match self.assign(*board) {
                Poll::Ready(case) => answers[*board].send(case).is_err(),
                Poll::Pending => true,
            });
            if running > 0 && waiting.len() == running {
                self.end(RunEnd::BoardLost("no board runs the cases that are left".to_owned()));
            }
        }
    }

    /// Handles a message of a board. Returns the answer if it asks for a case.
    fn handle(&mut self, board: usize, message: Message<T::Suite>) -> Option<Option<usize>> {
        match message {
            Message::NextCase { .. } => {
                return Some(match self.assign(board) {
                    Poll::Ready(case) => case,
                    Poll::Pending => None,
                });
            }
            Message::Ready(connected) => self.board_is_ready(board, connected),
            Message::SetupFailed(failure) => {
                let text = self.rows.setup_failed(board, failure);
                text.iter().for_each(|text| self.observer.on_board_message(text));
            }
            Message::Result(case, result) => {
                if result.verdict != Verdict::NotRun {
                    self.rows.rows[board].counts.add(&result);
                }
                let settled = self.schedule.add_result(board, case, *result);
                self.record_all(settled);
            }
            Message::Finished(mut finished) => {
                // A stop after the last verdict changes nothing.
                if self.ended == Some(RunEnd::Complete)
                    && finished.summary.ended == RunEnd::Interrupted
                {
                    finished.summary.ended = RunEnd::Complete;
                }
                let text = self.rows.finished(board, *finished);
                text.iter().for_each(|text| self.observer.on_board_message(text));
            }
        }
        None
    }

    /// Assigns a board its next case; ready without one if there will be none. No case starts after
    /// the deadline.
    fn assign(&mut self, board: usize) -> Poll<Option<usize>> {
        if self.ended.is_none() && self.rounds.is_past_deadline() {
            self.schedule.withdraw_queued();
            if self.schedule.is_round_over() {
                self.end_round();
            }
        }
        if self.ended.is_some() || self.schedule.boards[board].is_retired {
            return Poll::Ready(None);
        }
        self.schedule.take(board).map_or(Poll::Pending, |case| Poll::Ready(Some(case)))
    }

    fn board_is_ready(&mut self, board: usize, connected: ConnectedBoard) {
        self.rows.ready(board, &connected);
        let ConnectedBoard { name, program, own_routines: own, .. } = &connected;
        let mut record = BoardReady { board: name.clone(), application: program.clone() };
        if self.run.config.has_named_boards() {
            let own =
                if own.is_empty() { String::new() } else { format!(", own: {}", own.join(", ")) };
            record.board.clone_from(&self.rows.rows[board].name);
            let text = format!("{}: {program} on {name}{own}", record.board);
            self.observer.on_board_message(&text);
        } else {
            self.observer.on_ready(&connected);
            self.reporter.set_board(&connected);
        }
        if let Err(failure) = self.recorder.record_board(record) {
            self.failed.get_or_insert(failure);
            self.stop_all(RunEnd::Interrupted);
        }
        if self.began.is_none() {
            self.began = Some((self.run.clock)());
            self.observer.on_iteration_start(self.schedule.round().len());
        }
    }

    /// Records the verdicts of cases, and ends the round with the last one.
    fn record_all(&mut self, settled: Vec<SettledCase<T::Suite>>) {
        let was_settled = !settled.is_empty();
        settled.into_iter().for_each(|settled| self.record(settled));
        if was_settled && self.schedule.is_round_over() {
            self.end_round();
        }
    }

    /// Records the verdict of a case.
    fn record(&mut self, (case, results): SettledCase<T::Suite>) {
        let name = |(board, result): (usize, _)| (self.rows.rows[board].name.clone(), result);
        let merged = if self.run.config.has_named_boards() {
            merge_boards(results.into_iter().map(name).collect())
        } else {
            results.into_iter().next().map(|(_, result)| result)
        };
        let not_run = || CaseResult::new(&self.run.cases[case], Verdict::NotRun);
        let result = merged.unwrap_or_else(not_run);
        let RunConfig { fail_fast, baseline, .. } = self.run.config;
        let is_last = *fail_fast && is_new_failure(baseline.as_deref(), &result);
        self.observer.on_result(&result);
        let is_recorded = self.recorder.record(result);
        self.observer.on_progress(self.recorder.recorded.len());
        if !is_recorded {
            // Without a results file there is no use in running more cases.
            self.stop_all(RunEnd::Interrupted);
        } else if is_last {
            // A single board has stopped itself, and still has results.
            match self.run.members.len() {
                1 => self.end(RunEnd::FirstFailure),
                _ => self.stop_all(RunEnd::FirstFailure),
            }
        }
    }

    /// Ends a round whose cases are all settled: starts the next one, or ends the run.
    fn end_round(&mut self) {
        self.verify_round();
        let has_next = self.rounds.has_next(self.schedule.round().len());
        if !has_next && self.ended == Some(RunEnd::Interrupted) {
            // All cases had run when it was stopped.
            self.ended = None;
        }
        if !has_next || self.ended.is_some() {
            self.schedule.start_round(0);
            self.end(RunEnd::Complete);
            if self.rows.prepares_needlessly() {
                self.run.stop.store(true, Ordering::Relaxed);
            }
            return;
        }
        self.rounds.reorder(&mut self.schedule.order);
        let count = self.rounds.next_len(self.run.cases.len());
        self.schedule.start_round(count);
        self.observer.on_iteration_end();
        self.observer.on_iteration_start(count);
    }

    /// Verifies that each case of the round has had one verdict.
    fn verify_round(&mut self) {
        let id = |case: &usize| T::Suite::id(&self.run.cases[*case]).to_owned();
        let cases = self.schedule.round().iter().map(id).collect();
        if let Err(failure) = self.recorder.verify_one_verdict_each(cases) {
            self.failed.get_or_insert(failure);
        }
    }

    /// Ends the run: no more cases start. The first reason counts.
    fn end(&mut self, why: RunEnd) {
        self.ended.get_or_insert(why);
    }

    /// Ends the run, and stops what boards are doing.
    fn stop_all(&mut self, why: RunEnd) {
        self.end(why);
        self.run.stop.store(true, Ordering::Relaxed);
    }

    /// Settles the remaining cases of the round: those with a result on some board keep it, the
    /// others are not run. Returns the outcome of the run.
    fn conclude(mut self) -> Result<FinishedRun<T::Suite>, CommandError> {
        let is_stopped = self.run.stop.load(Ordering::Relaxed);
        let ended = match self.ended.take() {
            Some(RunEnd::Complete) => None,
            Some(early) => Some(early),
            None if is_stopped => Some(RunEnd::Interrupted),
            None => Some(self.rows.end_without_boards()),
        };
        for place in 0..self.schedule.round().len() {
            let settled = self.schedule.settle_early(place);
            settled.into_iter().for_each(|settled| self.record(settled));
        }
        self.verify_round();
        if self.began.is_some() {
            self.observer.on_iteration_end();
        }
        self.rows.set_strikes(&self.schedule);
        if self.run.config.has_named_boards() {
            self.reporter.report.boards.clone_from(&self.rows.rows);
        }
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        if let Some(failure) = self.rows.setup_failure() {
            let _ = self.recorder.finish(Some(format!("set-up failed: {}", failure.message)));
            return Err(failure);
        }
        let ended = ended.unwrap_or_else(|| self.rows.end_of_settled_run());
        self.finish(ended)
    }

    /// Completes the results file and the report.
    fn finish(mut self, ended: RunEnd) -> Result<FinishedRun<T::Suite>, CommandError> {
        let clock = &self.run.clock;
        let took = self.began.map(|began| clock().saturating_duration_since(began));
        let took = took.unwrap_or_default();
        let summary = RunSummary { ended, ..std::mem::take(&mut self.rows.summary) };
        let stats = self.rows.stats;
        let target = self.rows.target();
        let is_named = self.run.config.has_named_boards();
        let faults = self.rows.last.take().and_then(|last| last.faults);
        let report = &mut self.reporter.report;
        report.incomplete = report::incomplete_reason(&summary.ended);
        report.summary = Some(summary.clone());
        report.link = Some(stats);
        report.faults = faults.map(|faults| faults.to_string());
        report.rounds = self.run.config.is_soak().then_some(self.recorder.totals.counts);
        self.recorder.finish(report.incomplete.clone())?;
        let Schedule { reruns, returned, .. } = self.schedule;
        if reruns + returned > 0 && is_named {
            self.observer.on_board_message(&format!(
                "{reruns} cases rerun on another board, {returned} requeued"
            ));
        }
        let totals = std::mem::take(&mut self.recorder.totals);
        let boards = if is_named { self.rows.rows } else { Vec::new() };
        let report_failure = None;
        Ok(FinishedRun { totals, summary, stats, faults, took, target, boards, report_failure })
    }
}

/// The connection of a board's thread to the loop. Only a question for a case is answered, so the
/// results that wait for the loop are bounded by the cases that boards have.
struct BoardThread<S: Suite> {
    board: usize,
    to_loop: Sender<BoardMessage<S>>,
    cases: Receiver<Option<usize>>,
    /// Whether a question for a case is not answered yet.
    has_asked: Cell<bool>,
}

impl<S: Suite> BoardThread<S> {
    /// Sends a message. Returns a case if it asks for one, and there is one.
    fn send(&self, message: Message<S>) -> Option<usize> {
        let Message::NextCase { is_idle } = message else {
            // The loop ends before its boards only if it panics.
            let _ = self.to_loop.send((self.board, Some(message)));
            return None;
        };
        if self.has_asked.get()
            && let Some(case) = self.receive_case(is_idle)
        {
            return Some(case);
        }
        if !self.has_asked.replace(true) {
            self.to_loop.send((self.board, Some(message))).ok()?;
        }
        self.receive_case(is_idle)
    }

    /// Receives an answer. Does not wait for long while the board runs cases: their replies have
    /// deadlines.
    fn receive_case(&self, is_idle: bool) -> Option<usize> {
        let longest = if is_idle { Duration::MAX } else { MAX_BUSY_WAIT };
        let answer = self.cases.recv_timeout(longest).ok();
        self.has_asked.set(answer.is_none());
        answer.flatten()
    }
}

impl<S: Suite> Drop for BoardThread<S> {
    /// Tells the loop that the thread ends, also by a panic.
    fn drop(&mut self) {
        let _ = self.to_loop.send((self.board, None));
    }
}
