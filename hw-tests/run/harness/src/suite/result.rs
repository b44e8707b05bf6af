//! Results of cases: verdicts with their details.

use std::fmt;
use std::ops::AddAssign;

use rcflash_link::RetryCounts;
use serde::{Deserialize, Serialize};

use super::Suite;

/// The outcome of a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All values are as expected.
    Pass,
    /// A value differs, or code under test damaged the board. Failures are never retried.
    Fail,
    /// No reply within the timeout.
    Timeout,
    /// The board refused the request, sent an invalid reply, or every retry was corrupted.
    Error,
    /// Passed, but not on every repetition, or only after a restart of the board.
    Flaky,
    /// The application on the board does not implement the request.
    Skipped,
    /// The run ended before this case.
    #[default]
    NotRun,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 7] = [
        Self::Pass,
        Self::Fail,
        Self::Timeout,
        Self::Error,
        Self::Flaky,
        Self::Skipped,
        Self::NotRun,
    ];

    /// Returns the name of the verdict, as in reports.
    pub fn as_str(self) -> &'static str {
        ["pass", "fail", "timeout", "error", "flaky", "skipped", "not-run"][self as usize]
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The verdict of a case on one of several boards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardVerdict {
    /// Name of the board.
    pub board: String,
    /// The verdict on this board.
    pub verdict: Verdict,
    /// The reason, of a verdict other than pass and fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The side at fault for a case that did not pass on several boards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultOrigin {
    /// These boards; another board passes the case.
    Boards(Vec<String>),
    /// The code, or something that the boards share: this many boards have the same outcome.
    Code(usize),
    /// Unknown, and why.
    Unknown(String),
}

impl fmt::Display for FaultOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boards(names) => write!(f, "the board: {} only", names.join(", ")),
            Self::Code(boards) => {
                write!(
                    f,
                    "the code, or something that the boards share: same outcome on {boards} boards"
                )
            }
            Self::Unknown(why) => write!(f, "unknown: {why}"),
        }
    }
}

/// The result of a case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct CaseResult<S: Suite> {
    /// Name of the case.
    pub id: String,
    /// Tags of the case.
    pub tags: Vec<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the baseline has the same failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// The reason, of a verdict other than pass, and of a fail that is not only one of values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The board whose reply was judged, in a run on several boards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// The verdicts on all boards that ran it, if more than one did or it did not pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub board_verdicts: Vec<BoardVerdict>,
    /// The side at fault, if several boards ran it and it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultOrigin>,
    /// Values that differ from the expected ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<S::Difference>,
    /// The suite's own fields.
    #[serde(flatten)]
    pub details: S::Details,
    /// How often it was sent, to all boards together: more than once with `--repeat`, or if the
    /// board was lost.
    pub attempts: u32,
    /// Retries because of line errors by cause, summed over all attempts.
    pub retries: RetryCounts,
    /// Time since the previous completion on its board in microseconds, by the clock of the line,
    /// summed over all attempts.
    pub elapsed_us: u64,
}

impl<S: Suite> CaseResult<S> {
    /// Creates a result without details.
    pub fn new(case: &S::Case, verdict: Verdict) -> Self {
        let (id, tags) = (S::id(case).to_owned(), S::tags(case).to_owned());
        Self { id, tags, verdict, details: S::details(case), ..Self::default() }
    }

    /// Adds the attempts, retries and time of another result of the case.
    pub(crate) fn add_costs(&mut self, other: &Self) {
        self.attempts += other.attempts;
        self.retries += other.retries;
        self.elapsed_us += other.elapsed_us;
    }

    /// Returns `true` if a reply of the board was judged.
    pub fn is_answered(&self) -> bool {
        matches!(self.verdict, Verdict::Pass | Verdict::Fail | Verdict::Flaky)
    }

    /// Returns `true` if it was run and did not pass.
    pub(crate) fn is_problem(&self) -> bool {
        !matches!(self.verdict, Verdict::Pass | Verdict::NotRun)
    }

    /// Returns why it did not pass, what is at fault, and the differences.
    pub(crate) fn details_of_problem(&self) -> impl Iterator<Item = String> {
        let fault = self.fault.iter().map(|fault| format!("at fault: {fault}"));
        let differences = self.differences.iter().map(ToString::to_string);
        self.reason.iter().cloned().chain(fault).chain(differences)
    }

    /// Returns the T-states of all its values; `None` if none was measured.
    pub fn t_states(&self) -> Option<u64> {
        let measured = S::t_states(&self.details).into_iter().filter(|t_states| *t_states > 0);
        measured.reduce(|sum, t_states| sum + t_states)
    }

    /// Creates a result with a reason and without other details.
    pub fn with_reason(case: &S::Case, verdict: Verdict, why: impl Into<String>) -> Self {
        Self { reason: Some(why.into()), ..Self::new(case, verdict) }
    }
}

