//! `hw-tests run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use firmware_wire::status;
use hil_harness::baseline;
use hil_harness::campaign::{self, Done, Observer, Settings, Surroundings};
use hil_harness::disk::SystemDisk;
use hil_harness::fleet::Member;
use hil_harness::live::{LiveBoard, Plan};
use hil_harness::report;
use hil_harness::runner::Earlier;
use indicatif::{ProgressBar, ProgressStyle};
use program_kit::exit::{Failure, INCOMPLETE, Outcome, USAGE};
use program_kit::text::tell;
use rcflash_rig::DEFAULT_BOARD;
use sargon_cases::Case;

use super::boards::BoardArgs;
use super::select::SelectArgs;
use hw_console::{interruption, print};

#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    board: BoardArgs,
    #[command(flatten)]
    select: SelectArgs,
    /// Spread the cases over all boards of the rig file with this tag, as tag=classic
    #[arg(long, value_name = "tag=TAG", value_parser = tag, conflicts_with_all = ["rig", "port"])]
    all: Option<String>,
    /// Write down how each case ended, as soon as it has, one line of JSON each (docs/TESTING.md)
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Continue the run that wrote the results file
    #[arg(long, requires = "results", conflicts_with = "force")]
    resume: bool,
    /// Write report.html, report.json, report.md and junit.xml into this folder (docs/REPORTS.md)
    #[arg(long, value_name = "DIR")]
    report_dir: Option<PathBuf>,
    /// Only print the cases that are selected: name and tags
    #[arg(long)]
    list: bool,
    /// Ask for every byte of every answer. Otherwise positions are first asked for by checks, and
    /// for every byte only where a check is wrong; verdicts and messages are the same
    #[arg(long, conflicts_with = "replay")]
    full: bool,
    /// Judge against an earlier run, by its results file or report.json: what did not pass then in
    /// the same way is known, and only what is new is a failure (docs/REPORTS.md)
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Put each case to the board so many times; one that passes only sometimes is flaky
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// End with the first case that does not pass
    #[arg(long)]
    fail_fast: bool,
    /// Run the cases over and over for so long: 90s, 30m, 8h. With --results, only cases that do
    /// not pass are written
    #[arg(long = "for", value_name = "TIME", value_parser = duration, conflicts_with = "resume")]
    time: Option<Duration>,
    /// Run so many cases, the same over and over. With --results, only cases that do not pass are
    /// written
    #[arg(long, value_name = "CASES", conflicts_with = "resume")]
    count: Option<u64>,
}

pub(super) fn run(args: &RunArgs) -> Outcome {
    let cases = args.select.cases(args.board.replay.as_deref())?;
    if args.list {
        let line = |case: &Case| format!("{} {}\n", case.id, case.tags.join(" "));
        print(&cases.iter().map(line).collect::<String>())?;
        return Ok(0);
    }
    let several = args.board.several(args.all.as_deref())?;
    let here = Surroundings {
        disk: &SystemDisk,
        clock: Arc::new(Instant::now),
        stop: interruption()?,
        prepare: &LiveBoard::prepare,
        observer: &mut Terminal(ProgressBar::hidden()),
    };
    let full = |plan: Plan| Plan { full: plan.full || args.full, ..plan };
    let settings = Settings { boards: several, ..args.settings(cases)? };
    let done = if settings.boards.is_empty() {
        campaign::run(&settings, args.board.plan().map(full), here)?
    } else {
        args.refuse_soak()?;
        let plan = |name: &String| args.board.member(name).map(full);
        let member = |name: &String| Member { name: name.clone(), plan: plan(name) };
        let members: Vec<_> = settings.boards.iter().map(member).collect();
        campaign::run_many(&settings, &members, here)?
    };
    conclude(&done)
}

/// The tag in `tag=TAG`.
fn tag(text: &str) -> Result<String, String> {
    match text.strip_prefix("tag=") {
        Some(tag) if !tag.is_empty() => Ok(tag.to_owned()),
        _ => Err(format!("'{text}' is not tag=TAG, as tag=classic")),
    }
}

