//! The report of a run. The terminal shows a table by tag, the cases that did not pass and a
//! summary; the report files have everything.

mod aggregates;
mod boards;
mod diff;
mod facts;
mod files;
mod history;
mod json;
mod junit;
mod markdown;
mod merge;
mod model;
mod page;
mod stored;
mod target;
mod worst_results;

pub use crate::suite::{FollowUp, FollowUpOptions, command_line};
pub(crate) use boards::COMPLETE;
pub use boards::{BoardSummary, boards_table, missing_boards, missing_boards_text};
pub use diff::RunDiff;
pub(crate) use files::has_report;
pub use files::{
    HISTORY_FILES, REPORT_FILES, WriteError, prepare_folder, write_files, write_history,
    write_no_run,
};
pub use history::{History, PastRun, history_page};
pub use merge::{MergeError, merge_shards};
pub use model::{Report, ReportedBoard, SCHEMA_VERSION};
pub(crate) use stored::{MAX_REPORT_BYTES, REPORT_PREFIX, parse_report};
pub use stored::{ReadError, StoredReport};
pub use target::RunTarget;
pub use worst_results::WorstResults;

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::time::Duration;

use cli_support::text::Escape;
use rcflash_link::LinkStats;

use crate::runner::{
    BaselineStatus, CaseResult, Conclusion, RunEnd, RunSummary, Verdict, VerdictCounts,
    incomplete_counts,
};
use crate::suite::Suite;

/// Most differences shown for a case.
const MAX_DIFFERENCES_SHOWN: usize = 6;
/// Most cases shown that did not pass.
const MAX_CASES_SHOWN: usize = 20;
/// Most cases shown for each remark.
const MAX_REMARKED_CASES_SHOWN: usize = 100;

/// Totals of a run. Their size does not depend on the number of cases.
#[derive(Debug, Clone, Default)]
pub struct RunTotals<S: Suite> {
    all: VerdictCounts<S>,
    with_known_passing: VerdictCounts<S>,
    /// With a baseline: the numbers of known, new and fixed cases.
    compared: Option<[u64; 3]>,
    by_tag: BTreeMap<String, VerdictCounts<S>>,
    /// By the index of the remark.
    remarks: BTreeMap<usize, LimitedList>,
    problems: LimitedList,
    options: FollowUpOptions,
    follow_up: Option<FollowUp>,
}

/// The first lines of a list, and how many lines there are.
#[derive(Debug, Clone, Default)]
struct LimitedList {
    shown: String,
    count: usize,
}

impl LimitedList {
    fn add(&mut self, limit: usize, line: impl FnOnce() -> String) {
        self.count += 1;
        if self.count <= limit {
            self.shown += &line();
        }
    }

    fn show(&self, limit: usize) -> String {
        match self.count.checked_sub(limit + 1) {
            Some(more) => format!("{}... and {} more\n", self.shown, more + 1),
            None => self.shown.clone(),
        }
    }
}

