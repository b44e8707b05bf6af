//! A regression run on one board or several, from preparing the boards to the exit code, with
//! results file and report. `run_loop` has its state.

mod board_rows;
mod executor;
mod recorder;
mod reporter;
mod run_loop;
mod schedule;
mod worker;

pub use executor::{ConnectedBoard, Executor, run_one_by_one};

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use askama::Template;
use cli_support::exit::{CommandError, FAILED};
use firmware::profile::BoardProfile;
use rcflash_link::LinkStats;
use rcflash_transport::time::Duration;

use crate::board::FaultCounts;
use crate::file_system::FileSystem;
use crate::live::SetupError;
use crate::report::{
    self, BoardSummary, RunTarget, RunTotals, incomplete_reason, line_statistics_text,
};
use crate::results::{Clock, RESULTS_FORMAT, RunHeader, cases_digest};
use crate::runner::{Baseline, Conclusion, RunSummary, exit_code, incomplete_counts};
use crate::suite::{CaseResult, Suite, VerdictCounts};
use recorder::ResultRecorder;
use reporter::Reporter;
use run_loop::{LoopContext, RunLoop};

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
    pub fn is_soak(&self) -> bool {
        self.time.is_some() || self.count.is_some()
    }

    /// Returns `true` if results and reports name the board of each result.
    fn has_named_boards(&self) -> bool {
        !self.boards.is_empty()
    }

    fn head<S: Suite>(&self, cases: &[S::Case], profiles: String) -> RunHeader {
        RunHeader {
            results: RESULTS_FORMAT,
            program: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
            profile: if profiles.is_empty() { self.profile.clone() } else { profiles },
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

/// A board of a run.
#[derive(Debug)]
pub struct Member<P> {
    /// Its name, unique in the run.
    pub name: String,
    /// What its executor is prepared from, or the error if there is no plan.
    pub plan: Result<P, CommandError>,
}

/// Prepares an executor from its plan.
pub type Prepare<'a, T> = dyn Fn(&<T as Executor>::Plan) -> Result<T, SetupError> + Sync + 'a;

/// Everything that a run uses from its environment.
pub struct RunContext<'a, T: Executor> {
    /// The file system.
    pub file_system: &'a dyn FileSystem,
    /// The clock.
    pub clock: Clock,
    /// Ends the run when set. The run sets it itself to stop its boards.
    pub stop: Arc<AtomicBool>,
    /// Prepares an executor.
    pub prepare: &'a Prepare<'a, T>,
    /// Receives the progress of the run.
    pub observer: &'a mut dyn Observer<T::Suite>,
}

/// Receives the progress of a run. All methods do nothing by default.
pub trait Observer<S: Suite> {
    /// Called when the board is ready, in a run whose board has no name.
    fn on_ready(&mut self, _board: &ConnectedBoard) {}
    /// Called when a named board is ready or has failed, with a message for the user.
    fn on_board_message(&mut self, _text: &str) {}
    /// Called when an iteration of `_cases` cases starts.
    fn on_iteration_start(&mut self, _cases: usize) {}
    /// Called with the result of each case.
    fn on_result(&mut self, _result: &CaseResult<S>) {}
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
    pub boards: Vec<BoardSummary>,
    /// The error if the report could not be written.
    pub report_failure: Option<String>,
}

/// Runs cases, in this order, on boards, and writes results and report. The report is written
/// however the run ends, even if no plan could be made.
///
/// # Errors
/// Returns a failure if no board could be prepared or a file can't be written. Its exit code is
/// that of a wrong answer only if the user's own routines can't be built, or if a result already
/// has one.
pub fn run<'a, T: Executor>(
    config: &'a RunConfig,
    cases: &'a [CaseOf<T>],
    members: &[Member<T::Plan>],
    ctx: RunContext<'a, T>,
) -> Result<FinishedRun<T::Suite>, CommandError> {
    let head = config.head::<T::Suite>(cases, profile_names::<T>(members));
    let mut reporter = Reporter::start(config, cases, head.clone(), &ctx)?;
    if let [member] = members
        && let Some(profile) = planned_profile::<T>(member).filter(|_| !config.has_named_boards())
    {
        reporter.report.set_planned_board(&profile, &config.board);
    }
    let RunContext { file_system, clock, stop, prepare, observer } = ctx;
    let mut recorder = ResultRecorder::new(config, Arc::clone(&clock));
    let run_unfinished = || {
        if members.iter().any(|member| member.plan.is_ok()) {
            recorder.open(config, &head, file_system)?;
        }
        let cases = recorder.unfinished(cases)?;
        let run = LoopContext { config, members, cases: &cases, prepare, stop, clock };
        RunLoop::new(&run, &mut recorder, &mut reporter, observer).run()
    };
    let outcome = run_unfinished().map_err(|failure: CommandError| {
        // As the reports do, which have the case that failed.
        let has_failed = recorder.totals.with_known_passing.fail > 0;
        CommandError { code: if has_failed { FAILED } else { failure.code }, ..failure }
    });
    reporter.finish(recorder, outcome)
}

