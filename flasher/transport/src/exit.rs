//! The exit codes of this crate's errors.

use program_kit::exit::{Failure, RIG};

use crate::port::OpenError;

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::new(RIG, error)
    }
}
