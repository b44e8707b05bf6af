//! Options of a run, why it ended, and what follows from its verdicts.

mod baseline;
mod conclusion;

pub use crate::suite::{BoardVerdict, CaseResult, FaultOrigin, Verdict, VerdictCounts};
pub use baseline::{Baseline, BaselineStatus, BaselineSummary};
pub(crate) use conclusion::incomplete_counts;
pub use conclusion::{Conclusion, exit_code};

use std::sync::atomic::AtomicBool;

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
    #[must_use]
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
}
