//! The exit codes of this crate's errors.

use cli_support::exit::{Failure, INTERRUPTED, RIG, WRONG};

use crate::LinkError;
use crate::flash::FlashError;
use crate::loader::LoadError;

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        let interrupted = matches!(error, LinkError::Interrupted { .. });
        Self::new(if interrupted { INTERRUPTED } else { RIG }, error)
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Link(error) => error.into(),
            LoadError::Verify { .. } => Self::new(WRONG, error),
            error => Self::new(RIG, error),
        }
    }
}

impl From<FlashError> for Failure {
    fn from(error: FlashError) -> Self {
        match error {
            FlashError::Link(LinkError::Interrupted { .. })
            | FlashError::Load(LoadError::Link(LinkError::Interrupted { .. })) => {
                Self::new(INTERRUPTED, error)
            }
            error => Self::new(if error.is_mismatch() { WRONG } else { RIG }, error),
        }
    }
}
