//! The data of a report: the content of `report.json`, from which the other forms are generated
//! (docs/REPORTS.md).

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};
use firmware::profile::BoardProfile;
use firmware_wire::Identity;
use rcflash_link::LinkStats;
use serde::{Deserialize, Serialize};

use super::{BoardSummary, FollowUp, FollowUpOptions, compared};
use crate::results::RunHeader;
use crate::runner::{Baseline, BaselineSummary, Conclusion, RunSummary};
use crate::suite::{CaseResult, FaultOrigin, Suite, VerdictCounts};

/// Version of the schema. Within a version fields may be added, but not removed or redefined.
pub const SCHEMA_VERSION: u32 = 1;

/// Most cases with follow-up commands.
const MAX_FOLLOW_UPS: usize = 100;

/// The reason in a report that was not completed, as after the program was killed.
const UNFINISHED: &str = "the run has not ended, or was killed";
/// The image of a run that had none yet when the report was written.
const NOT_SET_UP: &str = "none: the set-up did not end";

/// The report of a run. Absent fields are omitted from the JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Report<S: Suite> {
    /// [`SCHEMA_VERSION`].
    pub schema: u32,
    /// What is counted as `values`: [`Suite::VALUE_NOUN`].
    pub values: String,
    /// The configuration of the run, as in the results file.
    pub run: RunHeader,
    /// The command line, without the program.
    pub arguments: Vec<String>,
    /// The git commit of the folder in which it ran; absent outside of a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The start: RFC 3339, UTC, to the second.
    pub started: String,
    /// The duration in milliseconds.
    pub elapsed_ms: u64,
    /// The conclusion.
    pub outcome: Conclusion,
    /// Why some cases were not run; absent if all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// The boards of a run on a fleet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boards: Vec<BoardSummary>,
    /// The boards of the run on a fleet that this one resumed, if they are others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_boards: Vec<String>,
    /// The board; absent in a run on a fleet, and if the command line names no existing board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<ReportedBoard>,
    /// The identity of the application, as it reported it; absent if the set-up failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Identity>,
    /// The user's own routines in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user_routines: Vec<String>,
    /// The end of the run and its statistics; absent if the set-up failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<RunSummary>,
    /// Statistics of the line; absent if the set-up failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkStats>,
    /// The injected faults and their seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<String>,
    /// The counts of cases by verdict.
    pub counts: VerdictCounts,
    /// The comparison with an earlier run; absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineSummary>,
    /// The counts of all verdicts of a soak run. `counts` and `cases` have only the worst result
    /// of each case then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<VerdictCounts>,
    /// Follow-up commands for the first failed cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follow_ups: Vec<FollowUp>,
    /// The results, in the order in which the cases completed.
    pub cases: Vec<CaseResult<S>>,
}

/// A board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedBoard {
    /// The name, such as the path of its serial device; before it is connected, its name on the
    /// command line.
    pub name: String,
    /// The title of its profile.
    pub title: String,
    /// Processor clock of the profile in Hz.
    pub clock_hz: u64,
    /// Line speed of the profile in bits per second.
    pub baud: u32,
}

