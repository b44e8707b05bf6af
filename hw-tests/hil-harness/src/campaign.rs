//! A regression run on one board or a fleet, from preparing the board to the exit code, with
//! results file and report.

mod fleet_run;
mod recorder;
mod reporter;

pub use fleet_run::run_on_fleet;
pub use recorder::ResultRecorder;
pub use reporter::Reporter;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cli_support::exit::{CommandError, ENVIRONMENT, FAILED, INTERRUPTED};
use rcflash_link::LinkStats;
use rcflash_transport::time::{Duration, Instant};

use crate::board::FaultCounts;
use crate::case_index::CaseKey;
use crate::file_system::FileSystem;
use crate::live::{BoardConfig, LiveBoard, SetupError, Utilization};
use crate::report::{self, BoardSummary, RunTarget, RunTotals};
use crate::results::{BoardReady, Clock, RESULTS_FORMAT, RunHeader, cases_digest};
use crate::runner::{Baseline, RunEnd, RunOptions, RunSummary, exit_code, run_cases};
use sargon_corpus::{Case, shuffle};

/// Configuration of a run.
#[derive(Debug, Clone, Default)]
pub struct RunConfig {
    /// The cases, in the order in which they run.
    pub cases: Vec<Case>,
    /// The name of the profile, used if no plan could be made.
    pub profile: String,
    /// The evaluator's behaviour.
    pub behaviour: String,
    /// The seed of the order of the cases.
    pub seed: Option<u64>,
    /// The shard of the selection, such as `2/5`.
    pub shard: Option<String>,
    /// The seed of injected faults.
    pub faults: Option<u64>,
    /// The number of repetitions of each case.
    pub repeat: u32,
    /// Whether the first case that does not pass ends the run.
    pub fail_fast: bool,
    /// The duration of a soak run.
    pub time: Option<Duration>,
    /// The number of cases of a soak run, counting each iteration.
    pub count: Option<u64>,
    /// The earlier run whose failures are known.
    pub baseline: Option<Arc<Baseline>>,
    /// The results file.
    pub results: Option<PathBuf>,
    /// Whether to continue the results file.
    pub resume: bool,
    /// Whether to replace existing files.
    pub force: bool,
    /// The folder of the report.
    pub report: Option<PathBuf>,
    /// The command line, without the program.
    pub arguments: Vec<String>,
    /// The options of the follow-up commands for failed cases.
    pub follow_up: report::FollowUpOptions,
    /// The name of the board before it is connected.
    pub board: String,
    /// The names of the boards in a run on a fleet.
    pub boards: Vec<String>,
}

impl RunConfig {
    /// Returns `true` if the cases are run repeatedly, for a time or a count.
    #[must_use]
    pub fn is_soak(&self) -> bool {
        self.time.is_some() || self.count.is_some()
    }

    fn head(&self, plan: Option<&BoardConfig>) -> RunHeader {
        RunHeader {
            results: RESULTS_FORMAT,
            program: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
            profile: plan.map_or_else(|| self.profile.clone(), |plan| plan.profile.name.clone()),
            behaviour: self.behaviour.clone(),
            cases: self.cases.len(),
            digest: cases_digest(&self.cases),
            repeat: self.repeat,
            seed: self.seed,
            shard: self.shard.clone(),
            faults: self.faults,
            boards: self.boards.clone(),
        }
    }
}

/// Everything that a run uses from its environment.
pub struct RunContext<'a> {
    /// The file system.
    pub file_system: &'a dyn FileSystem,
    /// The clock.
    pub clock: Clock,
    /// Ends the run when set.
    pub stop: Arc<AtomicBool>,
    /// Prepares a board.
    pub prepare: &'a (dyn Fn(&BoardConfig) -> Result<LiveBoard, SetupError> + Sync),
    /// Receives the progress of the run.
    pub observer: &'a mut dyn Observer,
}

