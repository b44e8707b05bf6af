//! Errors that the system reports for serial devices.

use std::io;

use rustix::io::Errno;

/// Returns the error of a device that failed.
pub fn device_failed() -> io::Error {
    Errno::IO.into()
}

/// Returns the error of a device that has been disconnected.
pub fn device_disconnected() -> io::Error {
    Errno::NXIO.into()
}
