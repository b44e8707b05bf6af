//! The report of a run. The terminal shows a table by tag, the cases that did not pass and a
//! summary; the report files have everything.

mod boards;
mod diff;
pub(crate) mod escape;
mod files;
mod history;
mod junit;
mod markdown;
mod merge;
mod model;
mod page;
mod stored;

pub use crate::suite::{FollowUp, FollowUpOptions};
pub use boards::{BoardSummary, RunTarget, boards_table, missing_boards_text};
pub(crate) use boards::{COMPLETE, missing_boards};
pub use diff::RunDiff;
pub(crate) use files::has_report;
pub use files::{
    HISTORY_FILES, REPORT_FILES, prepare_folder, write_files, write_history, write_no_run,
};
pub use history::{History, PastRun};
pub use merge::merge_shards;
pub use model::{Report, ReportedBoard, SCHEMA_VERSION};
pub use stored::StoredReport;
pub(crate) use stored::{MAX_REPORT_BYTES, REPORT_PREFIX, parse_report};

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use askama::Template;
use cli_support::text::Escape;
use rcflash_link::LinkStats;

use crate::runner::{BaselineStatus, RunEnd};
use crate::suite::{CaseResult, Suite, Verdict, VerdictCounts};
use crate::verdict_table::{Relation, merge_verdicts};
use model::counts_by_tag;

/// Most differences shown for a case.
const MAX_DIFFERENCES_SHOWN: usize = 6;
/// Most cases shown that did not pass.
const MAX_CASES_SHOWN: usize = 20;
/// Most cases shown for each remark.
const MAX_REMARKED_CASES_SHOWN: usize = 100;

/// The totals of a run: the counts of all verdicts, and the worst result of each case.
#[derive(Debug, Clone, Default)]
pub struct RunTotals<S: Suite> {
    /// The verdicts.
    pub counts: VerdictCounts,
    /// The same, with known failures as passes.
    pub with_known_passing: VerdictCounts,
    /// With a baseline: the numbers of cases with each [`BaselineStatus`].
    compared: Option<[u64; 4]>,
    /// The results for the report.
    pub(crate) results: WorstResults<S>,
}

impl<S: Suite> RunTotals<S> {
    /// Adds a result.
    pub fn add(&mut self, result: CaseResult<S>, compared: Option<BaselineStatus>) {
        self.counts.add(&result);
        self.with_known_passing.add_excluding_known(&result);
        if let Some(compared) = compared {
            self.compared.get_or_insert_default()[compared as usize] += 1;
        }
        self.results.add(result);
    }

    /// Returns the line on the baseline; empty if there is none.
    pub fn comparison(&self) -> String {
        self.compared
            .map_or(String::new(), |[_, counts @ ..]| format!("baseline: {}\n", compared(counts)))
    }

    /// Returns the table by tag, the suite's remarks on values, and the cases that did not pass,
    /// with what was wrong.
    pub fn results_text(&self) -> String {
        let results = &self.results.all;
        let page = ResultsText {
            by_tag: counts_by_tag(results),
            all: VerdictCounts::from_results(results),
            problems: results.iter().filter(|case| case.is_problem()).collect(),
            results,
        };
        format!("{page}\n")
    }

    /// Returns the first follow-up commands that show a wrong value, or else those for the first
    /// failed case.
    pub fn follow_up(&self, options: &FollowUpOptions) -> Option<FollowUp> {
        let unknown = self.results.all.iter().filter(|case| !case.known);
        let mut found = unknown.filter_map(|case| FollowUp::for_case(case, options));
        let first = found.next()?;
        let precise = if first.is_precise { None } else { found.find(|next| next.is_precise) };
        Some(precise.unwrap_or(first))
    }
}

#[derive(Template)]
#[template(path = "results.txt")]
struct ResultsText<'a, S: Suite> {
    by_tag: BTreeMap<&'a str, VerdictCounts>,
    all: VerdictCounts,
    problems: Vec<&'a CaseResult<S>>,
    results: &'a [CaseResult<S>],
}

impl<S: Suite> ResultsText<'_, S> {
    /// Returns the cases with a remark, and the values that it is about.
    fn remarked(&self, remark: usize) -> Vec<(&str, String)> {
        let values = |case: &CaseResult<S>| S::remarked(&case.details, remark).join(" ");
        let cases = self.results.iter().map(|case| (case.id.as_str(), values(case)));
        cases.filter(|(_, values)| !values.is_empty()).collect()
    }
}

/// Formats the numbers of known, new and fixed cases.
fn compared([known, new, fixed]: [u64; 3]) -> String {
    format!("{known} known, {new} new, {fixed} fixed")
}

/// Returns the lines with the follow-up commands for a failed case.
pub fn follow_up_text(follow_up: &FollowUp) -> String {
    let mut text = format!("to look into {}:\n", follow_up.case.escaped());
    for command in &follow_up.commands {
        let _ = writeln!(text, "    {}", command.escaped());
    }
    text
}

/// Returns the reason for an incomplete run; `None` if all cases were run.
pub fn incomplete_reason(ended: &RunEnd) -> Option<String> {
    match ended {
        RunEnd::Complete => None,
        RunEnd::Interrupted => Some("interrupted".to_owned()),
        RunEnd::BoardLost(why) => Some(format!("the board is lost: {why}")),
        RunEnd::FileFailed(why) => Some(why.clone()),
        RunEnd::FirstFailure => Some("ended at the first case that does not pass".to_owned()),
    }
}

#[derive(Template)]
#[template(path = "line.txt")]
struct LineStatistics {
    stats: LinkStats,
}

/// Returns the statistics of the line as a line of text.
pub fn line_statistics_text(stats: LinkStats) -> String {
    format!("{}\n", LineStatistics { stats })
}

/// The worst result of each case, in the order in which the cases first completed.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorstResults<S: Suite> {
    pub(crate) all: Vec<CaseResult<S>>,
    /// The index of each case's result, by name.
    indices: HashMap<String, usize>,
}

impl<S: Suite> WorstResults<S> {
    /// Returns `true` if the case has a result.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.indices.contains_key(id)
    }

    /// Adds a result.
    pub(crate) fn add(&mut self, result: CaseResult<S>) {
        match self.indices.entry(result.id.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(self.all.len());
                self.all.push(result);
            }
            Entry::Occupied(entry) => {
                let known = &mut self.all[*entry.get()];
                let (before, now) = (known.verdict, result.verdict);
                if merge_verdicts(before, now, Relation::OtherRound) != before {
                    *known = result;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Verdict;
    use crate::test_suite::result;

    #[test]
    fn a_case_is_listed_once_with_its_worst_result() {
        let mut gathered = WorstResults::default();
        for verdict in [Verdict::Pass, Verdict::Timeout, Verdict::Pass, Verdict::NotRun] {
            gathered.add(result("a", verdict));
        }
        gathered.add(result("b", Verdict::NotRun));
        assert!(gathered.contains("b") && !gathered.contains("c") && gathered.all.len() == 2);
        gathered.add(result("a", Verdict::Error));
        let listed: Vec<_> = gathered.all.iter().map(|case| (&*case.id, case.verdict)).collect();
        assert_eq!(listed, [("a", Verdict::Error), ("b", Verdict::NotRun)]);
    }
}