/// Returns a time to the second; a clock outside of the years 1970 to 9999, for which RFC 3339 has
/// no form, gives the first or last of them.
fn rfc_3339(time: SystemTime) -> String {
    const END_OF_9999: u64 = 253_402_300_799;
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let time = DateTime::<Utc>::from(UNIX_EPOCH + Duration::from_secs(seconds.min(END_OF_9999)));
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

impl<S: Suite> Report<S> {
    /// Creates the report of a run that has not started.
    pub fn new(run: RunHeader, arguments: Vec<String>, started: SystemTime) -> Self {
        Self {
            schema: SCHEMA_VERSION,
            values: S::VALUE_NOUN.to_owned(),
            run,
            arguments,
            started: rfc_3339(started),
            incomplete: Some(UNFINISHED.to_owned()),
            ..Self::default()
        }
    }

    /// Sets the board on which the run is planned.
    pub(crate) fn set_planned_board(&mut self, profile: &BoardProfile, name: &str) {
        self.board = Some(ReportedBoard {
            name: name.to_owned(),
            title: profile.title.clone(),
            clock_hz: profile.clock_hz,
            baud: profile.uart.baud,
        });
    }

    /// Sets the reason why the run was aborted.
    pub(crate) fn set_failure(&mut self, message: &str) {
        let prefix =
            if self.image.is_none() && self.summary.is_none() { "set-up failed: " } else { "" };
        self.incomplete = Some(format!("{prefix}{message}"));
    }

    /// Sets the results and everything that follows from them: counts, conclusion, comparison with
    /// the baseline, and the follow-up commands of failed cases.
    pub fn set_cases(
        &mut self,
        cases: Vec<CaseResult<S>>,
        took: Duration,
        options: &FollowUpOptions,
        baseline: Option<&Baseline>,
    ) {
        self.counts = VerdictCounts::from_results(&cases);
        let follow_ups = cases.iter().filter_map(|case| FollowUp::for_case(case, options));
        self.follow_ups = follow_ups.take(MAX_FOLLOW_UPS).collect();
        self.baseline = baseline.map(|baseline| baseline.summary(&cases));
        let with_known_passing = VerdictCounts::excluding_known(&cases);
        self.outcome = Conclusion::from_counts(with_known_passing, self.incomplete.is_some());
        self.elapsed_ms = took.as_millis() as u64;
        self.cases = cases;
    }

    /// Returns the follow-up commands of a case; empty if it did not fail.
    pub(crate) fn follow_up_commands(&self, case: &CaseResult<S>) -> &[String] {
        let found = self.follow_ups.iter().find(|found| found.case == case.id);
        found.map_or(&[], |found| &found.commands)
    }

    /// Returns the numbers of passed and of all cases, as a phrase.
    pub fn headline(&self) -> String {
        let VerdictCounts { pass, cases, .. } = self.counts;
        let known = self.baseline.as_ref().map_or(0, |compared| compared.known.len());
        let known = if known > 0 { format!("{known} known, ") } else { String::new() };
        format!("{known}{pass} of {cases} cases pass")
    }

    /// Returns the number of values by the T-states that they took.
    pub(super) fn values_by_t_states(&self) -> BTreeMap<u64, u64> {
        let mut by_time = BTreeMap::new();
        for time in self.cases.iter().flat_map(|case| S::t_states(&case.details)) {
            if time > 0 {
                *by_time.entry(time).or_default() += 1;
            }
        }
        by_time
    }

    /// Returns the cases that were run and did not pass.
    pub(super) fn problems(&self) -> impl Iterator<Item = &CaseResult<S>> {
        self.cases.iter().filter(|case| case.is_problem())
    }

    /// Returns program, board and settings of the run, as names and values.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let Self { run, board, .. } = self;
        let list = |names: &[String]| (!names.is_empty()).then(|| names.join(", "));
        let profile = board
            .as_ref()
            .map_or(run.profile.clone(), |board| format!("{}: {}", run.profile, board.title));
        let clock = board
            .as_ref()
            .map(|board| format!("{} MHz, {} baud", board.clock_hz as f64 / 1e6, board.baud));
        // A program without the protocol has no image; a run without an end, no set-up.
        let image = self.image.as_ref().map(ToString::to_string);
        let image = image.or(self.summary.is_none().then(|| NOT_SET_UP.to_owned()));
        let baseline = self.baseline.as_ref().map(|BaselineSummary { file, known, new, fixed }| {
            let counts = compared([known, new, fixed].map(|cases| cases.len() as u64));
            format!("{file}: {counts}")
        });
        let faults = || self.cases.iter().filter_map(|case| case.fault.as_ref());
        let at_fault = (!run.boards.is_empty()).then(|| {
            let boards = faults().filter(|fault| matches!(fault, FaultOrigin::Boards(_))).count();
            let code = faults().filter(|fault| matches!(fault, FaultOrigin::Code(_))).count();
            format!("a board in {boards} cases, the code in {code}")
        });
        let facts = [
            ("board", board.as_ref().map(|board| board.name.clone())),
            ("profile", Some(profile)),
            ("clock and line", clock),
            ("image", image.filter(|_| run.boards.is_empty())),
            ("boards", list(&run.boards)),
            ("resumed from", list(&self.earlier_boards)),
            ("at fault", at_fault),
            ("behaviour", Some(run.behaviour.clone())),
            ("own routines", list(&self.user_routines)),
            ("seed", run.seed.map(|seed| seed.to_string())),
            ("shard", run.shard.clone()),
            ("repetitions", (run.repeat > 1).then(|| run.repeat.to_string())),
            ("soak run", self.rounds.map(|all| format!("{} of {} passed", all.pass, all.cases))),
            ("baseline", baseline),
            ("faults", self.faults.clone()),
            ("began", Some(self.started.clone())),
            ("took", Some(format!("{:.1} s", self.elapsed_ms as f64 / 1e3))),
            ("command", Some(format!("hw-tests {}", self.arguments.join(" ")))),
            ("program", Some(run.program.clone())),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Returns the counts of cases with each tag.
pub(super) fn counts_by_tag<S: Suite>(cases: &[CaseResult<S>]) -> BTreeMap<&str, VerdictCounts> {
    let mut by_tag = BTreeMap::<_, VerdictCounts>::new();
    for case in cases {
        for tag in &case.tags {
            by_tag.entry(tag.as_str()).or_default().add(case);
        }
    }
    by_tag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_has_four_digits_of_year_whatever_the_clock() {
        let after = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        for (time, text) in [
            (after(1_000_000_000), "2001-09-09T01:46:40Z"),
            (after(253_402_300_799), "9999-12-31T23:59:59Z"),
            (after(253_402_300_800), "9999-12-31T23:59:59Z"),
            (after(u64::from(u32::MAX) << 30), "9999-12-31T23:59:59Z"),
            (UNIX_EPOCH - Duration::from_secs(1), "1970-01-01T00:00:00Z"),
        ] {
            assert_eq!(rfc_3339(time), text);
            assert!(DateTime::parse_from_rfc3339(text).is_ok());
        }
    }
}
