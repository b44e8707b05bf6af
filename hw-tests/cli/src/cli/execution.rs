//! Options of how cases run, and runs on the boards that options choose, of any suite.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, NOTHING_SELECTED, USAGE};
use cli_support::file_roles::NamedFile;
use cli_support::files::is_same_file;
use cli_support::interrupt::install_handler;
use cli_support::output::print;
use cli_support::text::{Escape, eprint_message};
use cli_support::time::parse_time;
use hil_harness::args::{BoardArgs, OUTPUT};
use hil_harness::campaign::{self, Executor, FinishedRun, Member, Observer, RunConfig, RunContext};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::{BoardConfig, SetupError};
use hil_harness::report::REPORT_FILES;
use hil_harness::runner::Baseline;
use hil_harness::suite::Suite;
use hil_harness::{baseline, report};

/// Heading of the help.
pub(super) const EXECUTION: &str = "Execution";

/// How many boards must be there to the end of a run.
#[derive(Debug, Clone, Copy)]
enum MinBoards {
    Count(usize),
    All,
}

/// Options of how cases run and where results go, which all runs have.
#[derive(Args)]
pub(super) struct ExecutionArgs {
    /// Append the result of each case to FILE, one JSON object a line
    ///
    /// Each line is written when its case is done (docs/TESTING.md). With --for or --count, only
    /// cases that do not pass are written.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) results: Option<PathBuf>,
    /// Continue the run that wrote the results file
    #[arg(long, requires = "results", conflicts_with = "force", help_heading = OUTPUT)]
    pub(super) resume: bool,
    /// Write report.html, report.json, report.md and junit.xml to this folder (docs/REPORTS.md)
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(super) report_dir: Option<PathBuf>,
    /// Compare with an earlier run and fail only on new failures
    ///
    /// FILE is the results file or the report.json of that run (docs/REPORTS.md).
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) baseline: Option<PathBuf>,
    /// Run each case this many times; a case that passes only sometimes is flaky
    #[arg(
        long,
        value_name = "TIMES",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = EXECUTION
    )]
    pub(super) repeat: u32,
    /// With several boards: fail unless so many, or all, are there to the end
    #[arg(
        long,
        value_name = "BOARDS|all",
        value_parser = parse_min_boards,
        help_heading = EXECUTION,
        hide_short_help = true
    )]
    min_boards: Option<MinBoards>,
    /// Stop at the first case that does not pass
    #[arg(long, help_heading = EXECUTION)]
    pub(super) fail_fast: bool,
    /// Soak test: repeat the cases for this long, as in 90s, 30m or 8h
    #[arg(
        long = "for",
        value_name = "TIME",
        value_parser = parse_soak_time,
        conflicts_with = "resume",
        help_heading = EXECUTION
    )]
    time: Option<Duration>,
    /// Soak test: repeat the cases until this many have run
    #[arg(
        long,
        value_name = "CASES",
        value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with = "resume",
        help_heading = EXECUTION
    )]
    count: Option<u64>,
    /// Distribute the cases over all boards of the rig file with this tag
    #[arg(
        long,
        value_name = "TAG",
        conflicts_with_all = ["rig", "port"],
        help_heading = "Board",
        hide_short_help = true
    )]
    rig_tag: Option<String>,
}

/// Runs cases on the board or boards that the options choose. `single` returns the plan of a
/// run on one board, `each` that of one of several.
pub(super) fn run_on<T: Executor>(
    board: &BoardArgs,
    config: &RunConfig,
    cases: &[<T::Suite as Suite>::Case],
    single: impl FnOnce() -> Result<T::Plan, CommandError>,
    each: impl Fn(BoardConfig) -> Result<T::Plan, CommandError>,
    prepare: &(dyn Fn(&T::Plan) -> Result<T, SetupError> + Sync),
    observer: &mut dyn Observer<T::Suite>,
) -> Result<FinishedRun<T::Suite>, CommandError> {
    let plan = |name: &String| board.config_for(name).and_then(&each);
    let member = |name: &String| Member { name: name.clone(), plan: plan(name) };
    let mut members: Vec<_> = config.boards.iter().map(member).collect();
    if members.is_empty() {
        members.push(Member { name: config.board.clone(), plan: single() });
    }
    let context = RunContext {
        file_system: &OsFileSystem,
        clock: Arc::new(Instant::now),
        stop: install_handler()?,
        prepare,
        observer,
    };
    campaign::run(config, cases, &members, context)
}

/// Prints the boards, the comparison with the baseline and the summary of a run.
pub(super) fn print_end<S: Suite>(done: &FinishedRun<S>) -> Result<(), CommandError> {
    print(&report::boards_table(&done.boards))?;
    print(&done.totals.comparison())?;
    print(&done.summary_text())?;
    print_report_failure(done);
    Ok(())
}

