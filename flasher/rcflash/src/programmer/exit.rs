//! The exit codes of this crate's errors.

use cli_support::exit::{Failure, INTERRUPTED, RIG, USAGE, WRONG};

use crate::programmer::{FormatError, LayoutError, ProgrammerError};

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        Self::new(USAGE, error)
    }
}

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Self {
        Self::new(USAGE, error)
    }
}

impl From<ProgrammerError> for Failure {
    fn from(error: ProgrammerError) -> Self {
        let code = match &error {
            ProgrammerError::Interrupted(_) => INTERRUPTED,
            error if error.is_mismatch() => WRONG,
            _ => RIG,
        };
        Self::new(code, error)
    }
}
