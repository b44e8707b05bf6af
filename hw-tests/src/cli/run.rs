//! `hw-tests run`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use firmware::wire::status;
use hw_tests::corpus::{Case, shuffle};
use hw_tests::report::{self, Report};
use hw_tests::rig::{Plan, Rig};
use hw_tests::runner::log::{FORMAT, Head, Ready};
use hw_tests::runner::{Counts, Course, Ended, Options, run_cases};
use indicatif::{ProgressBar, ProgressStyle};
use rcflash::exit::{Failure, INCOMPLETE, INTERRUPTED, Outcome, RIG, WRONG};
use rcflash::rig::DEFAULT_BOARD;

use super::reports::{ReportArgs, Reporter};
use super::results::{Keeper, ResultsArgs};
use super::select::SelectArgs;
use super::{BoardArgs, interruption, print};

#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    board: BoardArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    results: ResultsArgs,
    #[command(flatten)]
    reports: ReportArgs,
    /// Only print the cases that are selected: name and tags
    #[arg(long)]
    list: bool,
    /// Put each case to the board so many times; one that passes only sometimes is flaky
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// End with the first case that does not pass
    #[arg(long)]
    fail_fast: bool,
    /// Run the cases over and over for so long: 90s, 30m, 8h. With --results, only cases that do not pass are written
    #[arg(long = "for", value_name = "TIME", value_parser = duration, conflicts_with = "resume")]
    time: Option<Duration>,
    /// Run so many cases, the same over and over. With --results, only cases that do not pass are written
    #[arg(long, value_name = "CASES", conflicts_with = "resume")]
    count: Option<u64>,
}

impl RunArgs {
    /// Whether cases are run over and over.
    fn is_soak(&self) -> bool {
        self.time.is_some() || self.count.is_some()
    }
}

pub(super) fn run(args: &RunArgs) -> Outcome {
    let cases = args.select.cases(args.board.replay.as_deref())?;
    if args.list {
        let line = |case: &Case| format!("{} {}\n", case.id, case.tags.join(" "));
        print(&cases.iter().map(line).collect::<String>())?;
        return Ok(0);
    }
    let stop = interruption()?;
    let plan = args.board.plan();
    let head = head(args, plan.as_ref().ok(), cases.len());
    let named = args.board.described();
    let known = plan.as_ref().ok().map(|plan| (plan, named.as_str()));
    let mut reporter = Reporter::begin(&args.reports, head.clone(), known, &cases)?;
    let mut keeper = Keeper::default();
    keeper.gathered = args.reports.gathered();
    let outcome = plan.and_then(|mut plan| {
        plan.stop = Some(Arc::clone(&stop));
        keeper.open(&args.results, &head, args.is_soak())?;
        put_all(args, plan, cases, &mut keeper, &mut reporter.report)
    });
    reporter.finish(keeper.gathered, outcome)
}

/// Gets the board ready, puts the cases to it, and prints what came of them.
fn put_all(
    args: &RunArgs,
    mut plan: Plan,
    cases: Vec<Case>,
    keeper: &mut Keeper,
    report: &mut Report,
) -> Outcome {
    if let Some(recording) = &mut plan.recording {
        recording.cases = cases.iter().map(|case| case.id.clone()).collect();
    }
    let cases = keeper.left(cases)?;
    let stop = plan.stop.clone().unwrap_or_default();
    let mut rig = match prepare(&plan, keeper) {
        Ok(rig) => rig,
        Err(failure) => {
            keeper.broke_off(&format!("set-up failed: {}", failure.message), &cases);
            return Err(failure);
        }
    };
    report.note_rig(&rig);
    let began = Instant::now();
    let course = put(args, &mut rig, cases, keeper, &stop)?;
    report.note_course(&course, &rig);
    report.rounds = args.is_soak().then(|| keeper.overview.counts());
    keeper.end(report::incomplete(&course.ended))?;
    let counts = keeper.overview.counts();
    print(&keeper.overview.table())?;
    print(&keeper.overview.flags())?;
    print(&keeper.overview.troubles())?;
    print(&report::summary(counts, &course, rig.stats(), began.elapsed()))?;
    if let Some(load) = report.limit {
        print(&format!("limit: {load}\n"))?;
    }
    let code = exit_code(counts, &course.ended);
    if let Some(faults) = rig.faults() {
        print(&format!("faults: {faults}\n"))?;
        if !matches!(code, 0 | INCOMPLETE) {
            eprintln!("the same again: {}", command_line());
        }
    }
    Ok(code)
}

