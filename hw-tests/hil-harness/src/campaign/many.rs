//! A regression run on several boards at once: one results file, one report, one conclusion.

use std::sync::Arc;
use std::time::Duration;

use cli_support::exit::{Failure, INTERRUPTED, RIG, WRONG};
use rcflash_link::LinkStats;

use super::{Done, Keeper, Reporter, Settings, Surroundings, with_its_code};
use crate::fleet::{Event, Fleet, FleetEnd, Member, Tally, Worked, put};
use crate::report::{self, BoardRow};
use crate::results::Ready;
use crate::runner::{Course, RunEnd};
use sargon_corpus::Case;

/// The end of a board that has had all it could do.
const COMPLETE: &str = "complete";
/// The end of a board that has not come to anything yet.
const NOT_READY: &str = "was not ready before the run was over";

/// Runs cases on several boards at once, writes results and report, and returns how it ended.
///
/// # Errors
/// No board could be made ready, or a file can't be written.
pub fn run_many<'a>(
    settings: &'a Settings,
    members: &'a [Member],
    mut here: Surroundings<'a>,
) -> Result<Done, Failure> {
    let mut head = settings.head(None);
    head.profile = profiles(members);
    let mut reporter = Reporter::begin(settings, head.clone(), None, &here)?;
    let mut keeper = Keeper::new(settings, Arc::clone(&here.clock));
    let outcome = keeper
        .open(settings, &head, here.disk)
        .and_then(|()| keeper.left(settings.cases.clone()))
        .and_then(|cases| {
            put_many(settings, members, &cases, &mut keeper, &mut reporter, &mut here)
        })
        .map_err(|failure| with_its_code(failure, &keeper));
    reporter.finish(keeper, outcome)
}

/// The profiles of the boards, each once.
fn profiles(members: &[Member]) -> String {
    let of = |member: &Member| member.plan.as_ref().ok().map(|plan| plan.profile.name.clone());
    let mut names: Vec<_> = members.iter().filter_map(of).collect();
    names.sort();
    names.dedup();
    names.join(", ")
}

/// The boards while they are at work.
struct Rows {
    rows: Vec<BoardRow>,
    failures: Vec<Failure>,
    stats: LinkStats,
    course: Course,
}

impl Rows {
    fn new(members: &[Member]) -> Self {
        let row = |member: &Member| BoardRow {
            name: member.name.clone(),
            profile: member
                .plan
                .as_ref()
                .map_or_else(|_| String::new(), |it| it.profile.name.clone()),
            ended: NOT_READY.to_owned(),
            ..BoardRow::default()
        };
        let rows = members.iter().map(row).collect();
        let course = Course::default();
        Self { rows, failures: Vec::new(), stats: LinkStats::default(), course }
    }

    /// Notes a board that could not be made ready, and says so; one that was stopped at that has no
    /// trouble, since the others had put all cases already.
    fn failed(&mut self, place: usize, failure: Failure) -> Option<String> {
        let row = &mut self.rows[place];
        let is_stopped = failure.code == INTERRUPTED;
        if !is_stopped {
            row.ended = format!("set-up failed: {}", failure.message);
        }
        self.failures.push(failure);
        (!is_stopped).then(|| format!("{}: {}", row.name, row.ended))
    }

    fn worked(&mut self, Worked { member, course, stats }: Worked) -> Option<String> {
        let row = &mut self.rows[member];
        row.link = Some(stats);
        (row.losses, row.restarts) = (course.losses, course.restarts);
        row.ended = report::incomplete(&course.ended).unwrap_or_else(|| COMPLETE.to_owned());
        let text = format!("{}: {}", row.name, row.ended);
        let is_lost = matches!(course.ended, RunEnd::BoardLost(_));
        self.stats += stats;
        self.course = std::mem::take(&mut self.course).then(course);
        is_lost.then_some(text)
    }

    /// Notes the counts of all boards, and which were set aside.
    fn finish(&mut self, end: &FleetEnd) {
        for (place, row) in self.rows.iter_mut().enumerate() {
            row.counts = end.counts[place];
            row.at_fault = end.strikes[place];
            if end.is_set_aside[place] {
                row.ended = format!(
                    "set aside: in {} cases another board did not have its trouble",
                    row.at_fault
                );
            }
        }
    }

