//! Windows.

pub mod errors;
pub mod files;
pub mod process;
#[path = "no_pty.rs"]
pub mod pty;
pub mod serial;
pub mod terminal;

/// A Windows console is not a serial device.
const NO_PTY_MESSAGE: &str = "Windows has no pseudo-terminals for serial programs; use a TCP port";
