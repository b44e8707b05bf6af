//! The user's terminal, of which there is none.

use std::io;

/// A terminal in raw mode.
#[derive(Debug)]
pub struct RawMode(());

impl RawMode {
    /// Puts the terminal at standard input into raw mode; there is none.
    ///
    /// # Errors
    /// None.
    pub fn of_input() -> io::Result<Option<Self>> {
        Ok(None)
    }
}

/// Puts the terminal back; it is as it was.
pub fn restore() {}

/// Returns input from the keyboard: it has ended.
///
/// # Errors
/// None.
pub fn take_input() -> io::Result<Option<Vec<u8>>> {
    Ok(Some(Vec::new()))
}
