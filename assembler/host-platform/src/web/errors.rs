//! Errors as the browser reports them of devices.

use std::io;

/// Returns the error of a device that failed.
#[must_use]
pub fn device_failed() -> io::Error {
    io::Error::other("the device failed")
}

/// Returns the error of a device that is not there any more.
#[must_use]
pub fn no_device() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the device has been lost")
}
