//! A regression run on several boards: one results file, one report, one conclusion.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cli_support::exit::{CommandError, ENVIRONMENT, FAILED, INTERRUPTED};
use rcflash_link::LinkStats;

use super::{
    CaseOf, Executor, FinishedRun, Reporter, ResultRecorder, RunConfig, RunContext,
    with_failed_verdict_code,
};
use crate::fleet::{
    BoardConnected, BoardFinished, Fleet, FleetBoard, FleetEvent, FleetSummary, SchedulerStats,
    run_fleet,
};
use crate::report::{self, BoardSummary, COMPLETE, RunTarget};
use crate::results::BoardReady;
use crate::runner::{RunEnd, RunSummary};
use crate::suite::Suite;

/// The end of a board that was still being prepared when the run ended.
const NOT_READY: &str = "was not ready before the run was over";

/// Runs cases on several boards and writes results and report.
///
/// # Errors
/// Returns a failure if no board could be prepared, or if a file can't be written.
pub fn run_on_fleet<'a, T: Executor>(
    config: &'a RunConfig,
    cases: &'a [CaseOf<T>],
    members: &'a [FleetBoard<T::Plan>],
    mut ctx: RunContext<'a, T>,
) -> Result<FinishedRun<T::Suite>, CommandError> {
    let mut head = config.head::<T::Suite>(cases, None);
    head.profile = profiles::<T>(members);
    let mut reporter = Reporter::start(config, cases, head.clone(), None, &ctx)?;
    let mut recorder = ResultRecorder::new(config, Arc::clone(&ctx.clock));
    let outcome = recorder
        .open(config, &head, ctx.file_system)
        .and_then(|()| recorder.unfinished(cases))
        .and_then(|left| dispatch(config, members, &left, &mut recorder, &mut reporter, &mut ctx))
        .map_err(|failure| with_failed_verdict_code(failure, &recorder));
    reporter.finish(recorder, outcome)
}

/// Returns the name of a board's profile; empty if no plan could be made for it.
fn profile<T: Executor>(member: &FleetBoard<T::Plan>) -> String {
    let profile = member.plan.as_ref().ok().and_then(T::planned_profile);
    profile.map_or_else(String::new, |profile| profile.name.clone())
}

/// Returns the names of the boards' profiles, each once.
fn profiles<T: Executor>(members: &[FleetBoard<T::Plan>]) -> String {
    let mut names: Vec<_> = members.iter().map(profile::<T>).collect();
    names.retain(|name| !name.is_empty());
    names.sort();
    names.dedup();
    names.join(", ")
}

/// The boards and what they have done so far.
struct BoardRows<S: Suite> {
    rows: Vec<BoardSummary<S>>,
    not_judged: BTreeSet<&'static str>,
    failures: Vec<CommandError>,
    stats: LinkStats,
    summary: RunSummary,
    /// Whether a board was lost for good while it ran cases.
    was_lost: bool,
}

impl<S: Suite> BoardRows<S> {
    fn new<T: Executor<Suite = S>>(members: &[FleetBoard<T::Plan>]) -> Self {
        let row = |member: &FleetBoard<T::Plan>| BoardSummary {
            name: member.name.clone(),
            profile: profile::<T>(member),
            ended: NOT_READY.to_owned(),
            is_missing: true,
            ..BoardSummary::default()
        };
        Self {
            rows: members.iter().map(row).collect(),
            not_judged: BTreeSet::new(),
            failures: Vec::new(),
            stats: LinkStats::default(),
            summary: RunSummary::default(),
            was_lost: false,
        }
    }

    /// Records a board that could not be prepared and returns a message for the user. Returns
    /// `None` if the preparation was stopped because the others had already run all cases.
    fn failed(&mut self, index: usize, failure: CommandError) -> Option<String> {
        let row = &mut self.rows[index];
        let is_stopped = failure.code == INTERRUPTED;
        let what = if is_stopped { NOT_READY } else { "set-up failed" };
        row.ended = format!("{what}: {}", failure.message);
        self.failures.push(failure);
        (!is_stopped).then(|| format!("{}: {}", row.name, row.ended))
    }

