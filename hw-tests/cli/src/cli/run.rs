//! `hw-tests run`.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, INCOMPLETE, NOTHING_SELECTED, USAGE};
use cli_support::file_roles::NamedFile;
use cli_support::files::is_same_file;
use cli_support::interrupt::install_handler;
use cli_support::text::{Escape, eprint_message};
use cli_support::time::parse_time;
use firmware::evaluator::built_in_beside;
use hil_harness::campaign::{self, Executor, FinishedRun, Observer, RunConfig, RunContext};
use hil_harness::case_list::CaseList;
use hil_harness::file_system::OsFileSystem;
use hil_harness::fleet::FleetBoard;
use hil_harness::live::{BoardSuite, SetupError};
use hil_harness::report::REPORT_FILES;
use hil_harness::runner::Baseline;
use hil_harness::suite::Suite;
use hil_harness::{baseline, report};
use indicatif::{ProgressBar, ProgressStyle};
use rcflash_link::rig::DEFAULT_BOARD;
use sargon_suite::{BoardConfig, LiveBoard, SargonSuite};

use super::select::SelectArgs;
use cli_support::output::print;
use sargon_suite::args::BoardArgs;

/// Heading of the help.
const EXECUTION: &str = "Execution";
/// How many lines of a list are in memory.
const LINES_PRINTED_AT_ONCE: usize = 1000;

#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    board: BoardArgs,
    /// Print the names and tags of the selected cases, and run none
    #[arg(long, help_heading = super::CASES)]
    list: bool,
    /// Always compare every byte
    ///
    /// By default positions are compared by CRC first, and byte for byte after a mismatch;
    /// verdicts and messages are the same.
    #[arg(
        long,
        conflicts_with = "replay",
        help_heading = EXECUTION,
        hide_short_help = true
    )]
    full: bool,
    #[command(flatten)]
    execution: ExecutionArgs,
}

/// Options of how cases run and where results go, which all runs have.
#[derive(Args)]
pub(super) struct ExecutionArgs {
    /// Append the result of each case to FILE, one JSON object a line
    ///
    /// Each line is written when its case is done (docs/TESTING.md). With --for or --count, only
    /// cases that do not pass are written.
    #[arg(long, value_name = "FILE", help_heading = super::OUTPUT)]
    pub(super) results: Option<PathBuf>,
    /// Continue the run that wrote the results file
    #[arg(long, requires = "results", conflicts_with = "force", help_heading = super::OUTPUT)]
    pub(super) resume: bool,
    /// Write report.html, report.json, report.md and junit.xml to this folder (docs/REPORTS.md)
    #[arg(long, value_name = "DIR", help_heading = super::OUTPUT)]
    pub(super) report_dir: Option<PathBuf>,
    /// Compare with an earlier run and fail only on new failures
    ///
    /// FILE is the results file or the report.json of that run (docs/REPORTS.md).
    #[arg(long, value_name = "FILE", help_heading = super::OUTPUT)]
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
    /// With several boards: fail unless so many are there to the end
    #[arg(long, value_name = "BOARDS", help_heading = EXECUTION, hide_short_help = true)]
    min_boards: Option<usize>,
    /// With several boards: fail unless all are there to the end
    #[arg(long, conflicts_with = "min_boards", help_heading = EXECUTION, hide_short_help = true)]
    require_all: bool,
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
    /// Distribute the cases over all boards of the rig file with this tag, as in tag=classic
    #[arg(
        long,
        value_name = "tag=TAG",
        value_parser = parse_tag,
        conflicts_with_all = ["rig", "port"],
        help_heading = "Board",
        hide_short_help = true
    )]
    all: Option<String>,
}

pub(super) fn run(args: &RunArgs) -> CommandResult {
    if args.list {
        let cases = args.select.cases(args.board.replay.as_deref())?;
        let mut lines = cases.cases().map(|case| format!("{} {}\n", case.id, case.tags.join(" ")));
        while let Some(first) = lines.next() {
            print(
                &lines.by_ref().take(LINES_PRINTED_AT_ONCE).fold(first, |text, line| text + &line),
            )?;
        }
        return Ok(0);
    }
    args.execution.with_report(args.board.force, || run_cases(args))
}

fn run_cases(args: &RunArgs) -> CommandResult {
    let cases = args.select.cases(args.board.replay.as_deref())?;
    let full = |plan: BoardConfig| BoardConfig {
        full_responses: plan.full_responses || args.full,
        ..plan
    };
    let single = || args.board.plan().map(full);
    let mut observer = TerminalObserver(ProgressBar::hidden());
    let prepare = &LiveBoard::prepare;
    let done =
        run_on(&args.board, &args.settings()?, &cases, single, full, prepare, &mut observer)?;
    conclude(&done)
}

