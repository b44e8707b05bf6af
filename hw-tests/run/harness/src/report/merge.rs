//! Joins the reports of the shards of one run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use chrono::DateTime;
use cli_support::exit::{CommandError, USAGE};
use cli_support::text::Escape;
use rcflash_link::LinkStats;

use super::{BoardSummary, FollowUpOptions, Report};
use crate::runner::{RunEnd, RunSummary};
use crate::select::Shard;
use crate::suite::Suite;

/// Returns the error that reports are not those of all shards of one run.
fn wrong(problem: String) -> CommandError {
    CommandError::new(USAGE, problem)
}

/// Joins the reports of all shards of one run, each with its path, to that of the whole run.
///
/// # Errors
/// Returns an error unless the reports are of all shards of one run.
pub fn merge_shards<S: Suite>(
    reports: Vec<(PathBuf, Report<S>)>,
) -> Result<Report<S>, CommandError> {
    let mut shards = Vec::new();
    for (path, report) in reports {
        let shard = report.run.shard.as_ref().and_then(|shard| shard.parse::<Shard>().ok());
        let Some(shard) = shard else {
            let path = path.escaped();
            let problem = "is of no shard: expected a report of a run with --shard";
            return Err(wrong(format!("{path} {problem}")));
        };
        shards.push((shard, path, report));
    }
    shards.sort_by_key(|(shard, ..)| (shard.of, shard.part));
    check_one_run(&shards)?;
    let reports: Vec<_> = shards.into_iter().map(|(.., report)| report).collect();
    Ok(join(reports))
}

type ShardReport<S> = (Shard, PathBuf, Report<S>);

fn check_one_run<S: Suite>(shards: &[ShardReport<S>]) -> Result<(), CommandError> {
    for pair in shards.windows(2) {
        let [(first, path, report), (second, other, next)] = pair else { continue };
        let [path, other] = [path, other].map(|path| path.escaped());
        let facts = facts(*second, next).into_iter().zip(facts(*first, report));
        for ((what, now), (_, before)) in facts {
            if let (Some(now), Some(before)) = (now, before)
                && now != before
            {
                let [now, before] = [now, before].map(|value| value.escaped());
                return Err(wrong(format!(
                    "{other} is of another run than {path}: {what} is {now}, and {before} there"
                )));
            }
        }
        if first == second {
            return Err(wrong(format!("{path} and {other} are both of shard {first}")));
        }
    }
    let of = shards.first().map_or(0, |(shard, ..)| shard.of);
    let is_there = |part: &usize| shards.iter().any(|(shard, ..)| shard.part == *part);
    let missing = (1..=of).filter(|part| !is_there(part));
    let missing: Vec<_> = missing.map(|part| Shard { part, of }.to_string()).collect();
    if !missing.is_empty() {
        return Err(wrong(format!("no report of shard {}", missing.join(", "))));
    }
    let mut ids = BTreeSet::new();
    for (_, path, report) in shards {
        if let Some(case) = report.cases.iter().find(|case| !ids.insert(&case.id)) {
            let (path, id) = (path.escaped(), case.id.escaped());
            return Err(wrong(format!("{path}: another shard has the case {id}, too")));
        }
    }
    Ok(())
}

