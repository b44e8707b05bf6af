//! The exit codes of this crate's errors.

use cli_support::exit::{Failure, NOTHING, RIG, USAGE, WRONG};

use crate::build::BuildError;
use crate::evaluator::OwnError;
use crate::profile::ProfileError;

impl From<ProfileError> for Failure {
    fn from(error: ProfileError) -> Self {
        Self::new(USAGE, error)
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        let code = match &error {
            BuildError::Own(OwnError::Unreadable { .. } | OwnError::Unused(_)) => RIG,
            BuildError::Own(OwnError::Empty { .. }) => NOTHING,
            BuildError::NoFlash(_) => USAGE,
            _ => WRONG,
        };
        Self::new(code, error)
    }
}