/// Runs cases on the board or boards that the options choose. `single` returns the plan of a
/// run on one board, `each` that of one of several.
pub(super) fn run_on<T: Executor>(
    board: &BoardArgs,
    config: &RunConfig,
    cases: &dyn CaseList<<T::Suite as Suite>::Case>,
    single: impl FnOnce() -> Result<T::Plan, CommandError>,
    each: impl Fn(BoardConfig) -> T::Plan,
    prepare: &(dyn Fn(&T::Plan) -> Result<T, SetupError> + Sync),
    observer: &mut dyn Observer<T>,
) -> Result<FinishedRun<T::Suite>, CommandError> {
    let plan = |name: &String| board.config_for(name).map(&each);
    let member = |name: &String| FleetBoard { name: name.clone(), plan: plan(name) };
    let members: Vec<_> = config.boards.iter().map(member).collect();
    let context = RunContext {
        file_system: &OsFileSystem,
        clock: Arc::new(Instant::now),
        stop: install_handler()?,
        prepare,
        observer,
    };
    if members.is_empty() {
        return campaign::run(config, cases, single(), context);
    }
    campaign::run_on_fleet(config, cases, &members, context)
}

/// Parses a duration in which cases can run.
fn parse_soak_time(text: &str) -> Result<Duration, String> {
    match parse_time(text)? {
        Duration::ZERO => Err("no case runs in no time: expected 1s or more".to_owned()),
        time => Ok(time),
    }
}

/// Parses `tag=TAG`.
fn parse_tag(text: &str) -> Result<String, String> {
    match text.strip_prefix("tag=") {
        Some(tag) if !tag.is_empty() => Ok(tag.to_owned()),
        _ => Err(format!("invalid tag '{text}': expected tag=TAG, as in tag=classic")),
    }
}

impl RunArgs {
    fn settings(&self) -> Result<RunConfig, CommandError> {
        Ok(RunConfig {
            profile: self.board.board.clone().unwrap_or_else(|| DEFAULT_BOARD.to_owned()),
            seed: self.select.seed,
            shard: self.select.shard.map(|shard| shard.to_string()),
            faults: self.board.faults,
            follow_up: self.board.options(),
            ..self.execution.config::<SargonSuite>(self.board.behaviour.to_string(), &self.board)?
        })
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
            eprint_message(error);
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
        let boards = board.fleet_names(self.all.as_deref())?;
        let named = boards.len().max(1);
        if let Some(least) = self.min_boards.filter(|least| *least > named) {
            let why =
                format!("--min-boards {least}: expected at most {named}, the number of boards");
            return Err(CommandError::new(USAGE, why));
        }
        let min_boards = if self.require_all { boards.len() } else { self.min_boards.unwrap_or(0) };
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

struct TerminalObserver(ProgressBar);

impl Observer<LiveBoard> for TerminalObserver {
    fn on_ready(&mut self, rig: &LiveBoard) {
        eprint_message(format!("{} on {}", rig.application, rig.board()));
        let own = SargonSuite::own_routines(rig);
        if !own.is_empty() {
            let built_in = built_in_beside(own);
            let own = own.join(", ");
            eprint_message(format!("with routines of your own: {own}{}", unjudged(rig)));
            eprint_message(format!("the others are built in: {built_in}"));
        }
    }

    fn on_board_message(&mut self, text: &str) {
        eprint_message(text);
    }

    fn on_iteration_start(&mut self, cases: usize) {
        self.0 = progress_bar(cases);
    }

    fn on_progress(&mut self, count: usize) {
        self.0.set_position(count as u64);
    }

    fn on_iteration_end(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Prints the summary of a run and returns its exit code.
fn conclude(done: &FinishedRun<SargonSuite>) -> CommandResult {
    let FinishedRun {
        totals: overview,
        summary,
        stats,
        utilization,
        faults,
        took,
        target,
        boards,
        report_failure,
    } = done;
    print(&overview.table())?;
    print(&overview.remarks())?;
    print(&overview.problems_text())?;
    print(&report::boards_table(boards))?;
    print(&report::summary_text(
        [overview.counts(), overview.counts_with_known_passing()],
        summary,
        *stats,
        *took,
        target,
    ))?;
    print(&overview.comparison())?;
    if let Some(load) = utilization {
        print(&format!("limit: {load}\n"))?;
    }
    let code = done.exit_code();
    if let Some(faults) = faults {
        print(&format!("faults: {faults}\n"))?;
        if !matches!(code, 0 | INCOMPLETE) {
            eprint_message(format!("to reproduce: {}", command_line()));
        }
    }
    if let Some(inspection) = overview.follow_up() {
        print(&report::follow_up_text(inspection))?;
    }
    if let Some(failure) = report_failure {
        eprint_message(format!("hw-tests: {failure}"));
    }
    print(&report::missing_boards_text(boards))?;
    Ok(code)
}

/// Returns the command line of this process, quoted for a shell.
fn command_line() -> String {
    let words: Vec<_> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    report::command_line(words.iter().map(String::as_str))
}

/// Lists the status bits that are not judged because the user's routines need not set them.
fn unjudged(rig: &LiveBoard) -> String {
    let left = SargonSuite::not_judged(rig);
    if left.is_empty() { String::new() } else { format!("; not judged: {}", left.join(", ")) }
}

/// Returns a progress bar, which draws on a terminal only.
fn progress_bar(cases: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {eta} left");
    ProgressBar::new(cases as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
