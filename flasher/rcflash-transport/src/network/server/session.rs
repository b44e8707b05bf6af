//! The session of a client, from its connection to its end.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};

use super::pending::Connection;
use super::port_state::{PortReply, PortState};
use crate::Transport;
use crate::network::admission::{RawGate, Refusal};
use crate::network::comport::{self, SERVER_OFFSET, encode};
use crate::network::socket::{Occupancy, Socket};
use crate::network::telnet::{COM_PORT, Decoder, OptionNegotiation, TelnetEvent, escape};
use crate::time::{Duration, Instant};

/// How long one side is polled before the other.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
const PORT_WRITE_TIMEOUT: Duration = Duration::from_millis(1);
/// The maximum number of bytes per write to the port.
const MAX_CHUNK_BYTES: usize = 64;
const CLIENT_WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// Sizes of the outbox at which the client is suspended and resumed, and at which nothing more is
/// received from a client that ignores that. At 115,200 baud the port sends for 0.2 s between the
/// first two.
const SUSPEND_AT: usize = 4096;
const RESUME_AT: usize = 2048;
const MAX_OUTBOX: usize = 1 << 16;

pub(super) enum SessionEnd {
    /// The client disconnected, or its connection failed.
    ClientDisconnected(io::Error),
    /// The first bytes of a raw client are no bytes for a board.
    Refused(Refusal),
    PortFailed(io::Error),
    Stopped,
}

pub(super) struct Session {
    socket: Socket,
    port: Box<dyn Transport + Send>,
    telnet: Option<Telnet>,
    gate: RawGate,
    /// Bytes of the client that were received before the session.
    unread: Vec<u8>,
    /// Bytes of the client that the port has not accepted yet.
    outbox: VecDeque<u8>,
    /// The error of the client's connection, while its last bytes are written to the port.
    end: Option<io::Error>,
}

struct Telnet {
    decoder: Decoder,
    options: OptionNegotiation,
    port_state: PortState,
    /// Whether the server has suspended the client.
    client_suspended: bool,
    /// Whether the client has suspended the server.
    server_suspended: bool,
}

impl Session {
    pub(super) fn new(client: Connection, port: Box<dyn Transport + Send>, baud: u32) -> Self {
        let Connection { socket, unread, telnet, gate, .. } = client;
        let telnet = telnet.map(|(decoder, options)| Telnet {
            decoder,
            options,
            port_state: PortState::new(baud),
            client_suspended: false,
            server_suspended: false,
        });
        Self { socket, port, telnet, gate, unread, outbox: VecDeque::new(), end: None }
    }

    pub(super) fn refuse_client(self, reply: &[u8]) {
        self.socket.refuse(reply);
    }

    /// Transfers bytes and executes requests until a side disconnects or `stop` is set. `on_poll`
    /// returns `true` if the client has to give way to another.
    pub(super) fn run(
        &mut self,
        stop: &AtomicBool,
        mut on_poll: impl FnMut(Occupancy) -> bool,
    ) -> SessionEnd {
        let unread = std::mem::take(&mut self.unread);
        if let Err(end) = self.handle_received(&unread).and_then(|()| self.forward_to_port()) {
            return end;
        }
        while !stop.load(Ordering::Relaxed) {
            if let Err(end) = self.poll() {
                return end;
            }
            if on_poll(self.socket.occupancy()) {
                return SessionEnd::ClientDisconnected(self.given_way());
            }
        }
        SessionEnd::Stopped
    }

    fn poll(&mut self) -> Result<(), SessionEnd> {
        self.forward_to_client()?;
        if self.end.is_none() {
            self.receive_from_client()?;
        }
        self.forward_to_port()?;
        if self.outbox.is_empty()
            && let Some(error) = self.end.take()
        {
            return Err(SessionEnd::ClientDisconnected(error));
        }
        self.throttle_client().map_err(SessionEnd::ClientDisconnected)
    }

    /// Returns the reason why the client's last bytes are not written to the port.
    fn given_way(&self) -> io::Error {
        let count = self.outbox.len() + self.socket.unread_count();
        io::Error::other(format!(
            "the next client is served, and {count} bytes that this one had sent were dropped"
        ))
    }

