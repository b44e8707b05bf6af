//! A raw TCP connection: the board's bytes without any protocol.

use std::io;
use std::net::TcpStream;

use crate::lock::{LockHolder, PortLock};
use crate::network::NetworkAddress;
use crate::network::socket::{Occupancy, Socket};
use crate::port::OpenError;
use crate::time::{Duration, Instant};
use crate::{ByteCounts, Transport};

/// How long to wait for a server that refuses the connection: one round trip.
const REFUSAL_WINDOW: Duration = Duration::from_millis(250);

/// A raw TCP transport. Speed, control lines and flow control belong to the server.
pub struct TcpTransport {
    name: String,
    socket: Socket,
    /// The last field, so that the lock is released after the connection is closed.
    lock: Option<PortLock>,
}

impl TcpTransport {
    /// Connects to a raw port.
    ///
    /// # Errors
    /// Returns [`OpenError`] if the connection fails or is refused, or another program of this
    /// project uses the address.
    pub fn open(address: &NetworkAddress) -> Result<Self, OpenError> {
        let (mut socket, lock) = Socket::connect(address)?;
        let name = address.to_string();
        match socket.wait_for_refusal(REFUSAL_WINDOW) {
            Ok(()) => Ok(Self { name, socket, lock: Some(lock) }),
            Err(error) => Err(OpenError::Other(name, error)),
        }
    }

    /// Wraps an existing connection.
    ///
    /// # Errors
    /// Returns the system's error if the connection is already closed.
    pub fn new(name: String, stream: TcpStream) -> io::Result<Self> {
        Ok(Self { name, socket: Socket::new(stream)?, lock: None })
    }

    /// Returns whether the peer, as a client, keeps others from being served.
    pub fn occupancy(&self) -> Occupancy {
        self.socket.occupancy()
    }

    /// Sends a reply to a refused client and closes the connection, in a thread.
    pub fn refuse(self, reply: &[u8]) {
        self.socket.refuse(reply);
    }
}

impl Transport for TcpTransport {
    fn name(&self) -> &str {
        &self.name
    }

    fn byte_counts(&self) -> Option<ByteCounts> {
        Some(self.socket.byte_counts)
    }

    fn previous_holder(&self) -> Option<&LockHolder> {
        self.lock.as_ref()?.previous_holder()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.socket.read(buffer, timeout)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.socket.write(bytes, deadline)
    }
}
