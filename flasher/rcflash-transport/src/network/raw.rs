//! A TCP connection that carries a board's bytes and nothing else.

use std::io;
use std::net::TcpStream;

use crate::lock::{Holder, PortLock};
use crate::port::OpenError;
use crate::time::{Duration, Instant};
use crate::{Passed, Transport};

use crate::network::Address;
use crate::network::socket::Socket;

/// The time in which a server closes that does not give its port: one way on the network and back.
const REFUSAL: Duration = Duration::from_millis(250);

/// The line: without a speed, wires or flow control of its own, which are the other side's.
pub struct TcpLine {
    name: String,
    socket: Socket,
    /// The last field, so that it is let go when all else is closed.
    lock: Option<PortLock>,
}

impl TcpLine {
    /// Connects to a raw port.
    ///
    /// # Errors
    /// Nobody listens there, or another program of this project uses it.
    pub fn open(address: &Address) -> Result<Self, OpenError> {
        let (mut socket, lock) = Socket::connect(address)?;
        let name = address.to_string();
        match socket.stays(REFUSAL) {
            Ok(()) => Ok(Self { name, socket, lock: Some(lock) }),
            Err(error) => Err(OpenError::Other(name, error)),
        }
    }

    /// Takes a connection over.
    ///
    /// # Errors
    /// It is gone already.
    pub fn new(name: String, stream: TcpStream) -> io::Result<Self> {
        Ok(Self { name, socket: Socket::new(stream)?, lock: None })
    }
}

impl Transport for TcpLine {
    fn name(&self) -> &str {
        &self.name
    }

    fn passed(&self) -> Option<Passed> {
        Some(self.socket.passed)
    }

    fn left_by(&self) -> Option<&Holder> {
        self.lock.as_ref()?.left_by()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.socket.read(buffer, timeout)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.socket.write(bytes, deadline)
    }
}
