//! The exit codes of this crate's errors.

use cli_support::exit::{Failure, RIG};

use crate::port::OpenError;

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::new(RIG, error)
    }
}
