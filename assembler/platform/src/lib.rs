//! The operating system behind one interface, so that no other crate asks which one it is.
//!
//! | module | what it gives | Unix | Windows |
//! |---|---|---|---|
//! | [`serial`] | serial devices without waits that have no end | a descriptor beside `serialport`'s | `serialport`'s `COMPort` |
//! | [`files`] | files of one writer, folders of one user | `flock`, modes | share modes |
//! | [`terminal`] | the user's terminal, raw | termios | crossterm, a thread |
//! | [`process`] | groups, shells, who is alive | process groups, `sh` | `taskkill`, `cmd` |
//! | [`pty`] | pseudo-terminals | `openpt` | none |
//! | [`net`] | connections that are asked after | keep-alive | keep-alive |
//! | [`errors`] | errors as devices make them, for tests | errno | Win32 |
//!
//! Windows is built and run under wine, macOS is type-checked (`.ci/cross`).

pub mod net;

#[cfg(unix)]
#[path = "unix/mod.rs"]
mod system;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod system;

pub use system::{errors, files, process, pty, serial, terminal};
