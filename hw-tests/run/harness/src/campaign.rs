//! A regression run on one board or a fleet, from preparing the board to the exit code, with
//! results file and report.

mod fleet_run;
mod recorder;
mod reporter;

pub use fleet_run::run_on_fleet;
pub use recorder::ResultRecorder;
pub use reporter::Reporter;

pub use crate::executor::Executor;
use crate::executor::{as_rig_failure, setup_failure};

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cli_support::exit::{CommandError, FAILED};
use rcflash_link::LinkStats;
use rcflash_transport::time::Duration;

use crate::board::FaultCounts;
use crate::file_system::FileSystem;
use crate::live::SetupError;
use crate::report::{self, BoardSummary, RunTarget, RunTotals};
use crate::results::{BoardReady, Clock, RESULTS_FORMAT, RunHeader, cases_digest};
use crate::rounds::Rounds;
use crate::runner::{Baseline, CaseResult, RunEnd, RunOptions, RunSummary, Verdict, exit_code};
use crate::suite::Suite;
use firmware::profile::BoardProfile;

/// Configuration of a run.
#[derive(Debug, Clone, Default)]
pub struct RunConfig {
    /// The name of the profile, used if no plan could be made.
    pub profile: String,
    /// The behaviour of the program under test, where there are several.
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
    /// The git commit of the folder in which it runs.
    pub commit: Option<String>,
    /// The options of the follow-up commands for failed cases.
    pub follow_up: report::FollowUpOptions,
    /// The name of the board before it is connected.
    pub board: String,
    /// The names of the boards in a run on a fleet.
    pub boards: Vec<String>,
    /// The least number of them that must be there to the end.
    pub min_boards: usize,
}

impl RunConfig {
    /// Returns `true` if the cases are run repeatedly, for a time or a count.
    #[must_use]
    pub fn is_soak(&self) -> bool {
        self.time.is_some() || self.count.is_some()
    }

    /// Returns the rounds of a run that starts now.
    fn rounds(&self, clock: &Clock) -> Rounds {
        let deadline = self.time.map(|time| clock() + time);
        Rounds { clock: Arc::clone(clock), deadline, remaining: self.count, seed: self.seed }
    }

    fn head<S: Suite>(&self, cases: &[S::Case], profile: Option<&BoardProfile>) -> RunHeader {
        RunHeader {
            results: RESULTS_FORMAT,
            program: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
            profile: profile.map_or(&self.profile, |profile| &profile.name).clone(),
            behaviour: self.behaviour.clone(),
            cases: cases.len(),
            digest: cases_digest::<S>(cases),
            repeat: self.repeat,
            seed: self.seed,
            shard: self.shard.clone(),
            faults: self.faults,
            boards: self.boards.clone(),
        }
    }
}

/// Everything that a run uses from its environment.
pub struct RunContext<'a, T: Executor> {
    /// The file system.
    pub file_system: &'a dyn FileSystem,
    /// The clock.
    pub clock: Clock,
    /// Ends the run when set.
    pub stop: Arc<AtomicBool>,
    /// Prepares an executor.
    pub prepare: &'a (dyn Fn(&T::Plan) -> Result<T, SetupError> + Sync),
    /// Receives the progress of the run.
    pub observer: &'a mut dyn Observer<T>,
}

/// Receives the progress of a run. All methods do nothing by default.
pub trait Observer<T: Executor> {
    /// Called when the executor is ready.
    fn on_ready(&mut self, _session: &T) {}
    /// Called when a board of a fleet is ready or has failed, with a message for the user.
    fn on_board_message(&mut self, _text: &str) {}
    /// Called when an iteration of `_cases` cases starts.
    fn on_iteration_start(&mut self, _cases: usize) {}
    /// Called with the result of each case.
    fn on_result(&mut self, _result: &CaseResult<T::Suite>) {}
    /// Called with the number of cases of the iteration that have a verdict.
    fn on_progress(&mut self, _count: usize) {}
    /// Called when the iteration ends.
    fn on_iteration_end(&mut self) {}
}

/// A case of an executor.
type CaseOf<T> = <<T as Executor>::Suite as Suite>::Case;

/// The result of a run.
#[derive(Debug, Clone)]
pub struct FinishedRun<S: Suite> {
    /// The verdicts.
    pub totals: RunTotals<S>,
    /// The end of the run and its statistics.
    pub summary: RunSummary,
    /// Statistics of the line.
    pub stats: LinkStats,
    /// The injected faults.
    pub faults: Option<FaultCounts>,
    /// The duration without the set-up.
    pub took: Duration,
    /// The board or boards, and the program on them.
    pub target: RunTarget,
    /// The boards in a run on a fleet.
    pub boards: Vec<BoardSummary<S>>,
    /// The error if the report could not be written.
    pub report_failure: Option<String>,
}

impl<S: Suite> FinishedRun<S> {
    /// Returns the exit code.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        exit_code(self.totals.counts_with_known_passing(), &self.summary.ended)
    }
}

