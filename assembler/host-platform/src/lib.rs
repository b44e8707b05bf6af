//! The operating system behind one interface, so that no other crate asks which one it is.
//!
//! | module | what it gives | Unix | Windows | a page |
//! |---|---|---|---|---|
//! | [`serial`] | serial devices without waits that have no end | a descriptor beside `serialport`'s | `serialport`'s `COMPort` | none |
//! | [`files`] | files of one writer, folders of one user | `flock`, modes | share modes | none |
//! | [`terminal`] | the user's terminal, raw | termios | crossterm, a thread | none |
//! | [`process`] | groups, shells, who is alive | process groups, `sh` | `taskkill`, `cmd` | none |
//! | [`pty`] | pseudo-terminals | `openpt` | none | none |
//! | [`net`] | connections that are asked after | keep-alive | keep-alive | none |
//! | [`time`] | clock and rests | the library's | the library's | the browser's |
//! | [`errors`] | errors as devices make them, for tests | errno | Win32 | kinds |
//!
//! Windows is built and run under wine, macOS is type-checked (`.ci/cross/test`). "A page" is the
//! target
//! `wasm32-unknown-unknown` in a worker of a browser, built and run by `.ci/web/test`; what it has
//! none of is there as a module that says so when it is used.

pub mod ports;

#[cfg(unix)]
#[path = "unix/mod.rs"]
mod system;
#[cfg(not(any(unix, windows)))]
#[path = "web/mod.rs"]
mod system;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod system;
#[cfg(any(unix, windows))]
mod wires;

#[cfg(any(unix, windows))]
pub mod net;

#[cfg(any(unix, windows))]
pub mod time {
    //! The clock by which waits are measured, and rests.

    pub use std::thread::sleep;
    pub use std::time::{Duration, Instant};
}

pub use system::{errors, files, process, pty, serial, terminal};
#[cfg(not(any(unix, windows)))]
pub use system::{net, time};
