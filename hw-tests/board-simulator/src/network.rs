//! A TCP port as the board's serial line: a raw byte stream, without telnet or RFC 2217.

use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, TcpListener};

use rcflash_transport::Transport;
use rcflash_transport::network::TcpTransport;
use rcflash_transport::time::{Duration, Instant};

use super::line::SerialLine;

/// How long a write to the host may block before the connection is closed.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// The board's end of the line. It accepts one host at a time. Without a host, the characters that
/// the board sends are lost, as on an unconnected cable.
pub struct NetworkLine {
    listener: TcpListener,
    name: String,
    host: Option<TcpTransport>,
    arrived: VecDeque<u8>,
    unsent: Vec<u8>,
}

impl NetworkLine {
    /// Listens at an address. Port 0 selects a free port.
    ///
    /// # Errors
    /// Returns the error of the operating system if the address is not local or is in use.
    pub fn listen(at: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let name = format!("tcp://{}", listener.local_addr()?);
        Ok(Self { listener, name, host: None, arrived: VecDeque::new(), unsent: Vec::new() })
    }

    /// Returns the address to connect to, such as `tcp://127.0.0.1:3000`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Accepts a waiting connection, and closes it at once if a host is already connected.
    fn accept_host(&mut self) {
        let Ok((stream, from)) = self.listener.accept() else { return };
        if self.host.is_none() {
            self.host = TcpTransport::new(from.to_string(), stream).ok();
        }
    }

    /// Receives from the host, waiting up to `wait` for the first byte.
    fn receive_from_host(&mut self, wait: Duration) {
        let Some(host) = &mut self.host else { return };
        let mut buffer = [0; 256];
        match host.read(&mut buffer, wait) {
            Ok(count) => self.arrived.extend(&buffer[..count]),
            Err(_) => self.host = None, // disconnected; the next host may connect
        }
    }
}

impl SerialLine for NetworkLine {
    fn receive(&mut self) -> Option<u8> {
        if self.arrived.is_empty() {
            self.receive_from_host(Duration::ZERO);
        }
        self.arrived.pop_front()
    }

    fn transmit(&mut self, value: u8) {
        if self.host.is_some() {
            self.unsent.push(value);
        }
    }

    fn flush(&mut self, wait: Option<Duration>) {
        self.accept_host();
        let unsent = std::mem::take(&mut self.unsent);
        if let Some(host) = &mut self.host
            && host.write(&unsent, Instant::now() + WRITE_TIMEOUT).is_err()
        {
            self.host = None;
        }
        match wait {
            Some(wait) if self.host.is_none() => rcflash_transport::time::sleep(wait),
            Some(wait) if self.arrived.is_empty() => self.receive_from_host(wait),
            _ => {}
        }
    }
}
