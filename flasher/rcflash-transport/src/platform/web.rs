//! A worker of a web page: it has a clock, and no files, processes, terminals or sockets.

pub mod errors;
pub mod files;
pub mod net;
pub mod process;
#[path = "no_pty.rs"]
pub mod pty;
pub mod serial;
pub mod terminal;
pub mod time;

const NO_PTY_MESSAGE: &str = "a page has no pseudo-terminals";
