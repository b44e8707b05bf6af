//! Serial devices by name, of which there are none. A page is given a port by its user, and not by
//! a name: the transport for it is beside the worker that uses it.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use crate::ports::Listed;

/// An open serial device, of which there is none.
pub struct Device(Infallible);

impl Device {
    /// Opens a device.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`].
    pub fn open(_name: &str, _baud: u32) -> io::Result<Self> {
        Err(ErrorKind::NotFound.into())
    }

    /// Takes in what has arrived.
    ///
    /// # Errors
    /// None: there is no device.
    pub fn read(&mut self, _buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
        match self.0 {}
    }

    /// Hands over what the device takes.
    ///
    /// # Errors
    /// None: there is no device.
    pub fn write(&mut self, _bytes: &[u8], _timeout: Duration) -> io::Result<usize> {
        match self.0 {}
    }

    /// Leaves DTR and RTS as they are when the device is closed.
    ///
    /// # Errors
    /// None: there is no device.
    pub fn keep_lines_at_close(&mut self) -> io::Result<()> {
        match self.0 {}
    }

    /// The speed that the device has.
    ///
    /// # Errors
    /// None: there is no device.
    pub fn baud(&mut self) -> io::Result<u32> {
        match self.0 {}
    }

    /// Goes on at another speed.
    ///
    /// # Errors
    /// None: there is no device.
    pub fn set_baud(&mut self, _baud: u32) -> io::Result<()> {
        match self.0 {}
    }

    /// Whether the device has wires besides those for data.
    pub fn has_wires(&mut self) -> bool {
        match self.0 {}
    }

    /// Sets DTR.
    ///
    /// # Errors
    /// None: there is no device.
    pub fn set_dtr(&mut self, _on: bool) -> io::Result<()> {
        match self.0 {}
    }

    /// Sets RTS.
    ///
    /// # Errors
    /// None: there is no device.
    pub fn set_rts(&mut self, _on: bool) -> io::Result<()> {
        match self.0 {}
    }

    /// Holds the data line low, or lets it go.
    ///
    /// # Errors
    /// None: there is no device.
    pub fn set_break(&mut self, _on: bool) -> io::Result<()> {
        match self.0 {}
    }

    /// Has the host obey RTS, or not.
    ///
    /// # Errors
    /// None: there is no device.
    pub fn obey_rts(&mut self, _obey: bool) -> io::Result<bool> {
        match self.0 {}
    }

    /// Forgets what has not gone out yet.
    ///
    /// # Errors
    /// None: there is no device.
    pub fn discard_unsent(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

/// Lists the serial ports.
///
/// # Errors
/// None: there are none.
pub fn list() -> io::Result<Vec<Listed>> {
    Ok(Vec::new())
}

/// Whether a name can only be that of a device: none can.
#[must_use]
pub fn is_device_name(_name: &str) -> bool {
    false
}

/// Whether a device is one side of a pseudo-terminal: there are none.
#[must_use]
pub fn is_pseudo_terminal(_device: &Path) -> bool {
    false
}
