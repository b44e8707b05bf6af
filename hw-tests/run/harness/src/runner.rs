//! Options of a run, why it ended, and what follows from its verdicts.

mod baseline;

pub use crate::suite::{BoardVerdict, CaseResult, FaultOrigin, Verdict, VerdictCounts};
pub use baseline::{Baseline, BaselineStatus, BaselineSummary, is_new_failure};

use std::fmt;
use std::sync::atomic::AtomicBool;

use cli_support::exit::{ENVIRONMENT, FAILED, INCOMPLETE, INTERRUPTED, NOTHING_SELECTED};
use serde::{Deserialize, Serialize};

/// The verdicts of cases that were sent but got no valid reply.
pub const NO_REPLY_VERDICTS: [Verdict; 2] = [Verdict::Timeout, Verdict::Error];

/// Options of a run.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// How often each case runs; 0 counts as 1.
    pub repeat: u32,
    /// Ends the run at the first case that does not pass.
    pub fail_fast: bool,
    /// The baseline, whose failures do not trigger `fail_fast`.
    pub baseline: Option<&'a Baseline>,
    /// Set to stop the run.
    pub interrupted: &'a AtomicBool,
}

/// Why a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// All cases ran.
    #[default]
    Complete,
    /// The user stopped it.
    Interrupted,
    /// A case did not pass, and [`RunOptions::fail_fast`] was set.
    FirstFailure,
    /// The board could not be recovered; the reason.
    BoardLost(String),
    /// A file of the run could not be written; the error, with its path.
    FileFailed(String),
}

/// How a run ended, and how often its board had to be recovered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Why the run ended.
    pub ended: RunEnd,
    /// Recoveries after which the application was still running.
    pub reconnects: u64,
    /// Recoveries in which the application had to be restarted.
    pub restarts: u64,
    /// Why the application was last restarted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_restart: Option<String>,
    /// What code under test may have done to the board that the run could not observe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unobserved: Option<String>,
}

impl RunSummary {
    /// Returns the summary of this part of a run and the part that followed.
    pub fn merge(self, next: Self) -> Self {
        Self {
            ended: next.ended,
            reconnects: self.reconnects + next.reconnects,
            restarts: self.restarts + next.restarts,
            last_restart: next.last_restart.or(self.last_restart),
            unobserved: next.unobserved.or(self.unobserved),
        }
    }
}

/// The conclusion of a run. A failure of the rig is not a failed test: only a wrong value is
/// `Fail`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Every case passed, and there was one.
    Pass,
    /// At least one case failed.
    Fail,
    /// No case failed, but not every case passed.
    #[default]
    Incomplete,
}

impl fmt::Display for Conclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(["PASS", "FAIL", "INCOMPLETE"][*self as usize])
    }
}

impl Conclusion {
    /// Returns the conclusion of these verdicts. `is_broken_off` is set if the run ended early.
    pub(crate) fn from_counts(counts: VerdictCounts, is_broken_off: bool) -> Self {
        match () {
            () if counts.fail > 0 => Self::Fail,
            () if is_broken_off || counts.cases == 0 || counts.pass < counts.cases => {
                Self::Incomplete
            }
            () => Self::Pass,
        }
    }
}

/// Returns the exit code of a run: 0 exactly if it is a pass, 1 exactly if it is a fail. The other
/// codes give the most severe reason why it is incomplete.
pub fn exit_code(counts: VerdictCounts, ended: &RunEnd) -> u8 {
    let is_broken_off = *ended != RunEnd::Complete;
    match (Conclusion::from_counts(counts, is_broken_off), ended) {
        (Conclusion::Fail, _) => FAILED,
        (Conclusion::Pass, _) => 0,
        (Conclusion::Incomplete, RunEnd::Interrupted) => INTERRUPTED,
        (Conclusion::Incomplete, RunEnd::BoardLost(_) | RunEnd::FileFailed(_)) => ENVIRONMENT,
        (Conclusion::Incomplete, _) if unanswered(counts) > 0 => ENVIRONMENT,
        (Conclusion::Incomplete, _) if counts.cases == 0 => NOTHING_SELECTED,
        (Conclusion::Incomplete, _) => INCOMPLETE,
    }
}

