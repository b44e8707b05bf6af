//! The last lines of the text of a run's text.

use askama::Template;
use rcflash_link::LinkStats;

use super::FinishedRun;
use crate::report::{incomplete_reason, line_statistics_text};
use crate::runner::{Conclusion, incomplete_counts};
use crate::suite::{Suite, VerdictCounts};

#[derive(Template)]
#[template(path = "summary.txt")]
struct Summary<'a, S: Suite> {
    run: &'a FinishedRun<S>,
    conclusion: Conclusion,
    /// Why it is incomplete.
    why: Option<String>,
    counts: VerdictCounts,
    /// The number of known failures that were let pass.
    known: u64,
    /// The number of retries because of line errors.
    repaired: u64,
}

impl<S: Suite> FinishedRun<S> {
    /// Returns the last lines: the conclusion with what was judged, on what, and what was repaired or
    /// not judged; and statistics of board and line.
    #[must_use]
    pub fn summary_text(&self) -> String {
        let counts = self.totals.counts();
        let with_known_passing = self.totals.counts_with_known_passing();
        let why = incomplete_reason(&self.summary.ended);
        let conclusion = Conclusion::from_counts(with_known_passing, why.is_some());
        let is_incomplete = conclusion == Conclusion::Incomplete;
        let why = why.or_else(|| is_incomplete.then(|| incomplete_counts(with_known_passing)));
        let known = with_known_passing.pass.saturating_sub(counts.pass);
        let repaired = self.stats.total_retries();
        format!("{}\n", Summary { run: self, conclusion, why, counts, known, repaired })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::report::{RunTarget, RunTotals};
    use crate::runner::{CaseResult, RunEnd, RunSummary, Verdict};
    use crate::test_suite::{Result, TestSuite, result};

    fn case(verdict: Verdict) -> Result {
        result("x", verdict)
    }

    fn finished(results: &[Result]) -> FinishedRun<TestSuite> {
        let mut totals = RunTotals::default();
        results.iter().for_each(|result| totals.add(result.clone(), None));
        FinishedRun {
            totals,
            summary: RunSummary::default(),
            stats: LinkStats::default(),
            faults: None,
            took: Duration::from_secs(3),
            target: RunTarget::default(),
            boards: Vec::new(),
            report_failure: None,
        }
    }

    fn verdict(results: &[Result], ended: RunEnd) -> String {
        let summary = RunSummary { ended, ..RunSummary::default() };
        FinishedRun { summary, ..finished(results) }.summary_text()
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
            let target = target.clone();
            let text = FinishedRun { stats, target, ..finished(results) }.summary_text();
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
