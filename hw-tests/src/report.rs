//! What a run prints: a table by tag, the cases that did not pass, and a summary.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::time::Duration;

use firmware::wire::status;
use rcflash::link::LinkStats;

use crate::reference::Square;
use crate::runner::{CaseResult, Counts, Course, Ended, Verdict};

/// Differences shown for one case.
const DIFFERENCES_SHOWN: usize = 6;
/// Cases shown that did not pass.
const CASES_SHOWN: usize = 20;

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
    let head = ["cases", "squares"].into_iter().chain(Verdict::ALL.map(Verdict::word));
    line(&mut text, "", head);
    for (tag, results) in rows {
        row(&mut text, tag, Counts::of(results));
    }
    row(&mut text, "all", Counts::of(results));
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

/// The squares whose arrays overflowed, and those whose counts were wrong, case by case; nothing if there are none.
#[must_use]
pub fn flags(results: &[CaseResult]) -> String {
    let mut text = String::new();
    for (bit, what) in [(status::OVERFLOW, "overflow"), (status::SHORT, "count too high")] {
        for result in results {
            let flagged = result.flagged.iter().filter(|flagged| flagged.status & bit != 0);
            let name = |at: Option<Square>| at.map_or("array".to_owned(), |at| at.to_string());
            let squares: Vec<_> = flagged.map(|flagged| name(flagged.square)).collect();
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
    let bad = |r: &&CaseResult| !matches!(r.verdict, Verdict::Pass | Verdict::NotRun);
    for (shown, result) in results.iter().filter(bad).enumerate() {
        if shown == CASES_SHOWN {
            let more = results.iter().filter(bad).count() - shown;
            let _ = writeln!(text, "... and {more} more");
            break;
        }
        let fen = result.fen.as_deref().unwrap_or("");
        let _ = writeln!(text, "{} {} {fen}", result.verdict, result.id);
        if let Some(why) = &result.why {
            let _ = writeln!(text, "    {why}");
        }
        for difference in result.differences.iter().take(DIFFERENCES_SHOWN) {
            let _ = writeln!(text, "    {difference}");
        }
        if let Some(more) = result.differences.len().checked_sub(DIFFERENCES_SHOWN + 1) {
            let _ = writeln!(text, "    ... and {} more differences", more + 1);
        }
    }
    text
}

/// The last lines: what came of it, and how board and line fared.
#[must_use]
pub fn summary(counts: Counts, course: &Course, stats: LinkStats, took: Duration) -> String {
    let verdict = match &course.ended {
        Ended::Interrupted => "INCOMPLETE: interrupted".to_owned(),
        Ended::BoardLost(why) => format!("INCOMPLETE: the board is lost: {why}"),
        Ended::FirstFailure => "FAIL: ended at the first case that does not pass".to_owned(),
        Ended::Complete if counts.pass == counts.cases => "PASS".to_owned(),
        Ended::Complete if counts.fail + counts.timeout + counts.error > 0 => "FAIL".to_owned(),
        Ended::Complete => "INCOMPLETE: some cases are flaky or were skipped".to_owned(),
    };
    let Counts { pass, cases, squares, .. } = counts;
    let seconds = took.as_secs_f64();
    let mut text = format!(
        "{verdict}: {pass} of {cases} cases agree on {squares} squares in {seconds:.1} s\n"
    );
    if let Some(why) = &course.last_restart {
        let _ =
            writeln!(text, "board: started again {} times, at last because {why}", course.restarts);
    }
    if course.losses > 0 {
        let _ = writeln!(text, "board: lost and found again {} times", course.losses);
    }
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

    fn case(verdict: Verdict) -> CaseResult {
        let (tags, flagged, differences) = (vec!["play".to_owned()], Vec::new(), Vec::new());
        let (id, t_states) = ("x".to_owned(), Vec::new());
        CaseResult {
            id,
            tags,
            fen: None,
            verdict,
            why: None,
            differences,
            squares: 2,
            flagged,
            t_states,
            repeats: 0,
        }
    }

    fn verdict(results: &[CaseResult], ended: Ended) -> String {
        let course = Course { ended, losses: 0, restarts: 0, last_restart: None };
        summary(Counts::of(results), &course, LinkStats::default(), Duration::ZERO)
    }

    #[test]
    fn every_verdict_is_counted_once_and_only_passes_make_a_pass() {
        let all = Verdict::ALL.map(case);
        let counts = Counts::of(&all);
        assert!(counts.is_consistent());
        assert_eq!((counts.cases, counts.squares, counts.pass), (7, 14, 1));
        assert!(Verdict::ALL.iter().all(|verdict| counts.with(*verdict) == 1));
        assert!(verdict(&all[..1], Ended::Complete).starts_with("PASS"));
        for other in &all[1..] {
            let text = verdict(std::slice::from_ref(other), Ended::Complete);
            assert!(text.starts_with("FAIL") || text.starts_with("INCOMPLETE"), "{text}");
        }
        assert!(verdict(&all[..1], Ended::BoardLost("gone".into())).starts_with("INCOMPLETE"));
    }
}
