//! Lines that carry bytes to a board and back. A serial port is one; tests have others.

mod busy;
mod exit;
mod lasting;
pub mod lock;
pub mod network;
pub mod port;

use std::io;

use host_platform::time::{Duration, Instant};

pub use host_platform::time;
pub use lasting::{Lasting, Reopen};

use lock::Holder;

/// The abilities of a line besides carrying bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether there are wires by which the board can stop the host. Whether the board's end of
    /// them is connected can't be known.
    pub flow_control: bool,
    /// Whether DTR and RTS can be set, on which a reset circuit may hang.
    pub control_lines: bool,
}

/// A line that the host sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlLine {
    /// Data terminal ready.
    Dtr,
    /// Request to send.
    Rts,
    /// The data line itself: set, it is a break.
    Break,
}

/// Bytes that have passed since a line was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Passed {
    /// To the board.
    pub sent: u64,
    /// From it.
    pub heard: u64,
}

/// A line to a board.
pub trait Transport {
    /// The name of the line.
    fn name(&self) -> &str;

    /// The abilities of the line; by default it only carries bytes.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// The time by which waits are measured. It runs ahead of the computer's where the board's time
    /// is simulated.
    fn now(&self) -> Instant {
        Instant::now()
    }

    /// The number of bytes that have passed, if the line counts them.
    fn passed(&self) -> Option<Passed> {
        None
    }

    /// The program that held the line's lock last, if it ended without letting go.
    fn left_by(&self) -> Option<&Holder> {
        None
    }

    /// Leaves DTR and RTS as they are when the line is closed, where it has them. By default the
    /// system drops them then, which resets a board whose reset hangs on one.
    ///
    /// # Errors
    /// The device refused.
    fn keep_lines_at_close(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Sets a line; `on` is its active state, as when a terminal is ready.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] when there is no such line, and what else the device said.
    fn set_line(&mut self, _line: ControlLine, _on: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

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

    /// Whether the host shall stop sending while the board does not allow it by RTS. A line without
    /// such wires has nothing to do. Returns whether it did before.
    ///
    /// # Errors
    /// The device refused.
    fn obey_rts(&mut self, _obey: bool) -> io::Result<bool> {
        Ok(false)
    }

    /// Goes on at another speed.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] when the line has only one, and what else the device said.
    fn set_baud(&mut self, _baud: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Forgets what was written and has not gone out yet.
    ///
    /// # Errors
    /// The device refused.
    fn discard_unsent(&mut self) -> io::Result<()> {
        Ok(())
    }
}
