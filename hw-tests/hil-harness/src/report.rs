//! The report of a run: on the terminal a table by tag, the cases that did not pass, and a summary;
//! in files all of it.

mod boards;
mod facts;
mod files;
mod gather;
mod inspect;
mod junit;
mod limit;
mod markdown;
mod model;
mod page;

pub use boards::{BoardRow, table as boards_table};
pub use files::{WriteError, prepare_folder, write};
pub use gather::Gathered;
pub use inspect::{Inspection, Options, command_line};
pub use model::{Board, Report, SCHEMA};

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::time::Duration;

use cli_support::text::Show;
use firmware_wire::status;
use rcflash_link::LinkStats;

use crate::runner::{CaseResult, Compared, Conclusion, Counts, Course, RunEnd, Verdict, shortfall};

/// Differences shown for one case.
const DIFFERENCES_SHOWN: usize = 6;
/// Cases shown that did not pass.
const CASES_SHOWN: usize = 20;
/// Cases shown for each status bit.
const FLAGS_SHOWN: usize = 100;
/// Status bits, and what is said of the squares that have them.
const FLAGS: [(u8, &str); 2] = [(status::OVERFLOW, "overflow"), (status::SHORT, "count too high")];

/// Totals of a run, gathered case by case: they do not grow with the number of cases.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    all: Counts,
    news: Counts,
    /// With a baseline: cases that are known, new, and mended.
    compared: Option<[u64; 3]>,
    by_tag: BTreeMap<String, Counts>,
    flags: [Lines; FLAGS.len()],
    troubles: Lines,
    options: Options,
    inspection: Option<Inspection>,
}

/// The first lines of a list.
#[derive(Debug, Clone, Default)]
struct Lines {
    shown: String,
    count: usize,
}

impl Lines {
    fn add(&mut self, most: usize, line: impl FnOnce() -> String) {
        self.count += 1;
        if self.count <= most {
            self.shown += &line();
        }
    }

    fn show(&self, most: usize) -> String {
        match self.count.checked_sub(most + 1) {
            Some(more) => format!("{}... and {} more\n", self.shown, more + 1),
            None => self.shown.clone(),
        }
    }
}

impl Overview {
    /// An overview of no results yet; its commands have these options.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    /// Takes one more result in.
    pub fn add(&mut self, result: &CaseResult, compared: Option<Compared>) {
        self.all.add(result);
        self.news.add_news(result);
        self.note_comparison(compared);
        for tag in &result.tags {
            self.by_tag.entry(tag.clone()).or_default().add(result);
        }
        for (lines, (bit, what)) in self.flags.iter_mut().zip(FLAGS) {
            let squares: Vec<_> = result.flagged(bit).collect();
            if !squares.is_empty() {
                let id = result.id.shown();
                lines.add(FLAGS_SHOWN, || format!("{what} {id}: {}\n", squares.join(" ").shown()));
            }
        }
        if !matches!(result.verdict, Verdict::Pass | Verdict::NotRun) {
            self.troubles.add(CASES_SHOWN, || trouble(result));
        }
        if !result.known && !self.inspection.as_ref().is_some_and(Inspection::has_square) {
            let found = Inspection::of(result, &self.options);
            let is_better =
                self.inspection.is_none() || found.as_ref().is_some_and(Inspection::has_square);
            if is_better {
                self.inspection = found;
            }
        }
    }

    fn note_comparison(&mut self, compared: Option<Compared>) {
        let Some(compared) = compared else { return };
        let [known, new, mended] = self.compared.get_or_insert_default();
        match compared {
            Compared::Quiet => {}
            Compared::Known => *known += 1,
            Compared::New => *new += 1,
            Compared::Mended => *mended += 1,
        }
    }

    /// All verdicts, with those that are known from the baseline as passes.
    #[must_use]
    pub fn news(&self) -> Counts {
        self.news
    }

    /// The line on the baseline; nothing if there is none.
    #[must_use]
    pub fn comparison(&self) -> String {
        self.compared.map_or(String::new(), |counts| format!("baseline: {}\n", compared(counts)))
    }

    /// All verdicts.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.all
    }

    /// The table: a row for each tag, and one for all.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::new();
        let head = ["cases", "squares"].into_iter().chain(Verdict::ALL.map(Verdict::word));
        line(&mut text, "", head);
        for (tag, counts) in &self.by_tag {
            row(&mut text, &tag.shown(), *counts);
        }
        row(&mut text, "all", self.all);
        text
    }

    /// The squares whose arrays overflowed, and those whose counts were wrong, case by case;
    /// nothing if there are none.
    #[must_use]
    pub fn flags(&self) -> String {
        self.flags.iter().map(|lines| lines.show(FLAGS_SHOWN)).collect()
    }

    /// The commands that look into the first wrong residue on a square, or else into the first
    /// wrong answer.
    #[must_use]
    pub fn inspection(&self) -> Option<&Inspection> {
        self.inspection.as_ref()
    }

    /// The cases that failed or had no answer, with what was wrong.
    #[must_use]
    pub fn troubles(&self) -> String {
        self.troubles.show(CASES_SHOWN)
    }
}

/// The numbers of cases that are known from a baseline, new, and mended.
fn compared([known, new, mended]: [u64; 3]) -> String {
    format!("{known} known, {new} new, {mended} no longer there")
}

