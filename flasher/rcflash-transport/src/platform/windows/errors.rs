//! Errors that the system reports for serial devices.

use std::io;

/// `ERROR_GEN_FAILURE`.
const GEN_FAILURE: i32 = 31;
/// `ERROR_DEVICE_NOT_CONNECTED`.
const DEVICE_NOT_CONNECTED: i32 = 1167;

/// Returns the error of a device that failed.
pub fn device_failed() -> io::Error {
    io::Error::from_raw_os_error(GEN_FAILURE)
}

/// Returns the error of a device that has been disconnected.
pub fn device_disconnected() -> io::Error {
    io::Error::from_raw_os_error(DEVICE_NOT_CONNECTED)
}