/// Receives the progress of a run. All methods do nothing by default.
pub trait Observer {
    /// Called when the board is ready.
    fn on_ready(&mut self, _rig: &LiveBoard) {}
    /// Called when a board of a fleet is ready or has failed, with a message for the user.
    fn on_board_message(&mut self, _text: &str) {}
    /// Called when an iteration of so many cases starts.
    fn on_iteration_start(&mut self, _cases: usize) {}
    /// Called when so many cases of the iteration have a verdict.
    fn on_progress(&mut self, _count: usize) {}
    /// Called when the iteration ends.
    fn on_iteration_end(&mut self) {}
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct FinishedRun {
    /// The verdicts.
    pub totals: RunTotals,
    /// The end of the run and its statistics.
    pub summary: RunSummary,
    /// Statistics of the line.
    pub stats: LinkStats,
    /// The utilization of processor and line.
    pub limit: Option<Utilization>,
    /// The injected faults.
    pub faults: Option<FaultCounts>,
    /// The duration without the set-up.
    pub took: Duration,
    /// The board or boards, and the program on them.
    pub target: RunTarget,
    /// The boards in a run on a fleet.
    pub boards: Vec<BoardSummary>,
    /// The error if the report could not be written.
    pub report_failure: Option<String>,
}

impl FinishedRun {
    /// Returns the exit code.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        exit_code(self.totals.counts_with_known_passing(), &self.summary.ended)
    }
}

/// Runs cases and writes results and report. The report is written however the run ends, even if
/// no plan could be made.
///
/// # Errors
/// Returns a failure if the set-up failed or a file can't be written. Its exit code is that of a
/// wrong answer only if the user's own routines can't be built, or if a result already has one.
pub fn run<'a>(
    config: &'a RunConfig,
    plan: Result<BoardConfig, CommandError>,
    mut ctx: RunContext<'a>,
) -> Result<FinishedRun, CommandError> {
    let head = config.head(plan.as_ref().ok());
    let mut reporter = Reporter::start(config, head.clone(), plan.as_ref().ok(), &ctx)?;
    let mut recorder = ResultRecorder::new(config, Arc::clone(&ctx.clock));
    let outcome = plan
        .map_err(as_rig_failure)
        .and_then(|plan| {
            recorder.open(config, &head, ctx.file_system)?;
            run_on_board(config, plan, &mut recorder, &mut reporter, &mut ctx)
        })
        .map_err(|failure| with_failed_verdict_code(failure, &recorder));
    reporter.finish(recorder, outcome)
}

/// Gives a failure of the set-up the exit code of a rig error, since no case has failed.
fn as_rig_failure(failure: CommandError) -> CommandError {
    let code = if failure.code == FAILED { ENVIRONMENT } else { failure.code };
    CommandError { code, ..failure }
}

/// Converts an error of the set-up. Sources that can't be built are what is tested, so a build
/// error keeps its exit code.
fn setup_failure(error: SetupError) -> CommandError {
    match error {
        SetupError::Build(error) => error.into(),
        other => as_rig_failure(other.into()),
    }
}

/// Gives a failure the exit code of a wrong answer if some case has failed, as the reports do.
fn with_failed_verdict_code(failure: CommandError, recorder: &ResultRecorder) -> CommandError {
    let code =
        if recorder.totals.counts_with_known_passing().fail > 0 { FAILED } else { failure.code };
    CommandError { code, ..failure }
}

/// Prepares the board, runs the cases, and completes the results file.
fn run_on_board(
    config: &RunConfig,
    mut plan: BoardConfig,
    recorder: &mut ResultRecorder,
    reporter: &mut Reporter,
    ctx: &mut RunContext,
) -> Result<FinishedRun, CommandError> {
    plan.cancel = Some(Arc::clone(&ctx.stop));
    if let Some(recording) = &mut plan.recording {
        recording.cases = config.cases.iter().map(|case| case.id.clone()).collect();
    }
    let cases = recorder.unfinished(&config.cases)?;
    let mut live = match prepare(&plan, recorder, ctx) {
        Ok(live) => live,
        Err(failure) => {
            recorder.record_abort(&format!("set-up failed: {}", failure.message), &cases);
            return Err(failure);
        }
    };
    reporter.report.set_connected_board(&live);
    let began = (ctx.clock)();
    let summary = run_iterations(config, &mut live, cases, recorder, ctx)?;
    if summary.ended == RunEnd::Complete {
        live.record_waits();
    }
    reporter.report.set_summary(&summary, &live);
    reporter.report.rounds = config.is_soak().then(|| recorder.totals.counts());
    recorder.finish(report::incomplete_reason(&summary.ended))?;
    let took = (ctx.clock)().saturating_duration_since(began);
    Ok(FinishedRun {
        totals: recorder.totals.clone(),
        stats: live.stats(),
        limit: reporter.report.limit,
        faults: live.faults(),
        summary,
        took,
        target: RunTarget::of_board(&live),
        boards: Vec::new(),
        report_failure: None,
    })
}

