//! Errors of results files.

use std::io;
use std::path::PathBuf;

use cli_support::exit::{Failure, RIG, USAGE};
use cli_support::text::Show;

use super::line::LineError;

/// An error of a results file.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The system refused an access.
    #[error("can't write the results to {}: {}", .0.shown(), .1)]
    Io(PathBuf, io::Error),
    /// There is a file of this name.
    #[error(
        "{} exists; continue its run with --resume, replace it with --force, or name another file",
        .0.shown()
    )]
    Exists(PathBuf),
    /// Another process writes it.
    #[error("{} is being written by another run; wait for its end", .0.shown())]
    Busy(PathBuf),
    /// It is not a results file, so it is left as it is.
    #[error("{} is not a results file; it was not changed", .0.shown())]
    NotOurs(PathBuf),
    /// It is no file at all.
    #[error("{} is not a file; results need one of their own", .0.shown())]
    NoFile(PathBuf),
    /// A line is damaged.
    #[error(
        "{}:{}: a damaged line: {}; to run the cases from there on again, cut the file off before it",
        .0.shown(), .1, .2
    )]
    Damaged(PathBuf, usize, LineError),
    /// It is of another run.
    #[error("{} is of another run: {} is {} there and {} here", .0.shown(), .1, .2, .3)]
    OtherRun(PathBuf, &'static str, String, String),
}

impl ResultsError {
    /// Returns the error for what the system says of a file.
    pub(super) fn of(path: &std::path::Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::Exists(path),
            io::ErrorKind::ResourceBusy => Self::Busy(path),
            _ => Self::Io(path, error),
        }
    }
}

impl From<ResultsError> for Failure {
    fn from(error: ResultsError) -> Self {
        let is_usage = matches!(
            error,
            ResultsError::Exists(_) | ResultsError::NotOurs(_) | ResultsError::OtherRun(..)
        );
        Self::new(if is_usage { USAGE } else { RIG }, error)
    }
}
