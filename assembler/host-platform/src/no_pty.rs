//! Pseudo-terminals where the system has none.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::WITHOUT_PTY;

/// A pseudo-terminal, of which there is none.
pub struct Pty(Infallible);

impl Pty {
    /// Opens a pseudo-terminal.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`], with what to use instead.
    pub fn open(_baud: u32) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, WITHOUT_PTY))
    }

    /// The path that others open.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    /// Takes in what has come.
    pub fn read(&self, _buffer: &mut [u8]) -> Option<usize> {
        match self.0 {}
    }

    /// Hands over what is taken.
    #[must_use]
    pub fn write(&self, _bytes: &[u8]) -> usize {
        match self.0 {}
    }

    /// The speed that the other side has set.
    #[must_use]
    pub fn speed(&self) -> Option<u32> {
        match self.0 {}
    }

    /// Whether the other side stops sending when it is held off.
    #[must_use]
    pub fn obeys_rts(&self) -> Option<bool> {
        match self.0 {}
    }

    /// Waits up to a time for something to come.
    pub fn wait(&self, _time: Duration) {
        match self.0 {}
    }
}
