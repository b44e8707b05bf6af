//! Windows.

pub mod errors;
pub mod files;
pub mod process;
#[path = "../no_pty.rs"]
pub mod pty;
pub mod serial;
pub mod terminal;

/// A console there is no serial device.
const WITHOUT_PTY: &str = "Windows has no pseudo-terminals for serial programs; use a TCP port";