impl RunArgs {
    fn settings(&self, cases: Vec<Case>) -> Result<Settings, Failure> {
        let arguments = std::env::args_os().skip(1);
        Ok(Settings {
            cases,
            profile: self.board.board.clone().unwrap_or_else(|| DEFAULT_BOARD.to_owned()),
            behaviour: self.board.behaviour.to_string(),
            seed: self.select.seed,
            shard: self.select.shard.map(|shard| shard.to_string()),
            faults: self.board.faults,
            repeat: self.repeat,
            fail_fast: self.fail_fast,
            time: self.time,
            count: self.count,
            baseline: self.earlier()?,
            results: self.results.clone(),
            resume: self.resume,
            force: self.board.force,
            report: self.report_dir.clone(),
            arguments: arguments.map(|word| word.to_string_lossy().into_owned()).collect(),
            inspect: self.board.options(),
            board: self.board.described(),
            boards: Vec::new(),
        })
    }

    /// Refuses to run cases over and over on several boards.
    fn refuse_soak(&self) -> Result<(), Failure> {
        if self.time.is_some() || self.count.is_some() {
            let why = "--for and --count are for one board; --repeat puts each case several times";
            return Err(Failure::new(USAGE, why));
        }
        Ok(())
    }

    /// Returns the run that is the baseline.
    fn earlier(&self) -> Result<Option<Arc<Earlier>>, Failure> {
        let Some(path) = &self.baseline else { return Ok(None) };
        if self.results.as_ref().is_some_and(|results| same_file(results, path)) {
            let why = "--baseline and --results name the same file; a run is no baseline of itself";
            return Err(Failure::new(USAGE, why));
        }
        let baseline = baseline::read(path, &self.board.behaviour.to_string())?;
        Ok(Some(Arc::new(baseline)))
    }
}

/// Whether two paths lead to the same file.
fn same_file(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    a == b || real(a).is_some_and(|there| real(b) == Some(there))
}

/// Shows the progress of a run.
struct Terminal(ProgressBar);

impl Observer for Terminal {
    fn ready(&mut self, rig: &LiveBoard) {
        tell(format!("{} on {}", rig.application, rig.board()));
        if !rig.own.is_empty() {
            let own = rig.own.join(", ");
            tell(format!("with routines of your own: {own}{}", not_judged(rig)));
        }
    }

    fn board(&mut self, text: &str) {
        tell(text);
    }

    fn round(&mut self, cases: usize) {
        self.0 = progress_bar(cases);
    }

    fn judged(&mut self, count: usize) {
        self.0.set_position(count as u64);
    }

    fn round_ended(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Prints how a run ended, and returns its exit code.
fn conclude(done: &Done) -> Outcome {
    let Done { overview, course, stats, limit, faults, took, boards, report_failure } = done;
    print(&overview.table())?;
    print(&overview.flags())?;
    print(&overview.troubles())?;
    print(&report::boards_table(boards))?;
    print(&report::summary([overview.counts(), overview.news()], course, *stats, *took))?;
    print(&overview.comparison())?;
    if let Some(load) = limit {
        print(&format!("limit: {load}\n"))?;
    }
    let code = done.exit_code();
    if let Some(faults) = faults {
        print(&format!("faults: {faults}\n"))?;
        if !matches!(code, 0 | INCOMPLETE) {
            tell(format!("the same again: {}", this_run()));
        }
    }
    if let Some(inspection) = overview.inspection() {
        print(&report::advice(inspection))?;
    }
    if let Some(failure) = report_failure {
        tell(format!("hw-tests: {failure}"));
    }
    Ok(code)
}

/// Returns the command line of this run as a shell takes it.
fn this_run() -> String {
    let words: Vec<_> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    report::command_line(words.iter().map(String::as_str))
}

/// A number and a unit: seconds, minutes, hours or days.
fn duration(text: &str) -> Result<Duration, String> {
    let units = [('s', 1), ('m', 60), ('h', 3600), ('d', 86_400)];
    let found = units.iter().find_map(|(unit, seconds)| {
        text.strip_suffix(*unit)?.parse::<u64>().ok()?.checked_mul(*seconds)
    });
    found
        .map(Duration::from_secs)
        .ok_or_else(|| format!("'{text}' is no time; 8h is, or 30m, or 90s"))
}

/// The status bits that routines of the user's own need not set.
fn not_judged(rig: &LiveBoard) -> String {
    let judged = rig.standard().status;
    let bits = [(status::OVERFLOW, "overflow"), (status::SHORT, "short")];
    let left: Vec<_> =
        bits.iter().filter(|(bit, _)| judged & bit == 0).map(|(_, name)| *name).collect();
    if left.is_empty() { String::new() } else { format!("; not judged: {}", left.join(", ")) }
}

/// Draws on a terminal only.
fn progress_bar(cases: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {eta} left");
    ProgressBar::new(cases as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
