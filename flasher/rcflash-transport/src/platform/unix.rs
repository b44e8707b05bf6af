//! Linux, macOS and other Unix systems.

pub mod errors;
pub mod files;
pub mod process;
pub mod pty;
pub mod serial;
pub mod terminal;
