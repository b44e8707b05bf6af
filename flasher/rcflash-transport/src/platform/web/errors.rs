//! Errors that the browser reports for serial devices.

use std::io;

/// Returns the error of a device that failed.
pub fn device_failed() -> io::Error {
    io::Error::other("the device failed")
}

/// Returns the error of a device that has been disconnected.
pub fn device_disconnected() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the device has been lost")
}
