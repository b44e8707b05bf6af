//! The exit codes of this crate's errors.

use std::path::Path;
use std::sync::Arc;

use cli_support::exit::{CommandError, ENVIRONMENT, FAILED, INTERRUPTED};
use cli_support::files::read_input;
use cli_support::text::Escape;

use crate::{LoaderError, MonitorDescription, StockMonitor};

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

impl StockMonitor {
    /// Reads the description of a monitor for a command.
    ///
    /// # Errors
    /// Returns an error with exit code 3, the file's name, and the line or key that is wrong.
    pub fn from_file(file: &Path) -> Result<Self, CommandError> {
        let text = String::from_utf8_lossy(&read_input(file)?).into_owned();
        let monitor = MonitorDescription::parse(&text).map_err(|error| {
            CommandError::new(ENVIRONMENT, format!("{}: {error}", file.escaped()))
        })?;
        Ok(Self::Described(Arc::new(monitor)))
    }
}
