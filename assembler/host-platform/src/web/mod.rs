//! A worker of a page: it has a clock, and no files, processes, terminals or sockets.

pub mod errors;
pub mod files;
pub mod net;
pub mod process;
#[path = "../no_pty.rs"]
pub mod pty;
pub mod serial;
pub mod terminal;
pub mod time;

const WITHOUT_PTY: &str = "a page has no pseudo-terminals";
