//! `hw-tests report`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use cli_support::exit::{CommandError, CommandResult, FAILED, USAGE};
use cli_support::file_roles::{NamedFile, refuse_overwriting};
use cli_support::output::print;
use cli_support::text::Escape;
use hil_harness::file_system::OsFileSystem;
use hil_harness::report::{
    self, History, PastRun, REPORT_FILES, Report, RunDiff, StoredReport, merge_shards,
};
use hil_harness::runner::{RunEnd, VerdictCounts, exit_code};
use hil_harness::suite::Suite;
use sargon_suite::SargonSuite;
use testfile_suite::TestFiles;

use super::test::add_folder;

#[derive(Args)]
pub(super) struct ReportArgs {
    #[command(subcommand)]
    command: ReportCommand,
}

#[derive(Subcommand)]
enum ReportCommand {
    /// Show pass rates, flaky cases, T-states and line errors over many runs
    #[command(after_help = "\
Example:
  hw-tests report history archive --report-dir history")]
    History(HistoryArgs),
    /// Join the reports of all shards of one run
    #[command(after_help = "\
The exit code is that of the whole run.

Example:
  hw-tests report merge one/report.json two/report.json --report-dir whole")]
    Merge(MergeArgs),
    /// Compare two runs: new failures, fixed cases, other T-states
    #[command(after_help = "\
Exit code 1: a new failure.

Example:
  hw-tests report diff before/report.json after/report.json")]
    Diff(DiffArgs),
}

#[derive(Args)]
struct HistoryArgs {
    /// Files report.json, or folders that are searched for *.json
    #[arg(required = true, value_name = "DIR")]
    reports: Vec<PathBuf>,
    /// Write history.html and history.json to this folder
    #[arg(long, value_name = "DIR")]
    report_dir: Option<PathBuf>,
    /// Replace files that are not of this program
    #[arg(long)]
    force: bool,
}

#[derive(Args)]
struct MergeArgs {
    /// The files report.json of the shards, or their folders
    #[arg(required = true, value_name = "FILE")]
    reports: Vec<PathBuf>,
    /// Write report.html, report.json, report.md and junit.xml to this folder
    #[arg(long, value_name = "DIR", required = true)]
    report_dir: PathBuf,
    /// Replace files that are not of this program
    #[arg(long)]
    force: bool,
}

#[derive(Args)]
struct DiffArgs {
    /// report.json of the first run
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// report.json of the second run
    #[arg(value_name = "AFTER")]
    after: PathBuf,
}

pub(super) fn report(args: &ReportArgs) -> CommandResult {
    match &args.command {
        ReportCommand::History(args) => history(args),
        ReportCommand::Merge(args) => {
            let paths = find_reports(&args.reports)?;
            let inputs: Vec<_> =
                paths.iter().map(|path| NamedFile::new("a report to merge", path)).collect();
            let outputs = REPORT_FILES
                .map(|name| NamedFile::new("--report-dir", &args.report_dir.join(name)));
            refuse_overwriting(&outputs, &inputs)?;
            let reports = paths.iter().map(|path| StoredReport::read(path));
            let reports = reports.collect::<Result<Vec<_>, _>>()?;
            match reports.iter().all(StoredReport::is_of::<TestFiles>) {
                true => merge::<TestFiles>(args, reports),
                false => merge::<SargonSuite>(args, reports),
            }
        }
        ReportCommand::Diff(args) => {
            let reports = [&args.before, &args.after].map(|path| StoredReport::read(path));
            let [before, after] = reports;
            let (before, after) = (before?, after?);
            match after.is_of::<TestFiles>() {
                true => diff::<TestFiles>(before, after),
                false => diff::<SargonSuite>(before, after),
            }
        }
    }
}

fn history(args: &HistoryArgs) -> CommandResult {
    let mut runs = Vec::new();
    for path in find_reports(&args.reports)? {
        let stored = StoredReport::read(&path)?;
        let file = path.to_string_lossy().into_owned();
        runs.push(match stored.is_of::<TestFiles>() {
            true => PastRun::new(file, stored.parse::<TestFiles>()?),
            false => PastRun::new(file, stored.parse::<SargonSuite>()?),
        });
    }
    let history = History::new(runs);
    print(&format!("{history}\n"))?;
    if let Some(folder) = &args.report_dir {
        report::write_history(&OsFileSystem, &history, folder, args.force)?;
    }
    Ok(0)
}

fn merge<S: Suite>(args: &MergeArgs, reports: Vec<StoredReport>) -> CommandResult {
    let parse = |stored: StoredReport| Ok((stored.path.clone(), stored.parse::<S>()?));
    let shards = reports.into_iter().map(parse).collect::<Result<Vec<_>, CommandError>>()?;
    let whole = merge_shards(shards)?;
    report::prepare_folder(&OsFileSystem, &args.report_dir, args.force)?;
    report::write_files(&whole, &OsFileSystem, &args.report_dir)?;
    print(&format!("{}: {}\n", whole.outcome, whole.headline().escaped()))?;
    let counts = VerdictCounts::excluding_known(&whole.cases);
    let ended = whole.summary.map_or(RunEnd::Complete, |summary| summary.ended);
    Ok(exit_code(counts, &ended))
}

fn diff<S: Suite>(before: StoredReport, after: StoredReport) -> CommandResult {
    let (before, after): (Report<S>, Report<S>) = (before.parse()?, after.parse()?);
    let diff = RunDiff::new(&before, &after);
    print(&format!("{diff}\n"))?;
    Ok(if diff.new.is_empty() { 0 } else { FAILED })
}

/// Returns the reports that arguments name: themselves, and those in folders, each once.
fn find_reports(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = Vec::new();
    for argument in arguments.iter().filter(|path| !path.is_dir()) {
        files.push(argument.clone());
    }
    for folder in arguments.iter().filter(|path| path.is_dir()) {
        let mut found = Vec::new();
        add_folder(folder, &[".json"], &mut found)?;
        for path in found {
            if StoredReport::is_at(&path)? {
                files.push(path);
            }
        }
    }
    files.sort();
    files.dedup();
    if files.is_empty() {
        let folders: Vec<_> = arguments.iter().map(|path| path.escaped()).collect();
        let message = format!("{} has no report.json", folders.join(", "));
        return Err(CommandError::new(USAGE, message));
    }
    Ok(files)
}
