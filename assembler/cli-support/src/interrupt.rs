//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::{Failure, INTERRUPTED, RIG};

/// Returns a flag that Ctrl-C and a termination set instead of ending the program; a second one
/// ends it at once.
pub fn interruption() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    let stop = move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    };
    ctrlc::set_handler(stop)
        .map_err(|error| Failure::new(RIG, format!("can't watch for Ctrl-C: {error}")))?;
    Ok(flag)
}