/// Returns what all shards of a run have in common; `None` for what is not known of this one.
fn facts<S: Suite>(shard: Shard, report: &Report<S>) -> [(&'static str, Option<String>); 12] {
    let run = &report.run;
    let number = |number: Option<u64>| number.map_or("none".to_owned(), |seed| seed.to_string());
    let given = |is_given: bool| if is_given { "given" } else { "not given" }.to_owned();
    let is_soak = report.summary.is_some().then(|| given(report.rounds.is_some()));
    [
        ("the number of shards", Some(shard.of.to_string())),
        ("the program", Some(run.program.clone())),
        ("the board's profile", Some(run.profile.clone())),
        ("the behaviour", Some(run.behaviour.clone())),
        ("--repeat", Some(run.repeat.to_string())),
        ("--shuffle", Some(number(run.seed))),
        ("--faults", Some(number(run.faults))),
        ("--for or --count", is_soak),
        ("--baseline", Some(given(report.baseline.is_some()))),
        ("the commit", report.commit.clone()),
        ("the build", Some(report.builds().join(", ")).filter(|builds| !builds.is_empty())),
        ("the list of own routines", Some(report.user_routines.join(", "))),
    ]
}

/// Joins reports in this order.
fn join<S: Suite>(mut reports: Vec<Report<S>>) -> Report<S> {
    let rows = joined_rows(&reports);
    let is_single = rows.len() == 1 && reports.iter().all(|report| report.boards.is_empty());
    if !is_single {
        reports.iter_mut().for_each(name_board);
    }
    let took = end(&reports);
    let mut parts = reports.into_iter();
    let Some(mut all) = parts.next() else { unreachable!("a run has a shard") };
    let mut ended = summary(&all);
    all.incomplete = of_shard(&all, all.incomplete.clone());
    for part in parts {
        let next = summary(&part);
        let first_end = if ended.ended == RunEnd::Complete { &next } else { &ended }.ended.clone();
        ended = RunSummary { ended: first_end, ..ended.merge(next) };
        add(&mut all, part);
    }
    all.run.shard = None;
    all.arguments = without_shard(&all.arguments);
    all.summary = Some(ended);
    if !is_single {
        (all.board, all.image) = (None, None);
        all.run.boards = rows.iter().map(|row| row.name.clone()).collect();
        all.boards = rows;
    }
    let cases = std::mem::take(&mut all.cases);
    let (follow_ups, baseline) = (std::mem::take(&mut all.follow_ups), all.baseline.take());
    all.set_cases(cases, took, &FollowUpOptions::default(), None);
    Report { follow_ups, baseline, ..all }
}

/// Adds a shard to those before it, but for what the end of the run and the cases decide.
fn add<S: Suite>(all: &mut Report<S>, mut part: Report<S>) {
    let why = of_shard(&part, part.incomplete.clone());
    let texts = [all.incomplete.take(), why].into_iter().flatten().collect::<Vec<_>>();
    all.incomplete = (!texts.is_empty()).then(|| texts.join("; "));
    all.run.cases += part.run.cases;
    all.run.digest = sum_of_digests(&all.run.digest, &part.run.digest);
    all.started = std::mem::take(&mut all.started).min(part.started);
    all.image = all.image.take().or(part.image);
    all.link = add_links(all.link, part.link);
    if let (Some(all), Some(part)) = (&mut all.rounds, part.rounds) {
        *all += part;
    }
    if let (Some(all), Some(part)) = (&mut all.baseline, part.baseline) {
        all.known.extend(part.known);
        all.new.extend(part.new);
        all.fixed.extend(part.fixed);
    }
    all.follow_ups.append(&mut part.follow_ups);
    all.cases.append(&mut part.cases);
}

fn add_links(first: Option<LinkStats>, second: Option<LinkStats>) -> Option<LinkStats> {
    [first, second].into_iter().flatten().reduce(|sum, link| [sum, link].into_iter().sum())
}

/// The digest of cases is a sum over them.
fn sum_of_digests(a: &str, b: &str) -> String {
    let number = |digest| u64::from_str_radix(digest, 16).unwrap_or_default();
    format!("{:016X}", number(a).wrapping_add(number(b)))
}

/// Names the shard in the reason why it is incomplete.
fn of_shard<S: Suite>(report: &Report<S>, why: Option<String>) -> Option<String> {
    let shard = report.run.shard.as_deref().unwrap_or_default();
    why.map(|why| format!("shard {shard}: {why}"))
}

/// Returns the end of a shard; that of one that never had a board is a lost board.
fn summary<S: Suite>(report: &Report<S>) -> RunSummary {
    let lost = |why: &String| RunSummary {
        ended: RunEnd::BoardLost(why.clone()),
        ..RunSummary::default()
    };
    let unfinished = report.incomplete.as_ref().map(lost);
    report.summary.clone().or(unfinished).unwrap_or_default()
}

/// Names the board of a run on one in its cases, as a run on several does.
fn name_board<S: Suite>(report: &mut Report<S>) {
    if !report.boards.is_empty() {
        return;
    }
    let name = report.board_rows().swap_remove(0).name;
    for case in report.cases.iter_mut().filter(|case| case.is_answered()) {
        case.board = Some(name.clone());
    }
}

/// Returns a row for each board; those of the same name are one board.
fn joined_rows<S: Suite>(reports: &[Report<S>]) -> Vec<BoardSummary> {
    let mut rows = Vec::<BoardSummary>::new();
    for row in reports.iter().flat_map(Report::board_rows) {
        let Some(known) = rows.iter_mut().find(|known| known.name == row.name) else {
            rows.push(row);
            continue;
        };
        known.image = known.image.take().or(row.image);
        known.counts += row.counts;
        known.at_fault += row.at_fault;
        known.is_missing |= row.is_missing;
        known.losses += row.losses;
        known.restarts += row.restarts;
        known.link = add_links(known.link, row.link);
        if row.is_missing {
            known.ended = row.ended;
        }
    }
    rows
}

/// Returns the time from the earliest start to the latest end.
fn end<S: Suite>(reports: &[Report<S>]) -> Duration {
    let start = |report: &Report<S>| {
        DateTime::parse_from_rfc3339(&report.started).map_or(0, |time| time.timestamp_millis())
    };
    let first = reports.iter().map(start).min().unwrap_or_default();
    let ends = reports.iter().map(|report| (start(report) - first) as u64 + report.elapsed_ms);
    Duration::from_millis(ends.max().unwrap_or_default())
}

/// Returns a command line without `--shard`.
fn without_shard(arguments: &[String]) -> Vec<String> {
    let mut arguments = arguments.iter();
    let mut left = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--shard" => _ = arguments.next(),
            other if other.starts_with("--shard=") => {}
            other => left.push(other.to_owned()),
        }
    }
    left
}
