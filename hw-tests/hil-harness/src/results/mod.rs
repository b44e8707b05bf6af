//! The results file: what became of each case, a line of JSON as soon as it has ended.
//!
//! The first line is [`Record::Head`], and a run that ended by itself has [`Record::End`] as its
//! last. Lines are only ever added, and each has a checksum over itself and all lines before it
//! ([`mod@line`]). So the file of a run that was killed is whole up to its last line, its missing
//! end shows that it is incomplete, and a line that was torn, edited, moved or removed is found.

mod digest;
mod error;
pub mod line;
mod log;

pub use digest::digest;
pub use error::ResultsError;
pub use log::{Clock, Log};
pub(crate) use log::{MARK, read_records};

use serde::{Deserialize, Serialize};

use crate::runner::{CaseResult, Counts};

/// The version of the format.
pub const FORMAT: u32 = 2;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// The run to make.
    Head(Head),
    /// The board, as soon as it is ready; once more each time that the run was resumed.
    Ready(Ready),
    /// The end of a case.
    Case(Box<CaseResult>),
    /// The counts so far, now and then in a soak run.
    Passed(Counts),
    /// The end of the run.
    End(End),
}

/// The run to make. A run can be resumed only by one that agrees in all of this but the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The version of the format.
    pub results: u32,
    /// The program that ran it.
    pub program: String,
    /// The board's profile.
    pub profile: String,
    /// The behaviour that the evaluator is to have.
    pub behaviour: String,
    /// The number of cases that are selected.
    pub cases: usize,
    /// The [`digest`] of the cases' contents.
    #[serde(default)]
    pub digest: String,
    /// The number of times each case is put to the board.
    pub repeat: u32,
    /// The number that chose the order of the cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The part of the selection, as `2/5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// The seed of the faults that are made on the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<u64>,
    /// The names of the boards, where they are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boards: Vec<String>,
}

/// The board and program that the cases were put to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The board.
    pub board: String,
    /// The application and its build.
    pub application: String,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Whether all cases had their turn.
    pub complete: bool,
    /// Reason if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// All verdicts, those of the runs that this one resumed included.
    pub counts: Counts,
}
