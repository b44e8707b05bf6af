//! The exit codes of this crate's errors.

use cli_support::exit::{Failure, RIG, USAGE};

use crate::RigFileError;
use crate::reset::ResetError;

impl From<RigFileError> for Failure {
    fn from(error: RigFileError) -> Self {
        let usage = matches!(error, RigFileError::Unknown { .. } | RigFileError::NoneTagged { .. });
        Self::new(if usage { USAGE } else { RIG }, error)
    }
}

impl From<ResetError> for Failure {
    fn from(error: ResetError) -> Self {
        match error {
            ResetError::Link(error) => error.into(),
            error => Self::new(RIG, error),
        }
    }
}
