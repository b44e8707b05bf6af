//! The exit codes of this crate's errors.

use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};

use super::RigFileError;
use super::reset::ResetError;

impl From<RigFileError> for CommandError {
    fn from(error: RigFileError) -> Self {
        let usage =
            matches!(error, RigFileError::UnknownBoard { .. } | RigFileError::NoBoardTagged { .. });
        Self::new(if usage { USAGE } else { ENVIRONMENT }, error)
    }
}

impl From<ResetError> for CommandError {
    fn from(error: ResetError) -> Self {
        match error {
            ResetError::Link(error) => error.into(),
            error => Self::new(ENVIRONMENT, error),
        }
    }
}