impl<S: Suite> RunTotals<S> {
    /// Creates the totals of no results. The follow-up commands get these options.
    #[must_use]
    pub fn new(options: FollowUpOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Adds a result.
    pub fn add(&mut self, result: &CaseResult<S>, compared: Option<BaselineStatus>) {
        self.all.add(result);
        self.with_known_passing.add_excluding_known(result);
        self.count_comparison(compared);
        for tag in &result.tags {
            self.by_tag.entry(tag.clone()).or_default().add(result);
        }
        for (index, remark) in S::REMARKS.iter().enumerate() {
            let values = S::remarked(&result.details, index);
            if !values.is_empty() {
                let id = result.id.escaped();
                self.remarks.entry(index).or_default().add(MAX_REMARKED_CASES_SHOWN, || {
                    format!("{remark} {id}: {}\n", values.join(" ").escaped())
                });
            }
        }
        if !matches!(result.verdict, Verdict::Pass | Verdict::NotRun) {
            self.problems.add(MAX_CASES_SHOWN, || problem_text(result));
        }
        let is_precise = |found: &FollowUp| found.is_precise;
        if !result.known && !self.follow_up.as_ref().is_some_and(is_precise) {
            let found = FollowUp::for_case(result, &self.options);
            if self.follow_up.is_none() || found.as_ref().is_some_and(is_precise) {
                self.follow_up = found;
            }
        }
    }

    fn count_comparison(&mut self, compared: Option<BaselineStatus>) {
        let Some(compared) = compared else { return };
        let [known, new, fixed] = self.compared.get_or_insert_default();
        match compared {
            BaselineStatus::Unremarkable => {}
            BaselineStatus::Known => *known += 1,
            BaselineStatus::New => *new += 1,
            BaselineStatus::Fixed => *fixed += 1,
        }
    }

    /// Returns the counts of verdicts, with failures known from the baseline counted as passes.
    #[must_use]
    pub fn counts_with_known_passing(&self) -> VerdictCounts<S> {
        self.with_known_passing
    }

    /// Returns the line on the baseline; empty if there is none.
    #[must_use]
    pub fn comparison(&self) -> String {
        self.compared.map_or(String::new(), |counts| format!("baseline: {}\n", compared(counts)))
    }

    /// Returns the counts of all verdicts.
    #[must_use]
    pub fn counts(&self) -> VerdictCounts<S> {
        self.all
    }

    /// Returns the table with a row for each tag and one for all cases.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::new();
        let head = ["cases", S::VALUE_NOUN].into_iter().chain(Verdict::ALL.map(Verdict::as_str));
        line(&mut text, "", head);
        for (tag, counts) in &self.by_tag {
            row(&mut text, &tag.escaped(), *counts);
        }
        row(&mut text, "all", self.all);
        text
    }

    /// Returns the suite's remarks on values, by case; empty if there are none.
    #[must_use]
    pub fn remarks(&self) -> String {
        self.remarks.values().map(|lines| lines.show(MAX_REMARKED_CASES_SHOWN)).collect()
    }

    /// Returns the first follow-up commands that show a wrong value, or else those for the first
    /// failed case.
    #[must_use]
    pub fn follow_up(&self) -> Option<&FollowUp> {
        self.follow_up.as_ref()
    }

    /// Returns the cases that did not pass, with what was wrong.
    #[must_use]
    pub fn problems_text(&self) -> String {
        self.problems.show(MAX_CASES_SHOWN)
    }
}

/// Formats the numbers of known, new and fixed cases.
fn compared([known, new, fixed]: [u64; 3]) -> String {
    format!("{known} known, {new} new, {fixed} fixed")
}

/// Returns the lines with the follow-up commands for a failed case.
#[must_use]
pub fn follow_up_text(follow_up: &FollowUp) -> String {
    let mut text = format!("to look into {}:\n", follow_up.case.escaped());
    for command in &follow_up.commands {
        let _ = writeln!(text, "    {}", command.escaped());
    }
    text
}

/// Returns the lines on a case that did not pass.
fn problem_text<S: Suite>(result: &CaseResult<S>) -> String {
    let subject = S::subject(&result.details).unwrap_or_default().escaped();
    let known = if result.known { " (known)" } else { "" };
    let mut text = format!("{}{known} {} {subject}\n", result.verdict, result.id.escaped());
    if let Some(why) = &result.reason {
        let _ = writeln!(text, "    {}", why.escaped());
    }
    if let Some(fault) = &result.fault {
        let _ = writeln!(text, "    at fault: {}", fault.to_string().escaped());
    }
    for difference in result.differences.iter().take(MAX_DIFFERENCES_SHOWN) {
        let _ = writeln!(text, "    {}", difference.to_string().escaped());
    }
    if let Some(more) = result.differences.len().checked_sub(MAX_DIFFERENCES_SHOWN + 1) {
        let _ = writeln!(text, "    ... and {} more differences", more + 1);
    }
    text
}