/// Returns the number of cases that were sent but got no valid reply.
fn unanswered(counts: VerdictCounts) -> u64 {
    NO_REPLY_VERDICTS.iter().map(|verdict| counts.get(*verdict)).sum()
}

/// Returns the numbers of cases with a verdict that makes a run incomplete, as text; empty if there
/// are none. That of a run without cases is that no case was run.
pub(crate) fn incomplete_counts(counts: VerdictCounts) -> String {
    if counts.cases == 0 {
        return "no case was run".to_owned();
    }
    let missing = [
        (unanswered(counts), "without a valid reply"),
        (counts.flaky, "flaky"),
        (counts.skipped, "skipped"),
        (counts.not_run, "not run"),
    ];
    let shown = missing.iter().filter(|(count, _)| *count > 0);
    shown.map(|(count, kind)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_the_parts_of_a_run_add_up_and_the_last_end_counts() {
        let summary = |reconnects, restarts, why: Option<&str>| RunSummary {
            ended: RunEnd::Interrupted,
            reconnects,
            restarts,
            last_restart: why.map(str::to_owned),
            unobserved: None,
        };
        let both = summary(2, 3, Some("first")).merge(summary(5, 7, None));
        assert_eq!(both, summary(7, 10, Some("first")));
        let both = summary(2, 3, Some("first")).merge(summary(5, 7, Some("second")));
        assert_eq!(both, summary(7, 10, Some("second")));
        assert_eq!(summary(0, 0, None).merge(RunSummary::default()).ended, RunEnd::Complete);
    }

    /// Counts of two cases: one passed, the other has this verdict.
    fn with(verdict: Verdict) -> VerdictCounts {
        let mut counts = serde_json::to_value(VerdictCounts::default()).expect("JSON");
        counts["cases"] = 2.into();
        for one in ["pass", verdict.as_str()] {
            counts[one] = (counts[one].as_u64().unwrap_or_default() + 1).into();
        }
        serde_json::from_value(counts).expect("counts")
    }

    /// The table of docs/REPORTS.md: for each end of a run and each verdict, the conclusion and the
    /// exit code.
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
    fn only_a_failed_case_is_a_fail_and_the_exit_code_agrees_with_the_word() {
        for (ended, row) in rows() {
            let is_broken_off = ended != RunEnd::Complete;
            for (verdict, (word, code)) in Verdict::ALL.into_iter().zip(row) {
                let counts = with(verdict);
                let shown = Conclusion::from_counts(counts, is_broken_off).to_string();
                assert_eq!(shown, word, "{verdict}, {ended:?}");
                assert_eq!(exit_code(counts, &ended), code, "{verdict}, {ended:?}");
            }
        }
    }

    #[test]
    fn a_run_without_cases_is_no_pass() {
        let none = VerdictCounts::default();
        assert_eq!(Conclusion::from_counts(none, false), Conclusion::Incomplete);
        assert_eq!(exit_code(none, &RunEnd::Complete), NOTHING_SELECTED);
        assert_eq!(exit_code(none, &RunEnd::BoardLost("gone".to_owned())), ENVIRONMENT);
        assert_eq!(exit_code(none, &RunEnd::Interrupted), INTERRUPTED);
        assert_eq!(incomplete_counts(none), "no case was run");
    }

    #[test]
    fn a_fail_outweighs_all_other_verdicts() {
        let mut counts = with(Verdict::Fail);
        for verdict in Verdict::ALL {
            counts += with(verdict);
        }
        for (ended, _) in rows() {
            assert_eq!(exit_code(counts, &ended), FAILED, "{ended:?}");
        }
    }

    #[test]
    fn verdicts_that_make_a_run_incomplete_are_counted() {
        let mut counts = with(Verdict::Timeout);
        counts += with(Verdict::Error);
        counts += with(Verdict::Flaky);
        assert_eq!(incomplete_counts(counts), "2 without a valid reply, 1 flaky");
        assert_eq!(incomplete_counts(with(Verdict::Pass)), "");
        assert_eq!(incomplete_counts(with(Verdict::Skipped)), "1 skipped");
        assert_eq!(incomplete_counts(with(Verdict::NotRun)), "1 not run");
    }
}
