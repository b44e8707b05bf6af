//! A regression run from its first file to its exit code: results, report, board, cases,
//! conclusion.

mod keeper;
mod many;
mod reporter;

pub use keeper::Keeper;
pub use many::run_many;
pub use reporter::Reporter;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cli_support::exit::{Failure, INTERRUPTED, RIG, WRONG};
use rcflash_link::LinkStats;
use rcflash_transport::time::{Duration, Instant};

use crate::board::FaultCounts;
use crate::disk::Disk;
use crate::live::{LiveBoard, Load, Plan, SetupError};
use crate::report::{self, BoardRow, Overview};
use crate::results::{Clock, FORMAT, Head, Ready, digest};
use crate::runner::{Course, Earlier, Options, RunEnd, exit_code, run_cases};
use sargon_corpus::{Case, shuffle};

/// The run to make, and its files.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The cases, in their order.
    pub cases: Vec<Case>,
    /// The name of the profile, if no plan could be made.
    pub profile: String,
    /// The evaluator's behaviour.
    pub behaviour: String,
    /// The seed of the order of the cases.
    pub seed: Option<u64>,
    /// The part of the selection, as `2/5`.
    pub shard: Option<String>,
    /// The seed of faults on the line.
    pub faults: Option<u64>,
    /// The number of times each case is put to the board.
    pub repeat: u32,
    /// Whether the first case that does not pass ends the run.
    pub fail_fast: bool,
    /// The time to run the cases over and over.
    pub time: Option<Duration>,
    /// The number of cases to run, over and over.
    pub count: Option<u64>,
    /// The earlier run whose troubles are known.
    pub baseline: Option<Arc<Earlier>>,
    /// The results file.
    pub results: Option<PathBuf>,
    /// Whether the results file is continued.
    pub resume: bool,
    /// Whether files that are in the way are replaced.
    pub force: bool,
    /// The folder of the report.
    pub report: Option<PathBuf>,
    /// The command line, without the program.
    pub arguments: Vec<String>,
    /// The options of commands that look into wrong answers.
    pub inspect: report::Options,
    /// The name of the board until it is reached.
    pub board: String,
    /// The names of the boards, in a run on several.
    pub boards: Vec<String>,
}

impl Settings {
    /// Whether cases are run over and over.
    #[must_use]
    pub fn is_soak(&self) -> bool {
        self.time.is_some() || self.count.is_some()
    }

    fn head(&self, plan: Option<&Plan>) -> Head {
        Head {
            results: FORMAT,
            program: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
            profile: plan.map_or_else(|| self.profile.clone(), |plan| plan.profile.name.clone()),
            behaviour: self.behaviour.clone(),
            cases: self.cases.len(),
            digest: digest(&self.cases),
            repeat: self.repeat,
            seed: self.seed,
            shard: self.shard.clone(),
            faults: self.faults,
            boards: self.boards.clone(),
        }
    }
}

/// Environment of a run: all that it uses of the world outside.
pub struct Surroundings<'a> {
    /// Its files.
    pub disk: &'a dyn Disk,
    /// Its time.
    pub clock: Clock,
    /// Ends it when set.
    pub stop: Arc<AtomicBool>,
    /// Makes the board ready.
    pub prepare: &'a (dyn Fn(&Plan) -> Result<LiveBoard, SetupError> + Sync),
    /// Is notified of its progress.
    pub observer: &'a mut dyn Observer,
}

/// Is notified of a run's progress.
pub trait Observer {
    /// The board is ready.
    fn ready(&mut self, _rig: &LiveBoard) {}
    /// One of several boards is ready, or has a trouble.
    fn board(&mut self, _text: &str) {}
    /// So many cases are begun.
    fn round(&mut self, _cases: usize) {}
    /// So many of them have a verdict.
    fn judged(&mut self, _count: usize) {}
    /// They have come to their end.
    fn round_ended(&mut self) {}
}

/// A run that has ended.
#[derive(Debug, Clone)]
pub struct Done {
    /// The verdicts.
    pub overview: Overview,
    /// The events of the run besides them.
    pub course: Course,
    /// The traffic of the line.
    pub stats: LinkStats,
    /// The limit of the run.
    pub limit: Option<Load>,
    /// The faults made on the line.
    pub faults: Option<FaultCounts>,
    /// The time it took, without the set-up.
    pub took: Duration,
    /// The boards, in a run on several.
    pub boards: Vec<BoardRow>,
    /// Reason for which the report could not be written as it should be.
    pub report_failure: Option<String>,
}

impl Done {
    /// Returns the exit code.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        exit_code(self.overview.news(), &self.course.ended)
    }
}

/// Runs cases, writes results and report, and returns how it ended. The report is written however
/// the run ends, also if no plan could be made.
///
/// # Errors
/// The set-up failed, or a file can't be written. The code is that of a wrong answer only where
/// routines of the user's own can't be built, or where an earlier run met one.
pub fn run<'a>(
    settings: &'a Settings,
    plan: Result<Plan, Failure>,
    mut here: Surroundings<'a>,
) -> Result<Done, Failure> {
    let head = settings.head(plan.as_ref().ok());
    let mut reporter = Reporter::begin(settings, head.clone(), plan.as_ref().ok(), &here)?;
    let mut keeper = Keeper::new(settings, Arc::clone(&here.clock));
    let outcome = plan
        .map_err(of_the_rig)
        .and_then(|plan| {
            keeper.open(settings, &head, here.disk)?;
            put_all(settings, plan, &mut keeper, &mut reporter, &mut here)
        })
        .map_err(|failure| with_its_code(failure, &keeper));
    reporter.finish(keeper, outcome)
}

