//! The results file: one line of JSON per case, written as soon as the case is complete.
//!
//! The first line is [`Record::Head`], and a run that was not killed has [`Record::End`] as its
//! last. Lines are only appended, and each has a checksum over itself and all lines before it
//! ([`mod@line`]). So the file of a killed run is valid up to its last complete line, the missing
//! end shows that it is incomplete, and a line that was torn, edited, moved or removed is detected.

pub mod line;
mod log;
mod read;

pub use log::{Clock, ResultsWriter};
pub(crate) use read::{RESULTS_MAGIC, RecordReader};

use std::io;
use std::path::PathBuf;

use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::text::Escape;
use crc::{CRC_64_XZ, Crc};
use serde::{Deserialize, Serialize};

use crate::suite::{CaseResult, Suite, VerdictCounts};
use line::LineError;

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

const DIGEST: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

/// Returns the digest of cases as 16 hexadecimal digits: the sum of the CRC-64 of each, so that
/// their order does not matter.
pub fn cases_digest<S: Suite>(cases: &[S::Case]) -> String {
    let digests = cases.iter().map(|case| DIGEST.checksum(text::<S>(case).as_bytes()));
    format!("{:016X}", digests.fold(0, u64::wrapping_add))
}

/// Returns a case as text. Values are separated by characters that they don't contain.
fn text<S: Suite>(case: &S::Case) -> String {
    format!("{}\t{}\t{}\n", S::id(case), S::tags(case).join(" "), S::content(case))
}

/// An error of a results file.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The system returned an error.
    #[error("can't write the results to {}: {}", .0.escaped(), .1)]
    Io(PathBuf, io::Error),
    /// The file exists.
    #[error(
        "{} exists; continue its run with --resume, replace it with --force, or name another file",
        .0.escaped()
    )]
    Exists(PathBuf),
    /// Another process has locked the file.
    #[error("{} is being written by another run; wait for its end", .0.escaped())]
    Busy(PathBuf),
    /// The file is not a results file.
    #[error("{} is not a results file; it was not changed", .0.escaped())]
    NotAResultsFile(PathBuf),
    /// The path is not a file.
    #[error("{} is not a file: expected the path of a results file", .0.escaped())]
    NotAFile(PathBuf),
    /// A line is damaged, with its number.
    #[error(
        "{}:{}: a damaged line: {}; to run the cases from there on again, cut the file off before it",
        .0.escaped(), .1, .2
    )]
    Damaged(PathBuf, usize, LineError),
    /// The file is of another run: what differs, its value there, and the value here.
    #[error("{} is of another run: {} is {} there and {} here", .0.escaped(), .1, .2, .3)]
    OtherRun(PathBuf, &'static str, String, String),
}

impl ResultsError {
    /// Converts an error of the system.
    pub(super) fn from_io(path: &std::path::Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::Exists(path),
            io::ErrorKind::ResourceBusy => Self::Busy(path),
            _ => Self::Io(path, error),
        }
    }
}

impl From<ResultsError> for CommandError {
    fn from(error: ResultsError) -> Self {
        let is_usage = matches!(
            error,
            ResultsError::Exists(_) | ResultsError::NotAResultsFile(_) | ResultsError::OtherRun(..)
        );
        Self::new(if is_usage { USAGE } else { ENVIRONMENT }, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_suite::{TestCase, TestSuite, case};

    fn digest(cases: &[TestCase]) -> String {
        cases_digest::<TestSuite>(cases)
    }

    #[test]
    fn the_order_does_not_matter_and_everything_else_does() {
        let all = digest(&[case("a"), case("b")]);
        assert_eq!((digest(&[case("b"), case("a")]), all.len()), (all.clone(), 16));
        assert_ne!(digest(&[case("a")]), all);
        assert_ne!(digest(&[case("a"), case("b"), case("b"), case("b")]), all);
        assert_ne!(digest(&[case("a"), case("c")]), all);
        let other = TestCase { content: "HL=1".to_owned(), ..case("b") };
        assert_ne!(digest(&[case("a"), other]), all);
        let other = TestCase { tags: vec!["x".to_owned()], ..case("b") };
        assert_ne!(digest(&[case("a"), other]), all);
    }
}
