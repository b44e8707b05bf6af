//! A TCP port as the board's serial line: a raw byte stream, without telnet or RFC 2217.

use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, TcpListener};

use rcflash_transport::Transport;
use rcflash_transport::network::{Occupancy, RawGate, Refusal, TcpTransport, refuse};
use rcflash_transport::time::{Duration, Instant};

use super::line::SerialLine;

/// How long a write to the host may block before the connection is closed.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// The board's end of the line. It accepts one host at a time; others are told which one. A host that
/// is gone gives way to the next, with the bytes that the board has not taken. A host
/// whose first bytes are a web request is refused before the board receives any. Without a host,
/// the characters that the board sends are lost, as on an unconnected cable.
pub struct NetworkLine {
    listener: TcpListener,
    name: String,
    host: Option<Host>,
    arrived: VecDeque<u8>,
    unsent: Vec<u8>,
}

struct Host {
    transport: TcpTransport,
    address: SocketAddr,
    gate: RawGate,
}

enum HostError {
    Disconnected,
    Refused(Refusal),
}

impl Host {
    /// Receives bytes for the board, waiting up to `wait` for the first.
    fn receive(&mut self, wait: Duration) -> Result<Vec<u8>, HostError> {
        let mut buffer = [0; 256];
        let count = self.transport.read(&mut buffer, wait);
        let received = &buffer[..count.map_err(|_| HostError::Disconnected)?];
        self.gate.pass(received, Instant::now()).map_err(HostError::Refused)
    }
}

impl NetworkLine {
    /// Listens at an address. Port 0 selects a free port.
    pub fn listen(at: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let name = format!("tcp://{}", listener.local_addr()?);
        Ok(Self { listener, name, host: None, arrived: VecDeque::new(), unsent: Vec::new() })
    }

    /// Returns the address to connect to, such as `tcp://127.0.0.1:3000`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Accepts a waiting connection. Refuses it while another host is connected; one that is gone
    /// gives way with the bytes that the board has not taken.
    fn accept_host(&mut self) {
        let occupancy = self.host.as_ref().map(|host| host.transport.occupancy());
        if occupancy == Some(Occupancy::Ending) {
            return;
        }
        let Ok((stream, from)) = self.listener.accept() else { return };
        if occupancy == Some(Occupancy::InUse) {
            self.receive_from_host(Duration::ZERO); // it may have disconnected
        }
        match &self.host {
            Some(host) if occupancy == Some(Occupancy::InUse) => {
                let reply = format!("the board is in use by {}\r\n", host.address);
                refuse(stream, reply.as_bytes());
                return;
            }
            Some(_) => self.arrived.clear(),
            None => {}
        }
        let transport = TcpTransport::new(from.to_string(), stream);
        let gate = RawGate::default();
        self.host = transport.ok().map(|transport| Host { transport, address: from, gate });
    }

    /// Receives from the host, waiting up to `wait` for the first byte.
    fn receive_from_host(&mut self, wait: Duration) {
        let Some(host) = &mut self.host else { return };
        match host.receive(wait) {
            Ok(received) => self.arrived.extend(received),
            Err(HostError::Disconnected) => self.host = None, // the next host may connect
            Err(HostError::Refused(why)) => {
                if let Some(host) = self.host.take() {
                    host.transport.refuse(&why.reply());
                }
            }
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
            && let Err(error) = host.transport.write(&unsent, Instant::now() + WRITE_TIMEOUT)
            && error.kind() == io::ErrorKind::TimedOut
        {
            // Any other error is noticed behind the bytes that the host had sent.
            self.host = None;
        }
        match wait {
            Some(wait) if self.host.is_none() => rcflash_transport::time::sleep(wait),
            Some(wait) if self.arrived.is_empty() => self.receive_from_host(wait),
            _ => {}
        }
    }
}
