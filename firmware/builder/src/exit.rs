//! The exit codes of this crate's errors.

use cli_support::exit::{CommandError, ENVIRONMENT, FAILED, NOTHING_SELECTED, USAGE};

use crate::build::BuildError;
use crate::evaluator::OverrideError;
use crate::profile::ProfileError;

impl From<ProfileError> for CommandError {
    fn from(error: ProfileError) -> Self {
        Self::new(USAGE, error)
    }
}

impl From<BuildError> for CommandError {
    fn from(error: BuildError) -> Self {
        let code = match &error {
            BuildError::Override(
                OverrideError::Unreadable { .. }
                | OverrideError::UnreadableListing { .. }
                | OverrideError::Unused(_),
            ) => ENVIRONMENT,
            BuildError::Override(OverrideError::Empty { .. } | OverrideError::NoRoutine { .. }) => {
                NOTHING_SELECTED
            }
            BuildError::NoFlash(_) => USAGE,
            _ => FAILED,
        };
        Self::new(code, error)
    }
}
