//! The exit codes of this crate's errors.

use cli_support::exit::{CommandError, ENVIRONMENT, FAILED, INTERRUPTED};

use crate::LoaderError;

impl From<LoaderError> for CommandError {
    fn from(error: LoaderError) -> Self {
        let code = match &error {
            LoaderError::Interrupted { .. } => INTERRUPTED,
            error if error.is_mismatch() => FAILED,
            _ => ENVIRONMENT,
        };
        Self::new(code, error)
    }
}
