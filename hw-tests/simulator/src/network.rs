//! A TCP port as the board's line: the host connects to it, and bytes pass as they are.

use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, TcpListener};

use rcflash_network::TcpLine;
use rcflash_transport::Transport;
use rcflash_transport::time::{Duration, Instant};

use super::line::Line;

/// The time that the host's computer may take to take in what the board has sent. A host that takes
/// longer is gone for the board.
const PATIENCE: Duration = Duration::from_secs(10);

/// The board's end of the line. One host at a time has it; what the board sends without one is
/// lost, as on a cable that is not plugged in.
pub struct NetworkLine {
    listener: TcpListener,
    name: String,
    host: Option<TcpLine>,
    arrived: VecDeque<u8>,
    unsent: Vec<u8>,
}

impl NetworkLine {
    /// Listens at an address; port 0 is any that is free.
    ///
    /// # Errors
    /// The address is not this computer's, or is in use.
    pub fn listen(at: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let name = format!("tcp://{}", listener.local_addr()?);
        Ok(Self { listener, name, host: None, arrived: VecDeque::new(), unsent: Vec::new() })
    }

    /// The address that the host names.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes a host in that has connected. While another one is there, it is turned away.
    fn look_for_host(&mut self) {
        let Ok((stream, from)) = self.listener.accept() else { return };
        if self.host.is_none() {
            self.host = TcpLine::new(from.to_string(), stream).ok();
        }
    }

    /// Takes in what the host has sent, waiting up to `wait` for something.
    fn hear(&mut self, wait: Duration) {
        let Some(host) = &mut self.host else { return };
        let mut buffer = [0; 256];
        match host.read(&mut buffer, wait) {
            Ok(count) => self.arrived.extend(&buffer[..count]),
            Err(_) => self.host = None, // the next one is welcome
        }
    }
}

impl Line for NetworkLine {
    fn receive(&mut self) -> Option<u8> {
        if self.arrived.is_empty() {
            self.hear(Duration::ZERO);
        }
        self.arrived.pop_front()
    }

    fn transmit(&mut self, value: u8) {
        if self.host.is_some() {
            self.unsent.push(value);
        }
    }

    fn flush(&mut self, wait: Option<Duration>) {
        self.look_for_host();
        let unsent = std::mem::take(&mut self.unsent);
        if let Some(host) = &mut self.host
            && host.write(&unsent, Instant::now() + PATIENCE).is_err()
        {
            self.host = None;
        }
        match wait {
            Some(wait) if self.host.is_none() => rcflash_transport::time::sleep(wait),
            Some(wait) if self.arrived.is_empty() => self.hear(wait),
            _ => {}
        }
    }
}