/// Returns the profile for which a board is planned; `None` if there is none.
fn planned_profile<T: Executor>(member: &Member<T::Plan>) -> Option<BoardProfile> {
    let mut plan = member.plan.as_ref().ok()?.clone();
    T::board_config(&mut plan).map(|config| config.profile.clone())
}

/// Returns the names of the boards' profiles, each once; empty if none is planned.
fn profile_names<T: Executor>(members: &[Member<T::Plan>]) -> String {
    let profiles = members.iter().filter_map(planned_profile::<T>);
    let names: BTreeSet<_> = profiles.map(|profile| profile.name).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

#[derive(Template)]
#[template(path = "summary.txt")]
struct Summary<'a, S: Suite> {
    run: &'a FinishedRun<S>,
    conclusion: Conclusion,
    /// Why it is incomplete.
    why: Option<String>,
    counts: VerdictCounts,
    /// The number of known failures that were let pass.
    known: u64,
    /// The number of retries because of line errors.
    repaired: u64,
}

impl<S: Suite> FinishedRun<S> {
    /// Returns the exit code.
    pub fn exit_code(&self) -> u8 {
        exit_code(self.totals.with_known_passing, &self.summary.ended)
    }

    /// Returns the last lines: the conclusion with what was judged, on what, and what was repaired or
    /// not judged; and statistics of board and line.
    pub fn summary_text(&self) -> String {
        let counts = self.totals.counts;
        let with_known_passing = self.totals.with_known_passing;
        let why = incomplete_reason(&self.summary.ended);
        let conclusion = Conclusion::from_counts(with_known_passing, why.is_some());
        let is_incomplete = conclusion == Conclusion::Incomplete;
        let why = why.or_else(|| is_incomplete.then(|| incomplete_counts(with_known_passing)));
        let known = with_known_passing.pass.saturating_sub(counts.pass);
        let repaired = self.stats.total_retries();
        format!("{}\n", Summary { run: self, conclusion, why, counts, known, repaired })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{RunTarget, RunTotals};
    use crate::runner::{CaseResult, RunEnd, RunSummary, Verdict};
    use crate::test_suite::{Result, TestSuite, result};
    use std::time::Duration;

    fn case(verdict: Verdict) -> Result {
        result("x", verdict)
    }

    fn finished(results: &[Result]) -> FinishedRun<TestSuite> {
        let mut totals = RunTotals::default();
        results.iter().for_each(|result| totals.add(result.clone(), None));
        FinishedRun {
            totals,
            summary: RunSummary::default(),
            stats: LinkStats::default(),
            faults: None,
            took: Duration::from_secs(3),
            target: RunTarget::default(),
            boards: Vec::new(),
            report_failure: None,
        }
    }

    fn verdict(results: &[Result], ended: RunEnd) -> String {
        let summary = RunSummary { ended, ..RunSummary::default() };
        FinishedRun { summary, ..finished(results) }.summary_text()
    }

    #[test]
    fn the_verdict_is_followed_by_what_was_judged_repaired_and_let_pass() {
        let passed = case(Verdict::Pass);
        let known = CaseResult { known: true, ..case(Verdict::Fail) };
        let results = [passed.clone(), known];
        let mut stats = LinkStats::default();
        let mut target = RunTarget {
            board: "/dev/ttyUSB0 (RC2014 Classic)".to_owned(),
            builds: vec![0x3F2A_51C0],
            not_judged: Vec::new(),
        };
        let first_line = |results: &[Result], stats, target: &RunTarget| {
            let target = target.clone();
            let text = FinishedRun { stats, target, ..finished(results) }.summary_text();
            text.lines().next().map(str::to_owned).expect("a line")
        };
        let judged = "cases passed, 0 outputs compared, in 3.0 s on /dev/ttyUSB0 (RC2014 \
                      Classic), build 3F2A51C0";
        let one = std::slice::from_ref(&passed);
        assert_eq!(first_line(one, stats, &target), format!("PASS: 1 of 1 {judged}"));
        stats.retries.overrun = 1;
        let expected = format!("PASS: 1 of 1 {judged}, 1 line error repaired");
        assert_eq!(first_line(one, stats, &target), expected);
        stats.retries.timeout = 1;
        target.not_judged = vec!["overflow", "short"];
        let expected = format!(
            "PASS: 1 of 2 {judged}, 1 known failure, 2 line errors repaired, not judged: overflow \
             and short"
        );
        assert_eq!(first_line(&results, stats, &target), expected);
    }

    #[test]
    fn every_verdict_is_counted_once_and_only_passes_make_a_pass() {
        let all = Verdict::ALL.map(case);
        let counts = VerdictCounts::from_results(&all);
        assert!(counts.is_consistent());
        assert_eq!((counts.cases, counts.pass), (7, 1));
        assert!(Verdict::ALL.iter().all(|verdict| counts.get(*verdict) == 1));
        assert!(verdict(&all[..1], RunEnd::Complete).starts_with("PASS"));
        for other in &all[1..] {
            let text = verdict(std::slice::from_ref(other), RunEnd::Complete);
            assert!(text.starts_with("FAIL") || text.starts_with("INCOMPLETE"), "{text}");
        }
        assert!(verdict(&all[..1], RunEnd::BoardLost("gone".into())).starts_with("INCOMPLETE"));
    }
}
