//! The results file: one line of JSON per case, written as soon as the case is complete.
//!
//! The first line is [`Record::Head`], and a run that was not killed has [`Record::End`] as its
//! last. Lines are only appended, and each has a checksum over itself and all lines before it
//! ([`mod@line`]). So the file of a killed run is valid up to its last complete line, the missing
//! end shows that it is incomplete, and a line that was torn, edited, moved or removed is detected.

mod digest;
mod error;
pub mod line;
mod log;
mod read;

pub use digest::cases_digest;
pub use error::ResultsError;
pub use log::{Clock, ResultsWriter};
pub(crate) use read::{RESULTS_MAGIC, RecordReader};

use serde::{Deserialize, Serialize};

use crate::suite::{CaseResult, Suite, VerdictCounts};

/// The version of the format.
pub const RESULTS_FORMAT: u32 = 1;

/// A line of the results file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", bound = "")]
pub enum Record<S: Suite> {
    /// The configuration of the run.
    Head(RunHeader),
    /// A board that is ready; written again when the run is resumed.
    Ready(BoardReady),
    /// The result of a case.
    Case(Box<CaseResult<S>>),
    /// The counts so far, written at intervals in a soak run.
    Progress(VerdictCounts),
    /// The end of the run.
    End(RunEndRecord),
}

/// The configuration of a run. A run is resumed only with equal values, except for the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    /// The version of the format.
    pub results: u32,
    /// The program that ran it.
    pub program: String,
    /// The board's profile.
    pub profile: String,
    /// The behaviour of the program under test, where there are several.
    pub behaviour: String,
    /// The number of selected cases.
    pub cases: usize,
    /// The [`cases_digest`] of the cases.
    #[serde(default)]
    pub digest: String,
    /// The number of repetitions of each case.
    pub repeat: u32,
    /// The seed of the order of the cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The shard of the selection, such as `2/5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// The seed of the injected faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<u64>,
    /// The names of the boards in a run on a fleet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boards: Vec<String>,
}

/// The board and application on which the cases run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardReady {
    /// The board.
    pub board: String,
    /// The application and its build.
    pub application: String,
}

/// The end of a run as the results file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEndRecord {
    /// Whether all cases were run.
    pub complete: bool,
    /// The reason if the run is incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The counts of all verdicts, with those of the runs that this one resumed.
    pub counts: VerdictCounts,
}
