//! Stub for platforms without pseudo-terminals.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::NO_PTY_MESSAGE;

/// A pseudo-terminal; can't be created on this platform.
pub struct Pty(Infallible);

impl Pty {
    /// Always fails.
    pub fn open(_baud: u32) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, NO_PTY_MESSAGE))
    }

    /// Returns the path of the slave side.
    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    /// Reads received bytes.
    pub fn read(&self, _buffer: &mut [u8]) -> Option<usize> {
        match self.0 {}
    }

    /// Writes bytes.
    pub fn write(&self, _bytes: &[u8]) -> usize {
        match self.0 {}
    }

    /// Returns the baud rate set by the other side.
    pub fn baud(&self) -> Option<u32> {
        match self.0 {}
    }

    /// Returns `true` if the other side has RTS/CTS flow control enabled.
    pub fn uses_rts_cts(&self) -> Option<bool> {
        match self.0 {}
    }

    /// Waits up to `timeout` for input.
    pub fn wait_readable(&self, _timeout: Duration) {
        match self.0 {}
    }
}
