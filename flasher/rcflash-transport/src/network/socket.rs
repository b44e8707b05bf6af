//! A TCP connection on which every wait ends.
//!
//! A thread takes in what arrives, so that a wait can be as short as the caller likes on every
//! system: the time-outs of sockets are coarse on some, and leave a socket of Windows undefined.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};

use crate::Passed;
use crate::lock::PortLock;
use crate::port::OpenError;
use crate::time::{Duration, Instant};
use cli_support::text::visible;
use host_platform::net::keep_alive;

use crate::network::Address;

/// The time that a computer may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// The quiet after which the system asks whether the other side is still there, the time between
/// two questions, and the number of those without an answer that end the connection: a computer
/// that was switched off is noticed within 20 s, not never.
const PROBE_AFTER: Duration = Duration::from_secs(5);
const PROBES: u32 = 3;
/// Pieces that may wait for the program, and the most bytes of one. What does not fit stays with
/// the sender.
const PIECES: usize = 64;
const PIECE: usize = 4096;
/// A server's last words are shorter than this.
const WORDS: usize = 200;

/// A connection. Dropping it closes it.
pub(crate) struct Socket {
    stream: TcpStream,
    arrived: Receiver<io::Result<Vec<u8>>>,
    /// The rest of the piece that was taken last.
    rest: Vec<u8>,
    /// The first bytes that came, for the message when nothing else does.
    first: Vec<u8>,
    pub(crate) passed: Passed,
}

impl Socket {
    /// Connects, with the lock of the place that is connected to.
    pub(crate) fn connect(address: &Address) -> Result<(Self, PortLock), OpenError> {
        let name = address.to_string();
        let unreachable = |error| OpenError::Unreachable(name.clone(), error);
        let places = (address.host.as_str(), address.port).to_socket_addrs();
        let mut problem = io::Error::new(ErrorKind::NotFound, "the host has no address");
        for place in places.map_err(unreachable)? {
            // The lock comes before the connection: a server may drop whom it had for whom it gets.
            let lock = PortLock::take_place(&format!("{place}{}", address.path));
            let lock = lock.map_err(|error| OpenError::Locked(name.clone(), error))?;
            match TcpStream::connect_timeout(&place, CONNECT).and_then(Self::new) {
                Ok(socket) => return Ok((socket, lock)),
                Err(error) => problem = error,
            }
        }
        Err(unreachable(problem))
    }

    /// Takes a connection over.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        keep_alive(&stream, PROBE_AFTER, PROBE_AFTER, PROBES);
        let (sender, arrived) = sync_channel(PIECES);
        let theirs = stream.try_clone()?;
        std::thread::Builder::new()
            .name("network line".into())
            .spawn(move || take_in(theirs, &sender))?;
        Ok(Self { stream, arrived, rest: Vec::new(), first: Vec::new(), passed: Passed::default() })
    }

    /// Takes in what has arrived, waiting up to `timeout`; 0 when nothing came.
    pub(crate) fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if self.rest.is_empty() {
            let Some(piece) = self.next(timeout)? else { return Ok(0) };
            self.keep(&piece);
        }
        let count = buffer.len().min(self.rest.len());
        buffer[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        self.passed.heard += count as u64;
        Ok(count)
    }

    /// Keeps a piece until it is read.
    fn keep(&mut self, piece: &[u8]) {
        if self.first.len() < WORDS {
            self.first.extend(piece);
        }
        self.rest.extend(piece);
    }

    /// Waits whether the connection stays: a server that has another client accepts this one and
    /// closes at once, maybe with a word.
    pub(crate) fn stays(&mut self, time: Duration) -> io::Result<()> {
        let deadline = Instant::now() + time;
        while let Some(piece) = self.next(deadline.saturating_duration_since(Instant::now()))? {
            self.keep(&piece);
            if self.rest.len() > WORDS || Instant::now() >= deadline {
                break;
            }
        }
        Ok(())
    }

    fn next(&self, timeout: Duration) -> io::Result<Option<Vec<u8>>> {
        let heard = match self.arrived.try_recv() {
            Err(TryRecvError::Empty) => self.arrived.recv_timeout(timeout),
            Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
            Ok(heard) => Ok(heard),
        };
        match heard {
            Ok(heard) => heard.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.closed()),
        }
    }

    /// The end of the connection. A server that gives its port to another client says so in words
    /// and closes.
    fn closed(&self) -> io::Error {
        let words = String::from_utf8_lossy(&self.first);
        let is_text = words.trim().chars().all(|c| !c.is_control() && c != '\u{FFFD}');
        let is_short = self.first.len() < WORDS;
        ended(if is_text && is_short { words.trim() } else { "" })
    }

    /// Sends all bytes by the deadline.
    pub(crate) fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = self.write_some(bytes, deadline)?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// Sends what the system takes by the deadline, at least one byte; the number of bytes.
    pub(crate) fn write_some(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<usize> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.stream.set_write_timeout(Some(left))?;
            match self.stream.write(bytes) {
                Ok(0) => return Err(self.closed()),
                Ok(count) => {
                    self.passed.sent += count as u64;
                    return Ok(count);
                }
                Err(error) if is_no_failure(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // The thread ends by this, if it has not ended already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Passes on what arrives, until nobody wants it or nothing more comes.
fn take_in(mut stream: TcpStream, to: &SyncSender<io::Result<Vec<u8>>>) {
    let mut buffer = [0; PIECE];
    loop {
        let heard = match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => Ok(buffer[..count].to_vec()),
            Err(error) if is_no_failure(&error) => continue,
            Err(error) => Err(error),
        };
        let failed = heard.is_err();
        if to.send(heard).is_err() || failed {
            return;
        }
    }
}

/// The end of a connection, with the last words of the other side if it said any.
pub(crate) fn ended(words: &str) -> io::Error {
    let mut problem = "the other side has closed the connection".to_owned();
    if !words.is_empty() {
        problem += &format!("; it said: {}", visible(words));
    }
    io::Error::new(ErrorKind::UnexpectedEof, problem)
}

/// Whether only the time was over.
fn is_no_failure(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