/// Gives a failure of the set-up the exit code of the rig: it is no wrong answer, whatever the same
/// failure is elsewhere.
fn of_the_rig(failure: Failure) -> Failure {
    let code = if failure.code == WRONG { RIG } else { failure.code };
    Failure { code, ..failure }
}

/// The failure of a board that is not ready. Sources that can't be built are what is under test:
/// their exit code stays.
fn not_ready(error: SetupError) -> Failure {
    match error {
        SetupError::Build(error) => error.into(),
        other => of_the_rig(other.into()),
    }
}

/// Gives a failure the exit code that the reports agree with: a wrong answer of an earlier run
/// stays one.
fn with_its_code(failure: Failure, keeper: &Keeper) -> Failure {
    let code = if keeper.overview.news().fail > 0 { WRONG } else { failure.code };
    Failure { code, ..failure }
}

/// Gets the board ready, puts the cases to it, and ends the results file.
fn put_all(
    settings: &Settings,
    mut plan: Plan,
    keeper: &mut Keeper,
    reporter: &mut Reporter,
    here: &mut Surroundings,
) -> Result<Done, Failure> {
    plan.stop = Some(Arc::clone(&here.stop));
    if let Some(recording) = &mut plan.recording {
        recording.cases = settings.cases.iter().map(|case| case.id.clone()).collect();
    }
    let cases = keeper.left(settings.cases.clone())?;
    let mut live = match prepare(&plan, keeper, here) {
        Ok(live) => live,
        Err(failure) => {
            keeper.broke_off(&format!("set-up failed: {}", failure.message), &cases);
            return Err(failure);
        }
    };
    reporter.report.note_rig(&live);
    let began = (here.clock)();
    let course = put(settings, &mut live, cases, keeper, here)?;
    if course.ended == RunEnd::Complete {
        live.note_waits();
    }
    reporter.report.note_course(&course, &live);
    reporter.report.rounds = settings.is_soak().then(|| keeper.overview.counts());
    keeper.end(report::incomplete(&course.ended))?;
    let took = (here.clock)().saturating_duration_since(began);
    Ok(Done {
        overview: keeper.overview.clone(),
        stats: live.stats(),
        limit: reporter.report.limit,
        faults: live.faults(),
        course,
        took,
        boards: Vec::new(),
        report_failure: None,
    })
}

/// Gets the board ready, and notes it in the results.
fn prepare(
    plan: &Plan,
    keeper: &mut Keeper,
    here: &mut Surroundings,
) -> Result<LiveBoard, Failure> {
    let live = (here.prepare)(plan).map_err(not_ready)?;
    here.observer.ready(&live);
    let board = live.board().to_owned();
    let application = live.application.to_string();
    keeper.ready(Ready { board, application })?;
    Ok(live)
}

/// Puts the cases to the board, over and over where a time or a number is given.
fn put(
    settings: &Settings,
    live: &mut LiveBoard,
    mut cases: Vec<Case>,
    keeper: &mut Keeper,
    here: &mut Surroundings,
) -> Result<Course, Failure> {
    let until = settings.time.map(|time| (here.clock)() + time);
    let mut left = settings.count.unwrap_or(u64::MAX);
    let mut course = Course::default();
    for pass in 1.. {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(cases.len());
        let (next, put) = put_once(settings, live, &cases[..most], until, keeper, here);
        course = course.then(next);
        left -= put.len() as u64;
        keeper.check(put)?;
        let is_over = !settings.is_soak() || left == 0 || is_late(until, here);
        if is_over || course.ended != RunEnd::Complete {
            break;
        }
        if let Some(seed) = settings.seed {
            shuffle(&mut cases, seed.wrapping_add(pass));
        }
    }
    Ok(course)
}

fn is_late(until: Option<Instant>, here: &Surroundings) -> bool {
    until.is_some_and(|until| (here.clock)() >= until)
}

/// Puts each case to the board, as long as there is time; also returns the names of those put.
fn put_once(
    settings: &Settings,
    live: &mut LiveBoard,
    cases: &[Case],
    until: Option<Instant>,
    keeper: &mut Keeper,
    here: &mut Surroundings,
) -> (Course, Vec<String>) {
    here.observer.round(cases.len());
    let stop = Arc::clone(&here.stop);
    let clock = Arc::clone(&here.clock);
    let Settings { repeat, fail_fast, .. } = *settings;
    let baseline = settings.baseline.as_deref();
    let options = Options { repeat, fail_fast, baseline, interrupted: &stop };
    let mut put = Vec::with_capacity(cases.len());
    let feed = cases
        .iter()
        .take_while(|_| until.is_none_or(|until| clock() < until))
        .inspect(|case| put.push(case.id.clone()))
        .cloned();
    let course = run_cases(live, feed, options, |result| {
        // Results that can't be kept are not worth the board's time.
        if !keeper.take(result) {
            stop.store(true, Ordering::Relaxed);
        }
        here.observer.judged(keeper.judged());
    });
    here.observer.round_ended();
    (course, put)
}

/// Returns the failure of a run that the user stopped.
#[must_use]
pub fn interrupted() -> Failure {
    Failure::new(INTERRUPTED, "interrupted")
}