/// The last lines after a wrong answer: the commands that look into it.
#[must_use]
pub fn advice(inspection: &Inspection) -> String {
    let mut text = format!("to look into {}:\n", inspection.case.shown());
    for command in &inspection.commands {
        let _ = writeln!(text, "    {}", command.shown());
    }
    text
}

/// A case that did not pass.
fn trouble(result: &CaseResult) -> String {
    let fen = result.fen.as_deref().unwrap_or("").shown();
    let known = if result.known { " (known)" } else { "" };
    let mut text = format!("{}{known} {} {fen}\n", result.verdict, result.id.shown());
    if let Some(why) = &result.why {
        let _ = writeln!(text, "    {}", why.shown());
    }
    if let Some(fault) = &result.fault {
        let _ = writeln!(text, "    at fault: {}", fault.to_string().shown());
    }
    for difference in result.differences.iter().take(DIFFERENCES_SHOWN) {
        let _ = writeln!(text, "    {}", difference.to_string().shown());
    }
    if let Some(more) = result.differences.len().checked_sub(DIFFERENCES_SHOWN + 1) {
        let _ = writeln!(text, "    ... and {} more differences", more + 1);
    }
    text
}

fn row(text: &mut String, name: &str, counts: Counts) {
    let verdicts = Verdict::ALL.map(|verdict| counts.with(verdict));
    line(text, name, [counts.cases, counts.squares].into_iter().chain(verdicts));
}

fn line(text: &mut String, name: &str, cells: impl IntoIterator<Item = impl Display>) {
    let _ = write!(text, "{name:<10}");
    for cell in cells {
        let _ = write!(text, "{cell:>9}");
    }
    text.push('\n');
}

/// Returns the reason for an incomplete run; `None` if all cases were run.
#[must_use]
pub fn incomplete(ended: &RunEnd) -> Option<String> {
    match ended {
        RunEnd::Complete => None,
        RunEnd::Interrupted => Some("interrupted".to_owned()),
        RunEnd::BoardLost(why) => Some(format!("the board is lost: {why}")),
        RunEnd::FileFailed(why) => Some(why.clone()),
        RunEnd::FirstFailure => Some("ended at the first case that does not pass".to_owned()),
    }
}

/// The last lines: what came of it, and how board and line fared. The counts are those of all
/// verdicts, and those in which what is known from the baseline is taken for a pass.
#[must_use]
pub fn summary(
    [counts, news]: [Counts; 2],
    course: &Course,
    stats: LinkStats,
    took: Duration,
) -> String {
    let why = incomplete(&course.ended);
    let conclusion = Conclusion::of(news, why.is_some());
    let why = match why {
        None if conclusion == Conclusion::Incomplete => format!(": {}", shortfall(news)),
        why => why.map_or(String::new(), |why| format!(": {}", why.shown())),
    };
    let verdict = format!("{conclusion}{why}");
    let Counts { pass, cases, squares, .. } = counts;
    let seconds = took.as_secs_f64();
    let mut text = format!(
        "{verdict}: {pass} of {cases} cases agree on {squares} squares in {seconds:.1} s\n"
    );
    if let Some(why) = course.last_restart.as_deref().map(Show::shown) {
        let _ =
            writeln!(text, "board: started again {} times, at last because {why}", course.restarts);
    }
    if course.losses > 0 {
        let _ = writeln!(text, "board: lost and found again {} times", course.losses);
    }
    text + &line_quality(stats)
}

/// Returns the statistics of the line as a line of text.
#[must_use]
pub fn line_quality(stats: LinkStats) -> String {
    format!(
        "line: {} requests, {} repeated ({} without answer, {} damaged there, {} overruns, {} replies \
         missing), {} frames damaged here, {} bytes out, {} in\n",
        stats.requests,
        stats.total_retries(),
        stats.retries.timeout,
        stats.retries.corrupted_at_board,
        stats.retries.overrun,
        stats.retries.missing,
        stats.corrupted_at_host,
        stats.bytes.0,
        stats.bytes.1
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sargon_corpus::{Case, Stated, Subject};
    use sargon_reference::{AttackersArray, Colour, Kind, Piece};

    fn case(verdict: Verdict) -> CaseResult {
        let subject = Subject::Array {
            piece: Piece { colour: Colour::White, kind: Kind::Pawn },
            array: AttackersArray::default(),
            expected: Stated { residue: 0, short: false },
            printed: None,
        };
        let tags = vec!["play".to_owned()];
        CaseResult::new(&Case { id: "x".to_owned(), tags, subject }, verdict)
    }

    fn verdict(results: &[CaseResult], ended: RunEnd) -> String {
        let course = Course { ended, ..Course::default() };
        summary([Counts::of(results); 2], &course, LinkStats::default(), Duration::ZERO)
    }

    #[test]
    fn every_verdict_is_counted_once_and_only_passes_make_a_pass() {
        let all = Verdict::ALL.map(case);
        let counts = Counts::of(&all);
        assert!(counts.is_consistent());
        assert_eq!((counts.cases, counts.pass), (7, 1));
        assert!(Verdict::ALL.iter().all(|verdict| counts.with(*verdict) == 1));
        assert!(verdict(&all[..1], RunEnd::Complete).starts_with("PASS"));
        for other in &all[1..] {
            let text = verdict(std::slice::from_ref(other), RunEnd::Complete);
            assert!(text.starts_with("FAIL") || text.starts_with("INCOMPLETE"), "{text}");
        }
        assert!(verdict(&all[..1], RunEnd::BoardLost("gone".into())).starts_with("INCOMPLETE"));
    }
}
