//! Exit codes of the errors.

use cli_support::exit::{CommandError, ENVIRONMENT, FAILED, INTERRUPTED, USAGE};

use crate::programmer::{FormatError, LayoutError, ProgrammerError};

impl From<FormatError> for CommandError {
    fn from(error: FormatError) -> Self {
        Self::new(USAGE, error)
    }
}

impl From<LayoutError> for CommandError {
    fn from(error: LayoutError) -> Self {
        Self::new(USAGE, error)
    }
}

impl From<ProgrammerError> for CommandError {
    fn from(error: ProgrammerError) -> Self {
        let code = match &error {
            ProgrammerError::Interrupted(_) => INTERRUPTED,
            error if error.is_mismatch() => FAILED,
            _ => ENVIRONMENT,
        };
        Self::new(code, error)
    }
}
