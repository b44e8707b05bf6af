//! Byte transports to a board: local serial ports, and ports reached over a network by raw TCP, RFC
//! 2217 or WebSocket ([`network`]). A port is locked while it is open ([`lock`]), and
//! [`ReconnectingTransport`] reopens one that was unplugged. Everything implements [`Transport`].
//! What differs between operating systems is in [`platform`].
//!
//! ```no_run
//! use rcflash_transport::network;
//! use rcflash_transport::time::{Duration, Instant};
//!
//! let mut board = network::open("rfc2217://bench.local:2217", 115_200)?;
//! board.write(b"\r", Instant::now() + Duration::from_secs(1))?;
//! let mut buffer = [0; 64];
//! let count = board.read(&mut buffer, Duration::from_secs(1))?;
//! println!("{}", String::from_utf8_lossy(&buffer[..count]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod child;
mod exit;
pub mod lock;
pub mod network;
pub mod platform;
pub mod port;
mod port_users;
mod reconnect;

use std::io;

use platform::time::{Duration, Instant};

pub use platform::time;
pub use reconnect::{ReconnectingTransport, Reopen};

use lock::LockHolder;

/// What a transport can do besides carrying bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether there are flow control wires, by which the board can suspend the host. Whether they
    /// are connected at the board can't be detected.
    pub flow_control: bool,
    /// Whether DTR and RTS can be set. A reset circuit may be connected to one of them.
    pub control_lines: bool,
}

/// A signal that the host sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlLine {
    /// Data terminal ready.
    Dtr,
    /// Request to send.
    Rts,
    /// The data line: a break while it is active.
    Break,
}

/// Bytes transferred since a transport was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByteCounts {
    /// Bytes sent to the board.
    pub sent: u64,
    /// Bytes received from the board.
    pub received: u64,
}

/// A byte stream to and from a board.
pub trait Transport {
    /// Returns the name of the port or address, for messages.
    fn name(&self) -> &str {
        self.inner().map_or("", |inner| inner.name())
    }

    /// Returns the transport that this one wraps, which does what this one does not define itself.
    fn inner(&self) -> Option<&dyn Transport> {
        None
    }

    /// Like [`Self::inner`].
    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        None
    }

    /// Returns what the transport can do; by default it only carries bytes.
    fn capabilities(&self) -> Capabilities {
        self.inner().map_or_else(Capabilities::default, |inner| inner.capabilities())
    }

    /// Returns the current time by the clock that deadlines refer to. It runs faster than the
    /// host's if the board's time is simulated.
    fn now(&self) -> Instant {
        self.inner().map_or_else(Instant::now, |inner| inner.now())
    }

    /// Returns the number of bytes transferred, or `None` if the transport does not count them.
    fn byte_counts(&self) -> Option<ByteCounts> {
        self.inner()?.byte_counts()
    }

    /// Returns the previous lock holder if it exited without releasing the lock.
    fn previous_holder(&self) -> Option<&LockHolder> {
        self.inner()?.previous_holder()
    }

    /// Keeps DTR and RTS unchanged when the transport is closed, if it has them. By default the
    /// system deactivates them, which resets a board whose reset circuit is connected to one.
    fn keep_lines_at_close(&mut self) -> io::Result<()> {
        self.inner_mut().map_or(Ok(()), |inner| inner.keep_lines_at_close())
    }

    /// Sets a control line; `on` is its active state, as when a terminal is ready.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::Unsupported`] if there is no such line, or the error of the device.
    fn set_control_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        self.inner_mut().ok_or(io::ErrorKind::Unsupported)?.set_control_line(line, on)
    }

    /// Reads what was received, and waits up to `timeout` for the first byte. Returns 0 if nothing
    /// is received.
    ///
    /// # Errors
    /// Returns an error if the port was disconnected.
    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize>;

    /// Sends all bytes.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::TimedOut`] if the port did not accept the bytes by `deadline`, or
    /// an error if it was disconnected.
    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()>;

    /// Sets whether the host stops sending while the board deactivates RTS, and returns the
    /// previous setting. Without such wires this has no effect.
    fn set_flow_control(&mut self, enabled: bool) -> io::Result<bool> {
        self.inner_mut().map_or(Ok(false), |inner| inner.set_flow_control(enabled))
    }

    /// Changes the speed.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::Unsupported`] if the speed is fixed, or the error of the device.
    fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        self.inner_mut().ok_or(io::ErrorKind::Unsupported)?.set_baud(baud)
    }

    /// Discards bytes that were written but not transmitted yet.
    fn discard_unsent(&mut self) -> io::Result<()> {
        self.inner_mut().map_or(Ok(()), |inner| inner.discard_unsent())
    }
}
