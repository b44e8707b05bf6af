//! Platform abstraction: one interface to serial devices, file locks, terminals and processes of
//! Unix, Windows and a web page. It is the only module with platform-specific code.
//! Features that a platform lacks are stubs that return [`Unsupported`](std::io::ErrorKind).
//!
//! | module | content | Unix | Windows | web page |
//! |---|---|---|---|---|
//! | [`serial`] | serial devices; every call has a timeout | own descriptor and `serialport` | `serialport`'s `COMPort` | none |
//! | [`files`] | exclusive files, private directories | `flock`, modes | share modes | none |
//! | [`terminal`] | raw mode | termios | crossterm, a thread | none |
//! | [`process`] | process groups, shells, liveness | process groups, `sh` | `taskkill`, `cmd` | none |
//! | [`pty`] | pseudo-terminals | `openpt` | none | none |
//! | [`net`] | TCP keep-alive | yes | yes | none |
//! | [`time`] | clock and sleep | `std` | `std` | the browser's |
//! | [`errors`] | errors of disconnected and failed devices, for tests | errno | Win32 | kinds |
//!
//! Windows is built and run under wine, macOS is type-checked (`.ci/cross/test`). "Web page" is the
//! target `wasm32-unknown-unknown` in a worker of a browser, built and run by `.ci/web/test`.
//!
//! ```
//! use rcflash_transport::platform::serial::is_device_name;
//!
//! // A rig file may name boards; a path is always a device.
//! # #[cfg(unix)]
//! assert!(is_device_name("/dev/ttyUSB0") && !is_device_name("bench"));
//! ```

pub mod ports;

#[cfg(any(unix, windows))]
mod control_lines;
#[cfg(unix)]
mod unix;
#[cfg(not(any(unix, windows)))]
mod web;
#[cfg(windows)]
mod windows;

#[cfg(any(unix, windows))]
pub mod net;

#[cfg(any(unix, windows))]
pub mod time {
    //! The clock for timeouts, and sleep.

    pub use std::thread::sleep;
    pub use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
}

#[cfg(unix)]
pub use unix::{errors, files, process, pty, serial, terminal};
#[cfg(not(any(unix, windows)))]
pub use web::{errors, files, net, process, pty, serial, terminal, time};
#[cfg(windows)]
pub use windows::{errors, files, process, pty, serial, terminal};
