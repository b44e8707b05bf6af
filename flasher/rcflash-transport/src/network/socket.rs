//! A TCP connection with a deadline on every operation.
//!
//! A thread receives, so that a read can have any timeout on every system: timeouts of sockets are
//! coarse on some, and leave a socket of Windows in an undefined state.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ByteCounts;
use crate::lock::PortLock;
use crate::platform::net::enable_keepalive;
use crate::port::OpenError;
use crate::time::{Duration, Instant};
use cli_support::text::escape_controls;

use crate::network::NetworkAddress;
use crate::network::receive_queue::{Peer, ReceiveQueue, Received};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The idle time before the first keep-alive probe, which is also the time between probes, and the
/// number of unanswered probes that close the connection: a computer that was switched off is
/// noticed within 20 s.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEP_ALIVE_PROBES: u32 = 3;
/// The maximum number of bytes that are received at a time.
const MAX_CHUNK_BYTES: usize = 4096;
/// How long the last bytes of a peer that is gone are delivered before the next one is served.
const LAST_BYTES_TIME: Duration = Duration::from_secs(1);
/// The maximum length of a server's message before it closes the connection.
const MAX_MESSAGE_BYTES: usize = 200;

/// How long a refused client may take to receive the reply, and the maximum number of such clients;
/// further ones get no reply.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_REFUSALS: usize = 32;
/// The number of refused clients whose connections are being closed.
static REFUSALS: AtomicUsize = AtomicUsize::new(0);

/// Whether a client of a server of one client keeps others from being served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occupancy {
    /// It is connected; others are refused.
    InUse,
    /// It is gone, and its last bytes are delivered for a moment; others wait.
    Ending,
    /// It is gone, or more than 4 MiB ahead of the board. Its bytes are delivered until the next
    /// client connects, which is served instead.
    GivesWay,
}

/// A TCP connection, closed on drop.
pub(crate) struct Socket {
    stream: TcpStream,
    received: Arc<ReceiveQueue>,
    /// The unread bytes of the chunk taken last.
    rx_buffer: Vec<u8>,
    /// The first bytes received, for the error message if the connection is then closed.
    first_bytes: Vec<u8>,
    pub(crate) byte_counts: ByteCounts,
}

