//! Stub: a web page has no terminal.

use std::io;

/// A terminal in raw mode.
#[derive(Debug)]
pub struct RawMode(());

impl RawMode {
    /// Returns `None`.
    pub fn enable_on_stdin() -> io::Result<Option<Self>> {
        Ok(None)
    }
}

/// Does nothing.
pub fn restore() {}

/// Returns `false`.
pub fn is_closed() -> bool {
    false
}

/// Does nothing.
pub fn wait_for_input(_timeout: std::time::Duration) {}

/// Returns the end of input.
pub fn read_available_input() -> io::Result<Option<Vec<u8>>> {
    Ok(Some(Vec::new()))
}