/// Prints why the report of a run could not be written, if it could not.
pub(super) fn print_report_failure<S: Suite>(done: &FinishedRun<S>) {
    if let Some(failure) = &done.report_failure {
        eprint_message(format!("hw-tests: {failure}"));
    }
}

/// Parses a duration in which cases can run.
fn parse_soak_time(text: &str) -> Result<Duration, String> {
    match parse_time(text)? {
        Duration::ZERO => Err("no case runs in no time: expected 1s or more".to_owned()),
        time => Ok(time),
    }
}

/// Parses a number of boards, or `all`.
fn parse_min_boards(text: &str) -> Result<MinBoards, String> {
    match text {
        "all" => Ok(MinBoards::All),
        _ => text
            .parse()
            .map(MinBoards::Count)
            .map_err(|_| format!("invalid number of boards '{text}': expected a number, or all")),
    }
}

impl ExecutionArgs {
    /// Runs cases. Whether the report can be written is checked first. A run that ends without
    /// results leaves the reason there, but keeps an earlier report.
    pub(super) fn with_report(
        &self,
        force: bool,
        run: impl FnOnce() -> CommandResult,
    ) -> CommandResult {
        let Some(folder) = &self.report_dir else { return run() };
        report::prepare_folder(&OsFileSystem, folder, force)?;
        let written = || folder.join(REPORT_FILES[0]).metadata().and_then(|file| file.modified());
        let earlier = written().ok();
        let result = run();
        if earlier.is_some() && earlier == written().ok() {
            let folder = folder.escaped();
            eprint_message(format!("hw-tests: the report in {folder} is of an earlier run"));
            return result;
        }
        let why = match &result {
            Err(error) => error.message.clone(),
            Ok(NOTHING_SELECTED) => "no case is selected".to_owned(),
            Ok(code) => format!("exit code {code}"),
        };
        if let Err(error) = report::write_no_run(&OsFileSystem, folder, &why) {
            eprint_message(error.message);
        }
        result
    }

    /// Returns the files that are written.
    pub(super) fn outputs(&self) -> Vec<NamedFile> {
        let report = self.report_dir.iter().flat_map(|folder| {
            REPORT_FILES.map(|name| NamedFile::new("--report-dir", &folder.join(name)))
        });
        let results = self.results.iter().map(|path| NamedFile::new("--results", path));
        results.chain(report).collect()
    }

    /// Returns the part of a run's configuration that these options and those of the board decide.
    pub(super) fn config<S: Suite>(
        &self,
        behaviour: String,
        board: &BoardArgs,
    ) -> Result<RunConfig, CommandError> {
        let arguments = std::env::args_os().skip(1);
        let boards = board.fleet_names(self.rig_tag.as_deref())?;
        let named = boards.len().max(1);
        let min_boards = match self.min_boards {
            None => 0,
            Some(MinBoards::All) => boards.len(),
            Some(MinBoards::Count(least)) if least > named => {
                let why = format!(
                    "--min-boards {least}: expected at most {named}, the number of boards, or all"
                );
                return Err(CommandError::new(USAGE, why));
            }
            Some(MinBoards::Count(least)) => least,
        };
        Ok(RunConfig {
            min_boards,
            boards,
            repeat: self.repeat,
            fail_fast: self.fail_fast,
            time: self.time,
            count: self.count,
            baseline: self.read_baseline::<S>(&behaviour)?,
            behaviour,
            results: self.results.clone(),
            resume: self.resume,
            force: board.force,
            report: self.report_dir.clone(),
            commit: self.report_dir.as_ref().and_then(|_| commit()),
            arguments: arguments.map(|word| word.to_string_lossy().into_owned()).collect(),
            board: board.display_name(),
            ..RunConfig::default()
        })
    }

    fn read_baseline<S: Suite>(
        &self,
        behaviour: &str,
    ) -> Result<Option<Arc<Baseline>>, CommandError> {
        let Some(path) = &self.baseline else { return Ok(None) };
        let report = self.report_dir.as_ref().map(|folder| folder.join(REPORT_FILES[0]));
        if self.resume && report.is_some_and(|report| is_same_file(&report, path)) {
            let why = format!(
                "--baseline {} may be the report of the run that --resume continues; a run cannot \
                 be its own baseline: copy the report before the run, and name the copy",
                path.escaped()
            );
            return Err(CommandError::new(USAGE, why));
        }
        Ok(Some(Arc::new(baseline::read::<S>(path, behaviour)?)))
    }
}

/// Returns the git commit of the current folder; `None` outside of a repository and without git.
fn commit() -> Option<String> {
    let mut git = Command::new("git");
    let output = git.args(["rev-parse", "--verify", "HEAD"]).output().ok()?;
    let commit = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !commit.is_empty()).then_some(commit)
}
