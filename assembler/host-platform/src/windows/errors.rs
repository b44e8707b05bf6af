//! Errors as the system reports them of devices.

use std::io;

/// `ERROR_GEN_FAILURE`.
const FAILED: i32 = 31;
/// `ERROR_DEVICE_NOT_CONNECTED`.
const GONE: i32 = 1167;

/// Returns the error of a device that failed.
#[must_use]
pub fn device_failed() -> io::Error {
    io::Error::from_raw_os_error(FAILED)
}

/// Returns the error of a device that is not there any more.
#[must_use]
pub fn no_device() -> io::Error {
    io::Error::from_raw_os_error(GONE)
}
