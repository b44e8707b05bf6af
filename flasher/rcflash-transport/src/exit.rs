//! The exit codes of this crate's errors.

use cli_support::exit::{CommandError, ENVIRONMENT};

use crate::port::OpenError;

impl From<OpenError> for CommandError {
    fn from(error: OpenError) -> Self {
        Self::new(ENVIRONMENT, error)
    }
}
