//! The exit codes of this crate's errors.

use cli_support::exit::{Failure, INTERRUPTED, RIG, WRONG};

use crate::LoaderError;

impl From<LoaderError> for Failure {
    fn from(error: LoaderError) -> Self {
        let code = match &error {
            LoaderError::Interrupted { .. } => INTERRUPTED,
            error if error.is_mismatch() => WRONG,
            _ => RIG,
        };
        Self::new(code, error)
    }
}
