//! What carries bytes to a board and back. A serial port is one; tests have others.

use std::io;
use std::time::{Duration, Instant};

/// A line to a board.
pub trait Transport {
    /// What people call it.
    fn name(&self) -> &str;

    /// Takes in what has arrived, waiting up to `timeout` for something; 0 when nothing came.
    ///
    /// # Errors
    /// The line is gone.
    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize>;

    /// Sends all bytes.
    ///
    /// # Errors
    /// The line is gone, or it did not take them by the deadline ([`io::ErrorKind::TimedOut`]).
    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()>;
}