/// Runs cases, in this order, and writes results and report. The report is written however the run
/// ends, even if no plan could be made.
///
/// # Errors
/// Returns a failure if the set-up failed or a file can't be written. Its exit code is that of a
/// wrong answer only if the user's own routines can't be built, or if a result already has one.
pub fn run<'a, T: Executor>(
    config: &'a RunConfig,
    cases: &'a [CaseOf<T>],
    plan: Result<T::Plan, CommandError>,
    mut ctx: RunContext<'a, T>,
) -> Result<FinishedRun<T::Suite>, CommandError> {
    let profile = plan.as_ref().ok().and_then(T::planned_profile);
    let head = config.head::<T::Suite>(cases, profile);
    let mut reporter = Reporter::start(config, cases, head.clone(), profile, &ctx)?;
    let mut recorder = ResultRecorder::new(config, Arc::clone(&ctx.clock));
    let outcome = plan
        .map_err(as_rig_failure)
        .and_then(|plan| {
            recorder.open(config, &head, ctx.file_system)?;
            run_on_executor(config, cases, plan, &mut recorder, &mut reporter, &mut ctx)
        })
        .map_err(|failure| with_failed_verdict_code(failure, &recorder));
    reporter.finish(recorder, outcome)
}

/// Gives a failure the exit code of a wrong answer if some case has failed, as the reports do.
fn with_failed_verdict_code<S: Suite>(
    failure: CommandError,
    recorder: &ResultRecorder<S>,
) -> CommandError {
    let code =
        if recorder.totals.counts_with_known_passing().fail > 0 { FAILED } else { failure.code };
    CommandError { code, ..failure }
}

/// Prepares the executor, runs the cases, and completes the results file.
fn run_on_executor<T: Executor>(
    config: &RunConfig,
    cases: &[CaseOf<T>],
    mut plan: T::Plan,
    recorder: &mut ResultRecorder<T::Suite>,
    reporter: &mut Reporter<T::Suite>,
    ctx: &mut RunContext<T>,
) -> Result<FinishedRun<T::Suite>, CommandError> {
    let mut ids = cases.iter().map(|case| T::Suite::id(case).to_owned());
    T::complete_plan(&mut plan, &ctx.stop, &mut ids);
    let cases = recorder.unfinished(cases)?;
    let mut executor = match prepare(&plan, recorder, ctx) {
        Ok(executor) => executor,
        Err(failure) => {
            recorder.record_abort(&format!("set-up failed: {}", failure.message), &cases);
            return Err(failure);
        }
    };
    reporter.set_executor(&executor);
    let began = (ctx.clock)();
    let summary = run_iterations(config, &mut executor, cases, recorder, ctx)?;
    if summary.ended == RunEnd::Complete {
        executor.finish();
    }
    let stats = executor.stats();
    let faults = executor.faults();
    reporter.report.set_summary(&summary, stats);
    reporter.report.faults = faults.map(|faults| faults.to_string());
    reporter.report.rounds = config.is_soak().then(|| recorder.totals.counts());
    recorder.finish(report::incomplete_reason(&summary.ended))?;
    let took = (ctx.clock)().saturating_duration_since(began);
    Ok(FinishedRun {
        totals: recorder.totals.clone(),
        stats,
        faults,
        summary,
        took,
        target: executor.target(),
        boards: Vec::new(),
        report_failure: None,
    })
}

/// Prepares the executor and records it in the results.
fn prepare<T: Executor>(
    plan: &T::Plan,
    recorder: &mut ResultRecorder<T::Suite>,
    ctx: &mut RunContext<T>,
) -> Result<T, CommandError> {
    let executor = (ctx.prepare)(plan).map_err(setup_failure)?;
    ctx.observer.on_ready(&executor);
    let board = executor.name().to_owned();
    recorder.record_board(BoardReady { board, application: executor.program() })?;
    Ok(executor)
}

/// Runs the cases, repeatedly in a soak run.
fn run_iterations<T: Executor>(
    config: &RunConfig,
    executor: &mut T,
    mut cases: Cow<[CaseOf<T>]>,
    recorder: &mut ResultRecorder<T::Suite>,
    ctx: &mut RunContext<T>,
) -> Result<RunSummary, CommandError> {
    let mut rounds = config.rounds(&ctx.clock);
    let mut summary = RunSummary::default();
    loop {
        let (next, started) = run_iteration(config, executor, &cases, &rounds, recorder, ctx);
        summary = summary.merge(next);
        let count = started.len();
        recorder.verify_one_verdict_each(started)?;
        if summary.ended != RunEnd::Complete || !rounds.has_next(count) {
            return Ok(summary);
        }
        rounds.reorder(cases.to_mut());
    }
}

/// Runs the cases of a round. Also returns which were started.
fn run_iteration<T: Executor>(
    config: &RunConfig,
    executor: &mut T,
    cases: &[CaseOf<T>],
    rounds: &Rounds,
    recorder: &mut ResultRecorder<T::Suite>,
    ctx: &mut RunContext<T>,
) -> (RunSummary, Vec<String>) {
    let count = rounds.next_len(cases.len());
    ctx.observer.on_iteration_start(count);
    let stop = Arc::clone(&ctx.stop);
    let RunConfig { repeat, fail_fast, .. } = *config;
    let baseline = config.baseline.as_deref();
    let options = RunOptions { repeat, fail_fast, baseline, interrupted: &stop };
    let mut started = Vec::new();
    let mut feed = cases
        .iter()
        .take(count)
        .take_while(|_| !rounds.is_past_deadline())
        .inspect(|case| started.push(T::Suite::id(case).to_owned()))
        .cloned();
    let mut on_result = |result| {
        ctx.observer.on_result(&result);
        // Without a results file there is no use in running more cases.
        if !recorder.record(result) {
            stop.store(true, Ordering::Relaxed);
        }
        ctx.observer.on_progress(recorder.verdict_count());
    };
    let summary = executor.run(&mut feed, options, &mut on_result);
    feed.for_each(|case| on_result(CaseResult::new(&case, Verdict::NotRun)));
    ctx.observer.on_iteration_end();
    (summary, started)
}