/// Prepares the board and records it in the results.
fn prepare(
    plan: &BoardConfig,
    recorder: &mut ResultRecorder,
    ctx: &mut RunContext,
) -> Result<LiveBoard, CommandError> {
    let live = (ctx.prepare)(plan).map_err(setup_failure)?;
    ctx.observer.on_ready(&live);
    let board = live.board().to_owned();
    let application = live.application.to_string();
    recorder.record_board(BoardReady { board, application })?;
    Ok(live)
}

/// Runs the cases on the board, repeatedly in a soak run.
fn run_iterations(
    config: &RunConfig,
    live: &mut LiveBoard,
    mut cases: Vec<Case>,
    recorder: &mut ResultRecorder,
    ctx: &mut RunContext,
) -> Result<RunSummary, CommandError> {
    let deadline = config.time.map(|time| (ctx.clock)() + time);
    let mut remaining = config.count.unwrap_or(u64::MAX);
    let mut summary = RunSummary::default();
    for pass in 1.. {
        let count = usize::try_from(remaining).unwrap_or(usize::MAX).min(cases.len());
        let (next, started) = run_iteration(config, live, &cases[..count], deadline, recorder, ctx);
        summary = summary.merge(next);
        remaining -= started.len() as u64;
        recorder.verify_one_verdict_each(started)?;
        let is_over = !config.is_soak() || remaining == 0 || is_past(deadline, ctx);
        if is_over || summary.ended != RunEnd::Complete {
            break;
        }
        if let Some(seed) = config.seed {
            shuffle(&mut cases, seed.wrapping_add(pass));
        }
    }
    Ok(summary)
}

fn is_past(deadline: Option<Instant>, ctx: &RunContext) -> bool {
    deadline.is_some_and(|deadline| (ctx.clock)() >= deadline)
}

/// Runs each case once, until the deadline. Also returns the keys of the cases that were started.
fn run_iteration(
    config: &RunConfig,
    live: &mut LiveBoard,
    cases: &[Case],
    deadline: Option<Instant>,
    recorder: &mut ResultRecorder,
    ctx: &mut RunContext,
) -> (RunSummary, Vec<CaseKey>) {
    ctx.observer.on_iteration_start(cases.len());
    let stop = Arc::clone(&ctx.stop);
    let clock = Arc::clone(&ctx.clock);
    let RunConfig { repeat, fail_fast, .. } = *config;
    let baseline = config.baseline.as_deref();
    let options = RunOptions { repeat, fail_fast, baseline, interrupted: &stop };
    let mut started = Vec::with_capacity(cases.len());
    let feed = cases
        .iter()
        .take_while(|_| deadline.is_none_or(|deadline| clock() < deadline))
        .inspect(|case| started.push(CaseKey::of(&case.id)))
        .cloned();
    let summary = run_cases(live, feed, options, |result| {
        // Without a results file there is no use in running more cases.
        if !recorder.record(result) {
            stop.store(true, Ordering::Relaxed);
        }
        ctx.observer.on_progress(recorder.verdict_count());
    });
    ctx.observer.on_iteration_end();
    (summary, started)
}

/// Returns the failure of a run that the user interrupted.
#[must_use]
pub fn interrupted_failure() -> CommandError {
    CommandError::new(INTERRUPTED, "interrupted")
}
