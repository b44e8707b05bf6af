//! The conclusion of a run: one home for what the summary, every report and the exit code agree on.

use std::fmt;

use cli_support::exit::{INCOMPLETE, INTERRUPTED, RIG, WRONG};
use serde::{Deserialize, Serialize};

use super::result::Counts;
use super::{NOT_ANSWERED, RunEnd};

/// The conclusion of a run. A failure of the rig is not a failed test: only a wrong answer is
/// `Fail`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Every case passed.
    Pass,
    /// At least one case has a wrong answer.
    Fail,
    /// No answer is wrong, but not every case has a right one.
    Incomplete,
}

impl Conclusion {
    /// Returns the conclusion of these verdicts. `is_broken_off` if not all cases had their turn.
    #[must_use]
    pub fn of(counts: Counts, is_broken_off: bool) -> Self {
        match () {
            () if counts.fail > 0 => Self::Fail,
            () if is_broken_off || counts.pass < counts.cases => Self::Incomplete,
            () => Self::Pass,
        }
    }

    /// The word that summary and reports begin with.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Incomplete => "INCOMPLETE",
        }
    }
}

impl fmt::Display for Conclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// Returns the exit code of a run: 0 exactly if it is a pass, 1 exactly if it is a fail. The other
/// codes give the reason why it is incomplete, the gravest first.
#[must_use]
pub fn exit_code(counts: Counts, ended: &RunEnd) -> u8 {
    let is_broken_off = *ended != RunEnd::Complete;
    match (Conclusion::of(counts, is_broken_off), ended) {
        (Conclusion::Fail, _) => WRONG,
        (Conclusion::Pass, _) => 0,
        (Conclusion::Incomplete, RunEnd::Interrupted) => INTERRUPTED,
        (Conclusion::Incomplete, RunEnd::BoardLost(_) | RunEnd::FileFailed(_)) => RIG,
        (Conclusion::Incomplete, _) if unanswered(counts) > 0 => RIG,
        (Conclusion::Incomplete, _) => INCOMPLETE,
    }
}

/// Cases that had their turn and no answer.
fn unanswered(counts: Counts) -> u64 {
    NOT_ANSWERED.iter().map(|verdict| counts.with(*verdict)).sum()
}

/// Returns the verdicts that keep a run from being a pass, with their numbers; empty if there are
/// none.
#[must_use]
pub fn shortfall(counts: Counts) -> String {
    let missing = [
        (unanswered(counts), "without an answer"),
        (counts.flaky, "flaky"),
        (counts.skipped, "skipped"),
        (counts.not_run, "not run"),
    ];
    let shown = missing.iter().filter(|(count, _)| *count > 0);
    shown.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::result::Verdict;
    use super::*;

    /// Two cases: one passed, the other has this verdict.
    fn with(verdict: Verdict) -> Counts {
        let mut counts = serde_json::to_value(Counts::default()).expect("JSON");
        counts["cases"] = 2.into();
        for one in ["pass", verdict.word()] {
            counts[one] = (counts[one].as_u64().unwrap_or_default() + 1).into();
        }
        serde_json::from_value(counts).expect("counts")
    }

    /// The table of docs/REPORTS.md: what ended the run, and for each verdict word and exit code.
    fn rows() -> Vec<(RunEnd, [(&'static str, u8); 7])> {
        let complete = [
            ("PASS", 0),
            ("FAIL", 1),
            ("INCOMPLETE", 3),
            ("INCOMPLETE", 3),
            ("INCOMPLETE", 5),
            ("INCOMPLETE", 5),
            ("INCOMPLETE", 5),
        ];
        let broken_off = |code| {
            let mut row = [("INCOMPLETE", code); 7];
            row[1] = ("FAIL", 1);
            row
        };
        let mut first_failure = broken_off(5);
        first_failure[2..4].fill(("INCOMPLETE", 3));
        vec![
            (RunEnd::Complete, complete),
            (RunEnd::Interrupted, broken_off(130)),
            (RunEnd::BoardLost("gone".to_owned()), broken_off(3)),
            (RunEnd::FileFailed("full".to_owned()), broken_off(3)),
            (RunEnd::FirstFailure, first_failure),
        ]
    }

    #[test]
    fn only_a_wrong_answer_is_a_fail_and_the_exit_code_agrees_with_the_word() {
        for (ended, row) in rows() {
            let is_broken_off = ended != RunEnd::Complete;
            for (verdict, (word, code)) in Verdict::ALL.into_iter().zip(row) {
                let counts = with(verdict);
                let shown = Conclusion::of(counts, is_broken_off).word();
                assert_eq!(shown, word, "{verdict}, {ended:?}");
                assert_eq!(exit_code(counts, &ended), code, "{verdict}, {ended:?}");
            }
        }
    }

    #[test]
    fn a_fail_outweighs_whatever_else_the_cases_have() {
        let mut counts = with(Verdict::Fail);
        for verdict in Verdict::ALL {
            counts += with(verdict);
        }
        for (ended, _) in rows() {
            assert_eq!(exit_code(counts, &ended), WRONG, "{ended:?}");
        }
    }

    #[test]
    fn what_keeps_a_run_from_passing_is_counted() {
        let mut counts = with(Verdict::Timeout);
        counts += with(Verdict::Error);
        counts += with(Verdict::Flaky);
        assert_eq!(shortfall(counts), "2 without an answer, 1 flaky");
        assert_eq!(shortfall(with(Verdict::Pass)), "");
        assert_eq!(shortfall(with(Verdict::Skipped)), "1 skipped");
        assert_eq!(shortfall(with(Verdict::NotRun)), "1 not run");
    }
}