    fn finished(
        &mut self,
        BoardFinished { member, summary, stats, not_judged }: BoardFinished,
    ) -> Option<String> {
        self.not_judged.extend(not_judged);
        let row = &mut self.rows[member];
        row.link = Some(stats);
        row.ended =
            report::incomplete_reason(&summary.ended).unwrap_or_else(|| COMPLETE.to_owned());
        let text = format!("{}: {}", row.name, row.ended);
        let is_lost = matches!(summary.ended, RunEnd::BoardLost(_));
        row.is_missing = is_lost;
        (row.losses, row.restarts) = (summary.reconnects + u64::from(is_lost), summary.restarts);
        self.was_lost |= is_lost;
        self.stats += stats;
        self.summary = std::mem::take(&mut self.summary).merge(summary);
        is_lost.then_some(text)
    }

    /// Sets the counts of all boards, and which are quarantined.
    fn finish(&mut self, end: &FleetSummary<S>) {
        for (index, row) in self.rows.iter_mut().enumerate() {
            row.counts = end.counts[index];
            row.at_fault = end.strikes[index];
            if end.is_quarantined[index] {
                row.is_missing = true;
                row.ended = format!(
                    "quarantined: {} problems that another board did not have",
                    row.at_fault
                );
            }
        }
    }

    /// Returns the end of a run of which all cases have ended. A board that was lost while it ran
    /// cases may have been damaged by them, so the run is not complete, and neither is one with
    /// fewer boards than required.
    fn end(&self, min_boards: usize) -> RunEnd {
        let count = self.rows.iter().filter(|row| !row.is_missing).count();
        match self.was_lost || count < min_boards {
            true => RunEnd::BoardLost(report::missing_boards(&self.rows)),
            false => RunEnd::Complete,
        }
    }

    /// Returns the failure of a run in which no board was ready. A board whose program can't be
    /// built gives it the exit code of a wrong answer.
    fn failure(&self) -> Option<CommandError> {
        let is_all = self.failures.len() == self.rows.len();
        let graver = self.failures.iter().find(|failure| failure.code == FAILED);
        let first = graver.or(self.failures.first()).filter(|_| is_all)?;
        let ends: Vec<_> =
            self.rows.iter().map(|row| format!("{}: {}", row.name, row.ended)).collect();
        let code = if self.failures.iter().all(|failure| failure.code == first.code) {
            first.code
        } else if first.code == FAILED {
            FAILED
        } else {
            ENVIRONMENT
        };
        Some(CommandError::new(code, format!("no board is ready: {}", ends.join("; "))))
    }
}

