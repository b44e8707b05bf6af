//! The exit codes of this crate's errors.

use cli_support::exit::{CommandError, ENVIRONMENT, FAILED, INTERRUPTED};

use crate::LinkError;
use crate::flash::FlashError;
use crate::loader::LoadError;

impl From<LinkError> for CommandError {
    fn from(error: LinkError) -> Self {
        let interrupted = matches!(error, LinkError::Interrupted { .. });
        Self::new(if interrupted { INTERRUPTED } else { ENVIRONMENT }, error)
    }
}

impl From<LoadError> for CommandError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Link(error) => error.into(),
            LoadError::Verify { .. }
            | LoadError::NotStarted { .. }
            | LoadError::OtherBuild { .. } => Self::new(FAILED, error),
            error => Self::new(ENVIRONMENT, error),
        }
    }
}

impl From<FlashError> for CommandError {
    fn from(error: FlashError) -> Self {
        match error {
            FlashError::Link(LinkError::Interrupted { .. })
            | FlashError::Load(LoadError::Link(LinkError::Interrupted { .. })) => {
                Self::new(INTERRUPTED, error)
            }
            error => Self::new(if error.is_mismatch() { FAILED } else { ENVIRONMENT }, error),
        }
    }
}
