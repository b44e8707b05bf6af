//! What is tested: the cases of a suite, and how their results are stored and described.
//!
//! [`Suite`] is what results files, baselines and reports need. How its cases run on a board is its
//! own affair: [`LiveBoard`](crate::live::LiveBoard) is the connection.

mod result;

pub use result::{BoardVerdict, CaseResult, FaultOrigin, Verdict, VerdictCounts};

use std::fmt::{Debug, Display};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A kind of test: its cases, and how their results are stored and described.
pub trait Suite: Debug + Clone + Default + PartialEq + Eq + Send + Sync + 'static {
    /// A case.
    type Case: Debug + Clone + Send + Sync;
    /// A value that differs from the expected one. Its text has the name of the value, both
    /// values, and where they are.
    type Difference: Debug + Display + Clone + Default + Eq + Serialize + DeserializeOwned + Send;
    /// The suite's own fields of a [`CaseResult`]: a struct whose fields are stored beside those of
    /// the result.
    type Details: Debug + Clone + Default + PartialEq + Eq + Serialize + DeserializeOwned + Send;

    /// Plural noun for the compared values: heading of a column, of at most eight letters.
    const VALUE_NOUN: &'static str;
    /// The heading of [`Self::subject`] in reports.
    const SUBJECT: &'static str;
    /// Remarks on values that are listed by case after a run.
    const REMARKS: &'static [&'static str] = &[];
    /// The parts of `report.html` that show values.
    const PAGE: Page;

    /// Returns the name of a case, unique in a run.
    fn id(case: &Self::Case) -> &str;

    /// Returns the tags of a case.
    fn tags(case: &Self::Case) -> &[String];

    /// Returns the content of a case as text, for the digest of a run. Cases with the same name,
    /// tags and content are the same case.
    fn content(case: &Self::Case) -> String;

    /// Returns the suite's fields of a result without values.
    fn details(case: &Self::Case) -> Self::Details;

    /// Returns what a case is about, which reports show beside its name. Results of a baseline
    /// count only for cases with the same subject.
    fn subject(details: &Self::Details) -> Option<&str>;

    /// Returns the number of compared values.
    fn value_count(details: &Self::Details) -> u64;

    /// Returns the measured T-states of values; none if they were not measured.
    fn t_states(_details: &Self::Details) -> Vec<u64> {
        Vec::new()
    }

    /// Returns what the code under test has printed, for `junit.xml`; `None` if that is not known.
    fn output(_details: &Self::Details) -> Option<&str> {
        None
    }

    /// Returns the names of the values to which a remark applies, given by its index in
    /// [`Self::REMARKS`].
    fn remarked(_details: &Self::Details, _remark: usize) -> Vec<&str> {
        Vec::new()
    }

    /// Returns the values as the script of [`Self::PAGE`] expects them.
    fn page_values(details: &Self::Details) -> Value;

    /// Returns commands to investigate a failed case; `None` if there are none.
    fn follow_up(_result: &CaseResult<Self>, _options: &FollowUpOptions) -> Option<FollowUp> {
        None
    }
}

/// The parts of `report.html` that a suite has.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Style sheet of its values.
    pub style: &'static str,
    /// Scripts that define `suite`, as described in `report/page/elements.js`.
    pub scripts: &'static [&'static str],
    /// Examples of what can be searched for.
    pub search: &'static str,
    /// HTML below the cases.
    pub legend: &'static str,
}

/// Options that make follow-up commands use the run's board and program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FollowUpOptions {
    /// Options of commands that take any board.
    pub board: Vec<String>,
    /// Options of commands that simulate a board; `None` if this program did not build the
    /// application.
    pub simulated: Option<Vec<String>>,
}

/// A failed case, and the commands to investigate it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    /// The case's name.
    pub case: String,
    /// Command lines as a shell takes them.
    pub commands: Vec<String>,
    /// Whether they show a wrong value, and not only the whole case.
    #[serde(skip)]
    pub is_precise: bool,
}

impl FollowUp {
    /// Returns the commands for a failed case; `None` if it did not fail or there are none.
    pub fn for_case<S: Suite>(result: &CaseResult<S>, options: &FollowUpOptions) -> Option<Self> {
        if result.verdict != Verdict::Fail {
            return None;
        }
        S::follow_up(result, options)
    }
}
