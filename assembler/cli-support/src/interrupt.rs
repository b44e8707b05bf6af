//! Handling of Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::{CommandError, ENVIRONMENT, INTERRUPTED};

/// Installs a handler for Ctrl-C and SIGTERM and returns the flag that it sets. A second signal
/// exits at once.
///
/// # Errors
/// Returns the system's error, with exit code 3, if the handler cannot be installed.
pub fn install_handler() -> Result<Arc<AtomicBool>, CommandError> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    let stop = move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    };
    ctrlc::set_handler(stop).map_err(|error| {
        CommandError::new(ENVIRONMENT, format!("cannot install a handler for Ctrl-C: {error}"))
    })?;
    Ok(flag)
}
