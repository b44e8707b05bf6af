//! Errors as the system reports them of devices.

use std::io;

use rustix::io::Errno;

/// Returns the error of a device that failed.
#[must_use]
pub fn device_failed() -> io::Error {
    Errno::IO.into()
}

/// Returns the error of a device that is not there any more.
#[must_use]
pub fn no_device() -> io::Error {
    Errno::NXIO.into()
}
