//! Stub: a web page has no serial devices with names. Its user selects a port (Web Serial); the
//! transport for that is part of the page's worker.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

/// An open serial device; can't be created on this platform.
pub struct Device(Infallible);

impl Device {
    /// Always fails.
    pub fn open(_name: &str, _baud: u32) -> io::Result<Self> {
        Err(ErrorKind::NotFound.into())
    }

    /// Reads received bytes.
    pub fn read(&mut self, _buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
        match self.0 {}
    }

    /// Writes bytes.
    pub fn write(&mut self, _bytes: &[u8], _timeout: Duration) -> io::Result<usize> {
        match self.0 {}
    }

    /// Keeps DTR and RTS unchanged when the device is closed.
    pub fn keep_lines_at_close(&mut self) -> io::Result<()> {
        match self.0 {}
    }

    /// Returns the baud rate.
    pub fn baud(&mut self) -> io::Result<u32> {
        match self.0 {}
    }

    /// Sets the baud rate.
    pub fn set_baud(&mut self, _baud: u32) -> io::Result<()> {
        match self.0 {}
    }

    /// Returns `true` if the device has modem control lines.
    pub fn has_control_lines(&mut self) -> bool {
        match self.0 {}
    }

    /// Sets DTR.
    pub fn set_dtr(&mut self, _on: bool) -> io::Result<()> {
        match self.0 {}
    }

    /// Sets RTS.
    pub fn set_rts(&mut self, _on: bool) -> io::Result<()> {
        match self.0 {}
    }

    /// Starts or ends a break condition.
    pub fn set_break(&mut self, _on: bool) -> io::Result<()> {
        match self.0 {}
    }

    /// Enables or disables RTS/CTS flow control; returns whether it was enabled before.
    pub fn set_hardware_flow_control(&mut self, _on: bool) -> io::Result<bool> {
        match self.0 {}
    }

    /// Discards bytes that were written and not transmitted yet.
    pub fn discard_unsent(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

/// Returns `false`.
pub fn is_device_name(_name: &str) -> bool {
    false
}

/// Returns `false`.
pub fn is_pseudo_terminal(_device: &Path) -> bool {
    false
}
