//! What a run prints: a table by tag, the cases that did not pass, and a summary.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use firmware::wire::status;
use rcflash::link::LinkStats;

use crate::run::{CaseResult, CaseVerdict, Ended};

/// Differences shown for one case.
const DIFFERENCES_SHOWN: usize = 6;
/// Cases shown that did not pass.
const CASES_SHOWN: usize = 20;

/// Counts of verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Cases.
    pub cases: usize,
    /// Squares compared in them.
    pub squares: usize,
    /// Cases that passed.
    pub pass: usize,
    /// Cases that failed.
    pub fail: usize,
    /// Cases without an answer in time.
    pub timeout: usize,
    /// Cases with an answer that was none.
    pub error: usize,
    /// Cases that had no turn.
    pub not_run: usize,
}

impl Counts {
    /// Counts some cases.
    #[must_use]
    pub fn of<'a>(results: impl IntoIterator<Item = &'a CaseResult>) -> Self {
        let mut counts = Self::default();
        for result in results {
            counts.cases += 1;
            counts.squares += result.squares;
            let place = match result.verdict {
                CaseVerdict::Pass => &mut counts.pass,
                CaseVerdict::Fail(_) => &mut counts.fail,
                CaseVerdict::Timeout(_) => &mut counts.timeout,
                CaseVerdict::Error(_) => &mut counts.error,
                CaseVerdict::NotRun => &mut counts.not_run,
            };
            *place += 1;
        }
        counts
    }

    /// Whether every case has exactly one verdict.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.cases == self.pass + self.fail + self.timeout + self.error + self.not_run
    }
}

/// The table: a row for each tag, and one for all.
#[must_use]
pub fn table(results: &[CaseResult]) -> String {
    let mut rows: BTreeMap<&str, Vec<&CaseResult>> = BTreeMap::new();
    for result in results {
        for tag in &result.tags {
            rows.entry(tag).or_default().push(result);
        }
    }
    let mut text = String::new();
    let head = ["cases", "squares", "pass", "fail", "timeout", "error", "not-run"];
    line(&mut text, "", &head.map(str::to_owned));
    for (tag, results) in rows {
        row(&mut text, tag, Counts::of(results));
    }
    row(&mut text, "all", Counts::of(results));
    text
}

fn row(text: &mut String, name: &str, counts: Counts) {
    let Counts { cases, squares, pass, fail, timeout, error, not_run } = counts;
    let cells = [cases, squares, pass, fail, timeout, error, not_run];
    line(text, name, &cells.map(|count| count.to_string()));
}

fn line(text: &mut String, name: &str, cells: &[String]) {
    let _ = write!(text, "{name:<10}");
    for cell in cells {
        let _ = write!(text, "{cell:>9}");
    }
    text.push('\n');
}

/// The squares whose arrays overflowed, and those whose counts were wrong, case by case; nothing if there are none.
#[must_use]
pub fn flags(results: &[CaseResult]) -> String {
    let mut text = String::new();
    for (bit, what) in [(status::OVERFLOW, "overflow"), (status::SHORT, "count too high")] {
        for result in results {
            let flagged = result.flagged.iter().filter(|(_, status)| status & bit != 0);
            let squares: Vec<_> = flagged
                .map(|(at, _)| at.map_or_else(|| "array".to_owned(), |at| at.to_string()))
                .collect();
            if !squares.is_empty() {
                let _ = writeln!(text, "{what} {}: {}", result.id, squares.join(" "));
            }
        }
    }
    text
}

/// The cases that failed or had no answer, with what was wrong.
#[must_use]
pub fn troubles(results: &[CaseResult]) -> String {
    let mut text = String::new();
    let bad = |r: &&CaseResult| !matches!(r.verdict, CaseVerdict::Pass | CaseVerdict::NotRun);
    for (shown, result) in results.iter().filter(bad).enumerate() {
        if shown == CASES_SHOWN {
            let more = results.iter().filter(bad).count() - shown;
            let _ = writeln!(text, "... and {more} more");
            break;
        }
        let fen = result.fen.as_deref().unwrap_or("");
        let _ = writeln!(text, "{} {} {fen}", result.verdict.word(), result.id);
        match &result.verdict {
            CaseVerdict::Fail(differences) => {
                for difference in differences.iter().take(DIFFERENCES_SHOWN) {
                    let _ = writeln!(text, "    {difference}");
                }
                if let Some(more) = differences.len().checked_sub(DIFFERENCES_SHOWN + 1) {
                    let _ = writeln!(text, "    ... and {} more differences", more + 1);
                }
            }
            CaseVerdict::Timeout(why) | CaseVerdict::Error(why) => {
                let _ = writeln!(text, "    {why}");
            }
            CaseVerdict::Pass | CaseVerdict::NotRun => {}
        }
    }
    text
}

/// The last lines: what came of it, and how the line fared.
#[must_use]
pub fn summary(results: &[CaseResult], ended: Ended, stats: LinkStats, took: Duration) -> String {
    let counts = Counts::of(results);
    let verdict = match ended {
        Ended::Interrupted => "INCOMPLETE: interrupted",
        Ended::BoardLost => "INCOMPLETE: the board no longer answers",
        Ended::Complete if counts.pass == counts.cases => "PASS",
        Ended::Complete => "FAIL",
    };
    let seconds = took.as_secs_f64();
    let text = format!(
        "{verdict}: {} of {} cases agree on {} squares in {seconds:.1} s\n",
        counts.pass, counts.cases, counts.squares
    );
    text + &line_quality(stats)
}

/// How the line fared, as a line of text.
#[must_use]
pub fn line_quality(stats: LinkStats) -> String {
    format!(
        "line: {} requests, {} repeated ({} without answer, {} damaged there, {} overruns, {} replies \
         missing), {} frames damaged here, {} bytes out, {} in\n",
        stats.requests,
        stats.repeated(),
        stats.timeouts,
        stats.damaged_there,
        stats.overruns,
        stats.missing,
        stats.damaged_here,
        stats.bytes.0,
        stats.bytes.1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(verdict: CaseVerdict) -> CaseResult {
        let tags = vec!["play".to_owned()];
        CaseResult { id: "x".into(), tags, fen: None, squares: 2, flagged: Vec::new(), verdict }
    }

    #[test]
    fn every_verdict_is_counted_once_and_only_passes_make_a_pass() {
        let all = [
            case(CaseVerdict::Pass),
            case(CaseVerdict::Fail(Vec::new())),
            case(CaseVerdict::Timeout(String::new())),
            case(CaseVerdict::Error(String::new())),
            case(CaseVerdict::NotRun),
        ];
        let counts = Counts::of(&all);
        assert!(counts.is_consistent());
        assert_eq!((counts.cases, counts.squares, counts.pass), (5, 10, 1));
        let verdict = |results: &[CaseResult], ended| {
            summary(results, ended, LinkStats::default(), Duration::ZERO)
        };
        assert!(verdict(&all[..1], Ended::Complete).starts_with("PASS"));
        for wrong in &all[1..] {
            let text = verdict(std::slice::from_ref(wrong), Ended::Complete);
            assert!(text.starts_with("FAIL"), "{text}");
        }
        assert!(verdict(&all[..1], Ended::BoardLost).starts_with("INCOMPLETE"));
    }
}
