//! The report of a run. The terminal shows a table by tag, the cases that did not pass and a
//! summary; the report files have everything.

mod aggregates;
use aggregates::counts_by_tag;
mod boards;
mod diff;
mod escape;
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
pub use history::{History, PastRun};
pub use merge::{MergeError, merge_shards};
pub use model::{Report, ReportedBoard, SCHEMA_VERSION};
pub(crate) use stored::{MAX_REPORT_BYTES, REPORT_PREFIX, parse_report};
pub use stored::{ReadError, StoredReport};
pub use target::RunTarget;
pub use worst_results::WorstResults;

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

/// The totals of a run: the counts of all verdicts, and the worst result of each case.
#[derive(Debug, Clone, Default)]
pub struct RunTotals<S: Suite> {
    all: VerdictCounts,
    with_known_passing: VerdictCounts,
    /// With a baseline: the numbers of known, new and fixed cases.
    compared: Option<[u64; 3]>,
    /// The results for the report.
    pub(crate) results: WorstResults<S>,
}

impl<S: Suite> RunTotals<S> {
    /// Adds a result.
    pub fn add(&mut self, result: CaseResult<S>, compared: Option<BaselineStatus>) {
        self.all.add(&result);
        self.with_known_passing.add_excluding_known(&result);
        if let Some(compared) = compared {
            let [known, new, fixed] = self.compared.get_or_insert_default();
            match compared {
                BaselineStatus::Unremarkable => {}
                BaselineStatus::Known => *known += 1,
                BaselineStatus::New => *new += 1,
                BaselineStatus::Fixed => *fixed += 1,
            }
        }
        self.results.add(result);
    }

    /// Returns the counts of verdicts, with failures known from the baseline counted as passes.
    #[must_use]
    pub fn counts_with_known_passing(&self) -> VerdictCounts {
        self.with_known_passing
    }

    /// Returns the line on the baseline; empty if there is none.
    #[must_use]
    pub fn comparison(&self) -> String {
        self.compared.map_or(String::new(), |counts| format!("baseline: {}\n", compared(counts)))
    }

    /// Returns the counts of all verdicts.
    #[must_use]
    pub fn counts(&self) -> VerdictCounts {
        self.all
    }

    /// Returns the table with a row for each tag and one for all cases.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::new();
        let head = ["cases", S::VALUE_NOUN].into_iter().chain(Verdict::ALL.map(Verdict::as_str));
        line(&mut text, "", head);
        let by_tag = counts_by_tag(&self.results.all);
        let rows = by_tag.into_iter().map(|(tag, counts)| (tag.escaped(), counts));
        let all = VerdictCounts::from_results(&self.results.all);
        for (name, counts) in rows.chain([("all".to_owned(), all)]) {
            let verdicts = Verdict::ALL.map(|verdict| counts.get(verdict));
            line(&mut text, &name, [counts.cases, counts.values].into_iter().chain(verdicts));
        }
        text
    }

    /// Returns the suite's remarks on values, by case; empty if there are none.
    #[must_use]
    pub fn remarks(&self) -> String {
        let of = |(index, remark): (usize, &&str)| {
            let lines = self.results.all.iter().filter_map(|case| {
                let values = S::remarked(&case.details, index);
                let line =
                    || format!("{remark} {}: {}\n", case.id.escaped(), values.join(" ").escaped());
                (!values.is_empty()).then(line)
            });
            limited(lines, MAX_REMARKED_CASES_SHOWN)
        };
        S::REMARKS.iter().enumerate().map(of).collect()
    }

    /// Returns the first follow-up commands that show a wrong value, or else those for the first
    /// failed case.
    #[must_use]
    pub fn follow_up(&self, options: &FollowUpOptions) -> Option<FollowUp> {
        let unknown = self.results.all.iter().filter(|case| !case.known);
        let mut found = unknown.filter_map(|case| FollowUp::for_case(case, options));
        let first = found.next()?;
        let precise = if first.is_precise { None } else { found.find(|next| next.is_precise) };
        Some(precise.unwrap_or(first))
    }

    /// Returns the cases that did not pass, with what was wrong.
    #[must_use]
    pub fn problems_text(&self) -> String {
        let problems = self.results.all.iter().filter(|case| case.is_problem());
        limited(problems.map(problem_text), MAX_CASES_SHOWN)
    }
}

/// Joins the first of these texts, and says how many more there are.
fn limited(mut texts: impl Iterator<Item = String>, limit: usize) -> String {
    let shown: String = texts.by_ref().take(limit).collect();
    match texts.count() {
        0 => shown,
        more => format!("{shown}... and {more} more\n"),
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
    let differences = result.differences.iter();
    let differences = differences.map(|one| format!("    {}\n", one.to_string().escaped()));
    text + &limited(differences, MAX_DIFFERENCES_SHOWN)
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
    [counts, with_known_passing]: [VerdictCounts; 2],
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
    use crate::test_suite::{Result, TestSuite, result};

    fn case(verdict: Verdict) -> Result {
        result("x", verdict)
    }

    fn verdict(results: &[Result], ended: RunEnd) -> String {
        let summary = RunSummary { ended, ..RunSummary::default() };
        summary_text::<TestSuite>(
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
            let text =
                summary_text::<TestSuite>(counts, &summary, stats, Duration::from_secs(3), target);
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