    /// The failure of a run in which no board was ready; of one that lacks an evaluator that can be
    /// built, what is under test is wrong.
    fn failure(&self) -> Option<Failure> {
        let is_all = self.failures.len() == self.rows.len();
        let graver = self.failures.iter().find(|failure| failure.code == WRONG);
        let first = graver.or(self.failures.first()).filter(|_| is_all)?;
        let ends: Vec<_> =
            self.rows.iter().map(|row| format!("{}: {}", row.name, row.ended)).collect();
        let code = if self.failures.iter().all(|failure| failure.code == first.code) {
            first.code
        } else if first.code == WRONG {
            WRONG
        } else {
            RIG
        };
        Some(Failure::new(code, format!("no board is ready: {}", ends.join("; "))))
    }
}

fn put_many(
    settings: &Settings,
    members: &[Member],
    cases: &[Case],
    keeper: &mut Keeper,
    reporter: &mut Reporter,
    here: &mut Surroundings,
) -> Result<Done, Failure> {
    let began = (here.clock)();
    let mut rows = Rows::new(members);
    let fleet = Fleet {
        members,
        cases,
        repeat: settings.repeat,
        fail_fast: settings.fail_fast,
        baseline: settings.baseline.as_deref(),
        prepare: here.prepare,
    };
    here.observer.round(cases.len());
    let stop = Arc::clone(&here.stop);
    let mut failed = None;
    let end = put(&fleet, &stop, |event| {
        let heard = hear(event, &mut rows, keeper, here);
        let goes_on = heard.as_ref().is_ok_and(|goes_on| *goes_on);
        failed = failed.take().or(heard.err());
        goes_on
    });
    here.observer.round_ended();
    if let Some(failure) = failed {
        return Err(failure);
    }
    keeper.check(cases.iter().map(|case| case.id.clone()).collect())?;
    rows.finish(&end);
    reporter.report.boards = rows.rows.clone();
    let is_begun = rows.rows.iter().any(|row| row.counts.cases > 0) || cases.is_empty();
    if let Some(failure) = rows.failure().filter(|_| !is_begun) {
        let _ = keeper.end(Some(failure.message.clone()));
        return Err(failure);
    }
    let course = Course { ended: end.ended.clone(), ..rows.course };
    reporter.report.note_boards(&course, rows.stats);
    keeper.end(report::incomplete(&course.ended))?;
    let took = (here.clock)().saturating_duration_since(began);
    note_tally(end.tally, took, here);
    Ok(Done {
        overview: keeper.overview.clone(),
        stats: rows.stats,
        limit: None,
        faults: None,
        course,
        took,
        boards: rows.rows,
        report_failure: None,
    })
}

/// Takes an event in; whether the run goes on.
fn hear(
    event: Event,
    rows: &mut Rows,
    keeper: &mut Keeper,
    here: &mut Surroundings,
) -> Result<bool, Failure> {
    match event {
        Event::Ready(place, at, image, own) => {
            let row = &mut rows.rows[place];
            let application = image.to_string();
            let own =
                if own.is_empty() { String::new() } else { format!(", own: {}", own.join(", ")) };
            here.observer.board(&format!("{}: {application} on {at}{own}", row.name));
            keeper.ready(Ready { board: row.name.clone(), application })?;
            (row.at, row.image) = (Some(at), Some(image));
        }
        Event::Failed(place, failure) => {
            if let Some(text) = rows.failed(place, failure) {
                here.observer.board(&text);
            }
        }
        Event::Worked(worked) => {
            if let Some(text) = rows.worked(*worked) {
                here.observer.board(&text);
            }
        }
        Event::Settled(result) => {
            let is_kept = keeper.take(*result);
            here.observer.judged(keeper.judged());
            return Ok(is_kept);
        }
    }
    Ok(true)
}

/// Says what the boards did for each other.
fn note_tally(tally: Tally, took: Duration, here: &mut Surroundings) {
    let Tally { repeated, copied, returned } = tally;
    if repeated + copied + returned > 0 && took > Duration::ZERO {
        here.observer.board(&format!(
            "{repeated} cases repeated on another board, {returned} passed on, {copied} copied \
             from slow boards"
        ));
    }
}