fn row<S: Suite>(text: &mut String, name: &str, counts: VerdictCounts<S>) {
    let verdicts = Verdict::ALL.map(|verdict| counts.get(verdict));
    line(text, name, [counts.cases, counts.values].into_iter().chain(verdicts));
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
pub fn incomplete_reason(ended: &RunEnd) -> Option<String> {
    match ended {
        RunEnd::Complete => None,
        RunEnd::Interrupted => Some("interrupted".to_owned()),
        RunEnd::BoardLost(why) => Some(format!("the board is lost: {why}")),
        RunEnd::FileFailed(why) => Some(why.clone()),
        RunEnd::FirstFailure => Some("ended at the first case that does not pass".to_owned()),
    }
}

/// Returns the last lines: the conclusion with what was judged, on what, and what was repaired or
/// not judged; and statistics of board and line. The counts are those of all verdicts, and those
/// with failures known from the baseline counted as passes.
#[must_use]
pub fn summary_text<S: Suite>(
    [counts, with_known_passing]: [VerdictCounts<S>; 2],
    summary: &RunSummary,
    stats: LinkStats,
    took: Duration,
    target: &RunTarget,
) -> String {
    let why = incomplete_reason(&summary.ended);
    let conclusion = Conclusion::from_counts(with_known_passing, why.is_some());
    let why = match why {
        None if conclusion == Conclusion::Incomplete => {
            format!(": {}", incomplete_counts(with_known_passing))
        }
        why => why.map_or(String::new(), |why| format!(": {}", why.escaped())),
    };
    let VerdictCounts { pass, cases, values, .. } = counts;
    let seconds = took.as_secs_f64();
    let known = with_known_passing.pass.saturating_sub(pass);
    let mut text = format!(
        "{conclusion}{why}: {pass} of {cases} cases passed, {values} {} compared, in {seconds:.1} s{}{}\n",
        S::VALUE_NOUN,
        target.phrase(),
        reservations(known, stats.total_retries(), target)
    );
    if let Some(why) = summary.last_restart.as_deref().map(Escape::escaped) {
        let _ = writeln!(text, "board: restarted {} times, last because {why}", summary.restarts);
    }
    if summary.reconnects > 0 {
        let _ = writeln!(text, "board: lost and reconnected {} times", summary.reconnects);
    }
    if let Some(what) = &summary.unobserved {
        let _ = writeln!(text, "board: not observed: {}", what.escaped());
    }
    // A simulated machine without a line sends no requests.
    if stats != LinkStats::default() {
        text += &line_statistics_text(stats);
    }
    text
}

/// Formats what limits a verdict: known failures that were let pass, retries because of line
/// errors, and what was not judged. Empty if there is none.
fn reservations(known: u64, retries: u64, target: &RunTarget) -> String {
    let counted = |count: u64, what: &str, after: &str| match count {
        0 => String::new(),
        1 => format!(", 1 {what}{after}"),
        _ => format!(", {count} {what}s{after}"),
    };
    let mut text = counted(known, "known failure", "");
    text += &counted(retries, "line error", " repaired");
    if !target.not_judged.is_empty() {
        text += &format!(", not judged: {}", target.not_judged.join(" and "));
    }
    text
}

/// Returns the statistics of the line as a line of text.
#[must_use]
pub fn line_statistics_text(stats: LinkStats) -> String {
    format!(
        "line: {} requests, {} retries ({} timeouts, {} corrupted at the board, {} overruns, {} \
         missing replies), {} frames corrupted at the host, {} bytes out, {} in\n",
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
    use crate::test_suite::{Result, result};

    fn case(verdict: Verdict) -> Result {
        result("x", verdict)
    }

    fn verdict(results: &[Result], ended: RunEnd) -> String {
        let summary = RunSummary { ended, ..RunSummary::default() };
        summary_text(
            [VerdictCounts::from_results(results); 2],
            &summary,
            LinkStats::default(),
            Duration::ZERO,
            &RunTarget::default(),
        )
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
            let counts =
                [VerdictCounts::from_results(results), VerdictCounts::excluding_known(results)];
            let summary = RunSummary::default();
            let text = summary_text(counts, &summary, stats, Duration::from_secs(3), target);
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
