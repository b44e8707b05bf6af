//! Errors of results files.

use std::io;
use std::path::PathBuf;

use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::text::Escape;

use super::line::LineError;

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
