//! The line to gdb, and the byte that interrupts a running board.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

/// The byte that interrupts a running target.
const INTERRUPT: u8 = 3;
/// The byte before a packet.
const PACKET_START: u8 = b'$';
/// Limit of bytes buffered while the board runs: gdb sends little then.
const MAX_BUFFERED_BYTES: usize = 1 << 16;

/// A line to gdb.
pub trait GdbStream: Read + Write {
    /// Reads the bytes that have arrived, without waiting. `Ok(0)` is the end of the stream.
    ///
    /// # Errors
    /// Returns an error of kind `WouldBlock` if nothing has arrived, and any other if the stream
    /// fails.
    fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
}

impl GdbStream for TcpStream {
    fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.set_nonblocking(true)?;
        let result = self.read(buffer);
        self.set_nonblocking(false)?;
        result
    }
}

/// A connection to gdb.
pub struct GdbClient<'s> {
    stream: &'s mut dyn GdbStream,
    /// Bytes received and not used yet, without interrupts of a running board.
    arrived: VecDeque<u8>,
    is_disconnected: bool,
    /// The reply that is being written.
    pub(super) reply: Vec<u8>,
    /// The reason why the present request is refused, which replaces the reply.
    pub(super) refusal: Option<String>,
}

impl<'s> GdbClient<'s> {
    /// Creates a client on a stream.
    pub fn new(stream: &'s mut dyn GdbStream) -> Self {
        let (arrived, reply) = (VecDeque::new(), Vec::new());
        Self { stream, arrived, is_disconnected: false, reply, refusal: None }
    }

    /// Returns `true` if gdb has sent the interrupt byte or has disconnected; does not wait. Bytes
    /// before it, such as a late acknowledgement, are skipped. Also returns `true` if the buffer is
    /// full, so that a client that keeps sending gets a reply.
    pub fn is_interrupted(&mut self) -> bool {
        if self.arrived.len() >= MAX_BUFFERED_BYTES {
            return true;
        }
        let mut buffer = [0; 256];
        match self.stream.try_read(&mut buffer) {
            Ok(0) => self.is_disconnected = true,
            Ok(count) => self.arrived.extend(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.is_disconnected = true,
        }
        let before_packet = self.arrived.iter().take_while(|byte| **byte != PACKET_START);
        let found = before_packet.into_iter().position(|byte| *byte == INTERRUPT);
        if let Some(at) = found {
            self.arrived.drain(..=at);
        }
        found.is_some() || self.is_disconnected
    }

    /// Waits for the next byte; returns `None` at the end of the stream.
    pub(super) fn byte(&mut self) -> io::Result<Option<u8>> {
        if self.arrived.is_empty() && !self.is_disconnected {
            let mut buffer = [0; 256];
            let count = self.stream.read(&mut buffer)?;
            self.arrived.extend(&buffer[..count]);
        }
        Ok(self.arrived.pop_front())
    }

    /// Sends the reply, or the reason of a refusal, which gdb shows.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let mut reply = std::mem::take(&mut self.reply);
        if let Some(problem) = self.refusal.take() {
            reply.truncate(usize::from(reply.starts_with(b"+"))); // the acknowledgement
            reply.extend(encode_packet(&format!("E.{problem}")).into_bytes());
        }
        self.stream.write_all(&reply)?;
        self.stream.flush()
    }

    /// Sends a packet of its own.
    pub(super) fn send(&mut self, packet: &str) -> io::Result<()> {
        self.reply.extend(encode_packet(packet).into_bytes());
        self.flush()
    }

    /// Shows lines on gdb's console while the board runs. If the line fails, the board is stopped.
    pub(super) fn print(&mut self, lines: &[String]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        if !lines.is_empty() && self.send(&format!("O{digits}")).is_err() {
            self.is_disconnected = true;
        }
    }
}

pub(super) fn encode_packet(text: &str) -> String {
    let sum = text.bytes().fold(0u8, u8::wrapping_add);
    format!("${text}#{sum:02x}")
}