/// Numbers of cases by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct VerdictCounts {
    /// All cases.
    pub cases: u64,
    /// Values compared in them.
    pub values: u64,
    /// Cases that passed.
    pub pass: u64,
    /// Cases that failed.
    pub fail: u64,
    /// Cases without a reply within the timeout.
    pub timeout: u64,
    /// Cases with an invalid or refused reply.
    pub error: u64,
    /// Cases that passed only sometimes, or only on a retry.
    pub flaky: u64,
    /// Cases that the application does not implement.
    pub skipped: u64,
    /// Cases that did not run.
    pub not_run: u64,
}

impl VerdictCounts {
    /// Counts these results.
    pub fn from_results<'a, S: Suite>(
        results: impl IntoIterator<Item = &'a CaseResult<S>>,
    ) -> Self {
        let mut counts = Self::default();
        results.into_iter().for_each(|result| counts.add(result));
        counts
    }

    /// Adds a result.
    pub fn add<S: Suite>(&mut self, result: &CaseResult<S>) {
        self.add_as(result, result.verdict);
    }

    /// Counts these results; failures that the baseline already has count as passes.
    pub fn excluding_known<'a, S: Suite>(
        results: impl IntoIterator<Item = &'a CaseResult<S>>,
    ) -> Self {
        let mut counts = Self::default();
        results.into_iter().for_each(|result| counts.add_excluding_known(result));
        counts
    }

    /// Adds a result; a failure that the baseline already has counts as a pass.
    pub(crate) fn add_excluding_known<S: Suite>(&mut self, result: &CaseResult<S>) {
        self.add_as(result, if result.known { Verdict::Pass } else { result.verdict });
    }

    fn add_as<S: Suite>(&mut self, result: &CaseResult<S>, verdict: Verdict) {
        self.cases += 1;
        self.values += S::value_count(&result.details);
        *self.count_mut(verdict) += 1;
    }

    /// Returns the number of cases with this verdict.
    pub fn get(mut self, verdict: Verdict) -> u64 {
        *self.count_mut(verdict)
    }

    /// Returns `true` if the verdicts add up to the number of cases.
    pub fn is_consistent(&self) -> bool {
        self.cases == Verdict::ALL.map(|verdict| self.get(verdict)).iter().sum::<u64>()
    }

    fn count_mut(&mut self, verdict: Verdict) -> &mut u64 {
        match verdict {
            Verdict::Pass => &mut self.pass,
            Verdict::Fail => &mut self.fail,
            Verdict::Timeout => &mut self.timeout,
            Verdict::Error => &mut self.error,
            Verdict::Flaky => &mut self.flaky,
            Verdict::Skipped => &mut self.skipped,
            Verdict::NotRun => &mut self.not_run,
        }
    }
}

impl AddAssign for VerdictCounts {
    fn add_assign(&mut self, other: Self) {
        self.cases += other.cases;
        self.values += other.values;
        for verdict in Verdict::ALL {
            *self.count_mut(verdict) += other.get(verdict);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_suite::{self, result};

    #[test]
    fn counts_add_up_and_every_case_has_one_verdict() {
        let mut counts = VerdictCounts::default();
        for (times, verdict) in (1..).zip(Verdict::ALL) {
            (0..times).for_each(|_| counts.add(&result("a", verdict)));
        }
        assert_eq!(Verdict::ALL.map(|verdict| counts.get(verdict)), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(counts.cases, 28);
        assert!(counts.is_consistent());
        let mut twice = VerdictCounts { values: 3, ..counts };
        twice += VerdictCounts { values: 4, ..counts };
        assert_eq!(Verdict::ALL.map(|verdict| twice.get(verdict)), [2, 4, 6, 8, 10, 12, 14]);
        assert_eq!((twice.cases, twice.values), (56, 7));
        twice.cases += 1;
        assert!(!twice.is_consistent());
    }

    #[test]
    fn a_result_has_the_fields_of_the_suite_and_counts_their_values() {
        let mut passed = result("a", Verdict::Pass);
        passed.details.registers = vec![1, 2];
        let counts = VerdictCounts::from_results([&passed, &passed]);
        let json = serde_json::to_value(counts).expect("JSON");
        assert_eq!((&json["values"], &json["not-run"]), (&4.into(), &0.into()));
        assert_eq!(serde_json::from_value::<VerdictCounts>(json).expect("it"), counts);
        let json = serde_json::to_value(&passed).expect("JSON");
        assert_eq!(json["registers"], serde_json::json!([1, 2]));
        assert_eq!(serde_json::from_value::<test_suite::Result>(json).expect("it"), passed);
    }

    #[test]
    fn a_judged_reply_is_an_answer_whatever_the_verdict() {
        let answered = Verdict::ALL.map(|verdict| result("a", verdict).is_answered());
        let expected = Verdict::ALL
            .map(|verdict| ["pass", "fail", "flaky"].contains(&verdict.to_string().as_str()));
        assert_eq!(answered, expected);
    }
}