/// What the user typed.
fn command_line() -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    let quoted = |word: String| {
        if !word.is_empty() && word.chars().all(is_plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    std::env::args().map(quoted).collect::<Vec<_>>().join(" ")
}

/// What the results file begins with.
fn head(args: &RunArgs, plan: Option<&Plan>, cases: usize) -> Head {
    let asked = || args.board.board.clone().unwrap_or_else(|| DEFAULT_BOARD.to_owned());
    Head {
        results: FORMAT,
        program: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
        profile: plan.map_or_else(asked, |plan| plan.profile.name.clone()),
        behaviour: args.board.behaviour.to_string(),
        cases,
        repeat: args.repeat,
        seed: args.select.seed,
        shard: args.select.shard.map(|shard| shard.to_string()),
    }
}

fn prepare(plan: &Plan, keeper: &mut Keeper) -> Result<Rig, Failure> {
    let rig = Rig::prepare(plan)?;
    eprintln!("{} on {}", rig.application, rig.board());
    if !rig.own.is_empty() {
        eprintln!("with routines of your own: {}{}", rig.own.join(", "), not_judged(&rig));
    }
    let (board, application) = (rig.board().to_owned(), rig.application.to_string());
    keeper.ready(Ready { board, application })?;
    Ok(rig)
}

/// Puts the cases to the board, over and over where a time is given.
fn put(
    args: &RunArgs,
    rig: &mut Rig,
    mut cases: Vec<Case>,
    keeper: &mut Keeper,
    stop: &AtomicBool,
) -> Result<Course, Failure> {
    let until = args.time.map(|time| Instant::now() + time);
    let is_late = || until.is_some_and(|until| Instant::now() >= until);
    let mut left = args.count.unwrap_or(u64::MAX);
    let options = Options { repeat: args.repeat, fail_fast: args.fail_fast, interrupted: stop };
    let mut course = Course::default();
    for pass in 1.. {
        let bar = progress_bar(cases.len());
        let mut put = Vec::with_capacity(cases.len());
        let feed = cases
            .iter()
            .take(usize::try_from(left).unwrap_or(usize::MAX))
            .take_while(|_| !is_late())
            .inspect(|case| put.push(case.id.clone()));
        course = course.then(run_cases(rig, feed.cloned(), options, |result| {
            if !keeper.take(result) {
                stop.store(true, Ordering::Relaxed);
            }
            bar.set_position(keeper.judged() as u64);
        }));
        bar.finish_and_clear();
        left -= put.len() as u64;
        keeper.check(put)?;
        if !args.is_soak() || is_late() || left == 0 || course.ended != Ended::Complete {
            break;
        }
        if let Some(seed) = args.select.seed {
            shuffle(&mut cases, seed.wrapping_add(pass));
        }
    }
    Ok(course)
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
fn not_judged(rig: &Rig) -> String {
    let judged = rig.standard().status;
    let bits = [(status::OVERFLOW, "overflow"), (status::SHORT, "short")];
    let left: Vec<_> =
        bits.iter().filter(|(bit, _)| judged & bit == 0).map(|(_, name)| *name).collect();
    if left.is_empty() { String::new() } else { format!("; not judged: {}", left.join(", ")) }
}

/// A wrong residue outweighs everything; then what kept cases from being judged.
fn exit_code(counts: Counts, ended: &Ended) -> u8 {
    match ended {
        _ if counts.fail > 0 => WRONG,
        Ended::Interrupted => INTERRUPTED,
        Ended::BoardLost(_) => RIG,
        _ if counts.timeout + counts.error > 0 => RIG,
        _ if counts.pass < counts.cases => INCOMPLETE,
        _ => 0,
    }
}

/// Draws on a terminal only.
fn progress_bar(cases: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {eta} left");
    ProgressBar::new(cases as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