    /// Forwards bytes of the board, unless the client has suspended the server.
    fn forward_to_client(&mut self) -> Result<(), SessionEnd> {
        if self.telnet.as_ref().is_some_and(|telnet| telnet.server_suspended) {
            crate::time::sleep(POLL_INTERVAL);
            return Ok(());
        }
        let mut received = [0; 1024];
        let timeout = if self.outbox.is_empty() { POLL_INTERVAL } else { Duration::ZERO };
        let count = self.port.read(&mut received, timeout).map_err(SessionEnd::PortFailed)?;
        if count == 0 {
            return Ok(());
        }
        let bytes = match self.telnet {
            Some(_) => escape(&received[..count]),
            None => received[..count].to_vec(),
        };
        self.send(&bytes).map_err(SessionEnd::ClientDisconnected)
    }

    /// Sends bytes to the client. One that is gone is noticed where its bytes are received, so that
    /// those that it sent before still reach the port.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.socket.write(bytes, Instant::now() + CLIENT_WRITE_TIMEOUT) {
            Err(error) if error.kind() == ErrorKind::TimedOut => Err(error),
            _ => Ok(()),
        }
    }

    fn receive_from_client(&mut self) -> Result<(), SessionEnd> {
        if self.outbox.len() >= MAX_OUTBOX {
            return Ok(());
        }
        let mut received = [0; 1024];
        match self.socket.read(&mut received, Duration::ZERO) {
            Ok(count) => self.handle_received(&received[..count]),
            Err(error) => {
                self.end = Some(error);
                Ok(())
            }
        }
    }

    fn handle_received(&mut self, received: &[u8]) -> Result<(), SessionEnd> {
        if self.telnet.is_none() {
            let passed = self.gate.pass(received, Instant::now());
            self.outbox.extend(passed.map_err(SessionEnd::Refused)?);
            return Ok(());
        }
        for byte in received {
            self.handle_byte(*byte).map_err(SessionEnd::ClientDisconnected)?;
        }
        Ok(())
    }

    fn handle_byte(&mut self, byte: u8) -> io::Result<()> {
        let Some(telnet) = &mut self.telnet else { return Ok(()) };
        let reply = match telnet.decoder.push(byte) {
            Some(TelnetEvent::Data(byte)) => {
                self.outbox.push_back(byte);
                return Ok(());
            }
            Some(TelnetEvent::Option(verb, option)) => telnet.options.negotiate(verb, option),
            Some(TelnetEvent::Subnegotiation(content)) => match comport::parse(&content) {
                Some((comport::SUSPEND, _)) => {
                    telnet.server_suspended = true;
                    return Ok(());
                }
                Some((comport::RESUME, _)) => {
                    telnet.server_suspended = false;
                    return Ok(());
                }
                Some((number, value)) => {
                    match telnet.port_state.execute(&mut *self.port, number, value) {
                        PortReply::None => return Ok(()),
                        PortReply::Value(value) => encode(number + SERVER_OFFSET, &value),
                        PortReply::Purged(value) => {
                            self.outbox.clear();
                            encode(number + SERVER_OFFSET, &value)
                        }
                    }
                }
                None => return Ok(()),
            },
            None => return Ok(()),
        };
        self.send(&reply)
    }

    /// Writes as much of the outbox as the port accepts now.
    fn forward_to_port(&mut self) -> Result<(), SessionEnd> {
        while !self.outbox.is_empty() {
            let front = self.outbox.as_slices().0;
            let chunk = front[..front.len().min(MAX_CHUNK_BYTES)].to_vec();
            let before = self.port.byte_counts();
            match self.port.write(&chunk, Instant::now() + PORT_WRITE_TIMEOUT) {
                Ok(()) => drop(self.outbox.drain(..chunk.len())),
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    // A part of the chunk may have been sent.
                    let sent_count =
                        |counts: Option<crate::ByteCounts>| counts.map_or(0, |counts| counts.sent);
                    let sent = sent_count(self.port.byte_counts()) - sent_count(before);
                    self.outbox.drain(..(sent as usize).min(chunk.len()));
                    return Ok(());
                }
                Err(error) => return Err(SessionEnd::PortFailed(error)),
            }
        }
        Ok(())
    }

    /// Suspends the client while the outbox is full and resumes it afterwards, as in RFC 2217.
    fn throttle_client(&mut self) -> io::Result<()> {
        let queued = self.outbox.len();
        let Some(telnet) = &mut self.telnet else { return Ok(()) };
        if telnet.options.is_remote_enabled(COM_PORT) != Some(true) {
            return Ok(());
        }
        let number = match telnet.client_suspended {
            false if queued >= SUSPEND_AT => comport::SUSPEND,
            true if queued <= RESUME_AT => comport::RESUME,
            _ => return Ok(()),
        };
        telnet.client_suspended = !telnet.client_suspended;
        self.send(&encode(number + SERVER_OFFSET, &[]))
    }
}