impl Socket {
    pub(crate) fn connect(address: &NetworkAddress) -> Result<(Self, PortLock), OpenError> {
        let name = address.to_string();
        let unreachable = |error| OpenError::Unreachable(name.clone(), error);
        let socket_addresses = (address.host.as_str(), address.port).to_socket_addrs();
        let mut problem = io::Error::new(ErrorKind::NotFound, "the host has no address");
        for socket_address in socket_addresses.map_err(unreachable)? {
            // The lock comes first: a server may drop its present client for a new one.
            let lock = PortLock::acquire_address(&format!("{socket_address}{}", address.path));
            let lock = lock.map_err(|error| OpenError::Locked(name.clone(), error))?;
            match TcpStream::connect_timeout(&socket_address, CONNECT_TIMEOUT).and_then(Self::new) {
                Ok(socket) => return Ok((socket, lock)),
                Err(error) => problem = error,
            }
        }
        Err(unreachable(problem))
    }

    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        enable_keepalive(&stream, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_PROBES);
        let received = Arc::<ReceiveQueue>::default();
        let (reader, queue) = (stream.try_clone()?, Arc::clone(&received));
        std::thread::Builder::new()
            .name("network line".into())
            .spawn(move || queue.end(receive(reader, &queue).err()))?;
        Ok(Self {
            stream,
            received,
            rx_buffer: Vec::new(),
            first_bytes: Vec::new(),
            byte_counts: ByteCounts::default(),
        })
    }

    /// Reads what was received, and waits up to `timeout` for it. Returns 0 if nothing is received.
    pub(crate) fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if self.rx_buffer.is_empty() {
            let Some(chunk) = self.next_chunk(timeout)? else { return Ok(0) };
            self.buffer_chunk(&chunk);
        }
        let count = buffer.len().min(self.rx_buffer.len());
        buffer[..count].copy_from_slice(&self.rx_buffer[..count]);
        self.rx_buffer.drain(..count);
        self.byte_counts.received += count as u64;
        Ok(count)
    }

    fn buffer_chunk(&mut self, chunk: &[u8]) {
        if self.first_bytes.len() < MAX_MESSAGE_BYTES {
            self.first_bytes.extend(chunk);
        }
        self.rx_buffer.extend(chunk);
    }

    /// Returns an error if the server closes the connection within `time`: a server that has
    /// another client accepts this one and closes, usually after a message.
    pub(crate) fn wait_for_refusal(&mut self, time: Duration) -> io::Result<()> {
        let deadline = Instant::now() + time;
        while let Some(chunk) =
            self.next_chunk(deadline.saturating_duration_since(Instant::now()))?
        {
            self.buffer_chunk(&chunk);
            if self.rx_buffer.len() > MAX_MESSAGE_BYTES || Instant::now() >= deadline {
                break;
            }
        }
        Ok(())
    }

    /// Sends the reply to a refused client and closes the connection, in a thread. Received bytes
    /// are discarded until the client closes: unread ones would reset the connection, and the
    /// client might lose the reply.
    pub(crate) fn refuse(mut self, reply: &[u8]) {
        if REFUSALS.fetch_add(1, Ordering::AcqRel) >= MAX_REFUSALS {
            REFUSALS.fetch_sub(1, Ordering::AcqRel);
            return;
        }
        let reply = reply.to_vec();
        let close = move || {
            let deadline = Instant::now() + REFUSAL_TIMEOUT;
            let _ = self.write(&reply, deadline); // it may have disconnected
            let _ = self.stream.shutdown(Shutdown::Write);
            while let Some(left) = deadline.checked_duration_since(Instant::now())
                && self.next_chunk(left).is_ok_and(|chunk| chunk.is_some())
            {}
            drop(self);
            REFUSALS.fetch_sub(1, Ordering::AcqRel);
        };
        let thread = std::thread::Builder::new().name("refused client".into());
        if thread.spawn(close).is_err() {
            REFUSALS.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn next_chunk(&self, timeout: Duration) -> io::Result<Option<Vec<u8>>> {
        match self.received.take(timeout)? {
            Received::Bytes(bytes) => Ok(Some(bytes)),
            Received::Nothing => Ok(None),
            Received::Closed => Err(self.closed_by_peer()),
        }
    }

    /// Returns whether the peer keeps others from being served; see [`Occupancy`].
    pub(crate) fn occupancy(&self) -> Occupancy {
        match self.received.peer() {
            Peer::Connected => Occupancy::InUse,
            Peer::Gone(since) if since < LAST_BYTES_TIME => Occupancy::Ending,
            Peer::FarAhead | Peer::Gone(_) => Occupancy::GivesWay,
        }
    }

    /// Returns the number of received bytes that were not read.
    pub(crate) fn unread_count(&self) -> usize {
        self.rx_buffer.len() + self.received.len()
    }

    /// Returns the error for a closed connection, with the message of a server that refused.
    fn closed_by_peer(&self) -> io::Error {
        let message = String::from_utf8_lossy(&self.first_bytes);
        let is_text = message.trim().chars().all(|c| !c.is_control() && c != '\u{FFFD}');
        let is_short = self.first_bytes.len() < MAX_MESSAGE_BYTES;
        closed_error(if is_text && is_short { message.trim() } else { "" })
    }

    pub(crate) fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = self.write_some(bytes, deadline)?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// Sends at least one byte of what the system accepts by the deadline; returns the number.
    pub(crate) fn write_some(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<usize> {
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.stream.set_write_timeout(Some(remaining))?;
            match self.stream.write(bytes) {
                Ok(0) => return Err(self.closed_by_peer()),
                Ok(count) => {
                    self.byte_counts.sent += count as u64;
                    return Ok(count);
                }
                Err(error) if is_timeout_or_interrupt(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // The thread reads at most one more chunk. The rest stays unread, so that closing resets the
        // connection: a peer that a full buffer blocks gets no other sign.
        self.received.close();
        // This ends the thread if it waits for bytes.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Receives until the peer closes the connection or the reader is gone.
fn receive(mut stream: TcpStream, queue: &ReceiveQueue) -> io::Result<()> {
    let mut buffer = [0; MAX_CHUNK_BYTES];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) if queue.add(&buffer[..count]) => {}
            Ok(_) => return Ok(()),
            Err(error) if is_timeout_or_interrupt(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the error for a connection that the peer closed, with the message that it sent before.
pub(crate) fn closed_error(message: &str) -> io::Error {
    let mut problem = "the peer closed the connection".to_owned();
    if !message.is_empty() {
        problem += &format!(" with the message: {}", escape_controls(message));
    }
    io::Error::new(ErrorKind::UnexpectedEof, problem)
}

fn is_timeout_or_interrupt(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