fn dispatch<T: Executor>(
    config: &RunConfig,
    members: &[FleetBoard<T::Plan>],
    cases: &[CaseOf<T>],
    recorder: &mut ResultRecorder<T::Suite>,
    reporter: &mut Reporter<T::Suite>,
    ctx: &mut RunContext<T>,
) -> Result<FinishedRun<T::Suite>, CommandError> {
    let began = (ctx.clock)();
    let mut rows = BoardRows::new::<T>(members);
    let fleet = Fleet {
        members,
        cases,
        repeat: config.repeat,
        fail_fast: config.fail_fast,
        baseline: config.baseline.as_deref(),
        rounds: config.rounds(&ctx.clock),
        prepare: ctx.prepare,
        min_boards: config.min_boards,
    };
    ctx.observer.on_iteration_start(fleet.rounds.next_len(cases.len()));
    let stop = Arc::clone(&ctx.stop);
    let mut failed = None;
    let end = run_fleet(&fleet, &stop, |event| {
        let handled = handle_event(event, cases, &mut rows, recorder, ctx);
        let should_continue = handled.as_ref().is_ok_and(|should_continue| *should_continue);
        failed = failed.take().or(handled.err());
        should_continue
    });
    ctx.observer.on_iteration_end();
    if let Some(failure) = failed {
        return Err(failure);
    }
    rows.finish(&end);
    reporter.report.boards = rows.rows.clone();
    let is_begun = rows.rows.iter().any(|row| row.counts.cases > 0) || cases.is_empty();
    if let Some(failure) = rows.failure().filter(|_| !is_begun) {
        let _ = recorder.finish(Some(failure.message.clone()));
        return Err(failure);
    }
    let ended = match end.ended {
        RunEnd::Complete => rows.end(config.min_boards),
        early => early,
    };
    let summary = RunSummary { ended, ..rows.summary };
    reporter.report.set_summary(&summary, rows.stats);
    reporter.report.rounds = config.is_soak().then(|| recorder.totals.counts());
    recorder.finish(report::incomplete_reason(&summary.ended))?;
    let images = rows.rows.iter().filter_map(|row| row.image.as_ref());
    let not_judged = rows.not_judged.into_iter().collect();
    let target = RunTarget { not_judged, ..RunTarget::of_fleet(images) };
    let took = (ctx.clock)().saturating_duration_since(began);
    report_stats(end.stats, took, ctx);
    Ok(FinishedRun {
        totals: recorder.totals.clone(),
        stats: rows.stats,
        faults: None,
        summary,
        took,
        target,
        boards: rows.rows,
        report_failure: None,
    })
}

/// Handles an event. Returns `false` if the run should stop.
fn handle_event<T: Executor>(
    event: FleetEvent<T::Suite>,
    cases: &[CaseOf<T>],
    rows: &mut BoardRows<T::Suite>,
    recorder: &mut ResultRecorder<T::Suite>,
    ctx: &mut RunContext<T>,
) -> Result<bool, CommandError> {
    match event {
        FleetEvent::Ready(index, BoardConnected { at, program: application, identity, own }) => {
            let row = &mut rows.rows[index];
            let own =
                if own.is_empty() { String::new() } else { format!(", own: {}", own.join(", ")) };
            ctx.observer.on_board_message(&format!("{}: {application} on {at}{own}", row.name));
            recorder.record_board(BoardReady { board: row.name.clone(), application })?;
            (row.port, row.image) = (Some(at), identity);
        }
        FleetEvent::SetupFailed(index, failure) => {
            if let Some(text) = rows.failed(index, failure) {
                ctx.observer.on_board_message(&text);
            }
        }
        FleetEvent::BoardFinished(finished) => {
            if let Some(text) = rows.finished(*finished) {
                ctx.observer.on_board_message(&text);
            }
        }
        FleetEvent::CaseSettled(result) => {
            ctx.observer.on_result(&result);
            let is_kept = recorder.record(*result);
            ctx.observer.on_progress(recorder.verdict_count());
            return Ok(is_kept);
        }
        FleetEvent::RoundEnded { cases: of_round, next } => {
            let id = |case: &u32| T::Suite::id(&cases[*case as usize]).to_owned();
            recorder.verify_one_verdict_each(of_round.iter().map(id).collect())?;
            if next > 0 {
                ctx.observer.on_iteration_end();
                ctx.observer.on_iteration_start(next);
            }
        }
    }
    Ok(true)
}

/// Reports what the boards did for each other.
fn report_stats<T: Executor>(stats: SchedulerStats, took: Duration, ctx: &mut RunContext<T>) {
    let SchedulerStats { rerun, speculative, requeued } = stats;
    if rerun + speculative + requeued > 0 && took > Duration::ZERO {
        ctx.observer.on_board_message(&format!(
            "{rerun} cases rerun on another board, {requeued} requeued, {speculative} copied \
             from slow boards"
        ));
    }
}
