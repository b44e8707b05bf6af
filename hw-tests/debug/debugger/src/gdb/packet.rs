//! Packets on the line to gdb, and the byte that interrupts a running board.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

/// The byte that interrupts a running target.
const INTERRUPT: u8 = 3;
/// The byte before a packet.
const PACKET_START: u8 = b'$';
/// Limit of bytes buffered while the board runs: gdb sends little then.
const MAX_BUFFERED_BYTES: usize = 1 << 16;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Packet {
    Complete(Vec<u8>),
    /// The length of a packet that was too long and is discarded.
    TooLong(u64),
}

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
    /// Bytes received while the board ran, without the interrupt.
    arrived: VecDeque<u8>,
    is_disconnected: bool,
}

impl<'s> GdbClient<'s> {
    /// Creates a client on a stream.
    pub fn new(stream: &'s mut dyn GdbStream) -> Self {
        Self { stream, arrived: VecDeque::new(), is_disconnected: false }
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

    /// Waits for the next valid packet, `None` at the end; of a too long one only the length.
    pub(super) fn receive(
        &mut self,
        acknowledges: bool,
        max_bytes: usize,
    ) -> io::Result<Option<Packet>> {
        loop {
            match self.byte()? {
                None => return Ok(None),
                Some(PACKET_START) => {}
                Some(b'+' | b'-' | INTERRUPT) => continue,
                // The first bytes were judged as they arrived; what is not gdb's ends the session
                // later too, so that no packets in the body of a web request are executed.
                Some(byte) => return Err(not_a_packet(byte)),
            }
            let Some((packet, good)) = self.body(max_bytes)? else { return Ok(None) };
            if acknowledges {
                self.stream.write_all(if good { b"+" } else { b"-" })?;
            }
            if good {
                return Ok(Some(packet));
            }
        }
    }

    /// Reads a packet up to its checksum; returns whether that is valid.
    fn body(&mut self, max_bytes: usize) -> io::Result<Option<(Packet, bool)>> {
        let mut packet = Vec::new();
        let mut length = 0u64;
        let mut sum = 0u8;
        loop {
            match self.byte()? {
                None => return Ok(None),
                Some(b'#') => break,
                Some(byte) => {
                    length += 1;
                    sum = sum.wrapping_add(byte);
                    if packet.len() < max_bytes {
                        packet.push(byte);
                    }
                }
            }
        }
        let (Some(high), Some(low)) = (self.byte()?, self.byte()?) else { return Ok(None) };
        let is_whole = packet.len() as u64 == length;
        let packet = if is_whole { Packet::Complete(packet) } else { Packet::TooLong(length) };
        Ok(Some((packet, parse_hex(&[high, low]) == Some(u64::from(sum)))))
    }

    fn byte(&mut self) -> io::Result<Option<u8>> {
        if let Some(byte) = self.arrived.pop_front() {
            return Ok(Some(byte));
        }
        if self.is_disconnected {
            return Ok(None);
        }
        let mut byte = [0];
        Ok((self.stream.read(&mut byte)? == 1).then_some(byte[0]))
    }

    pub(super) fn send(&mut self, text: &str) -> io::Result<()> {
        self.stream.write_all(encode_packet(text).as_bytes())?;
        self.stream.flush()
    }
}

fn not_a_packet(byte: u8) -> io::Error {
    let problem = format!("byte {byte:02x} begins no packet of gdb; the connection is closed");
    io::Error::new(ErrorKind::InvalidData, problem)
}

pub(super) fn encode_packet(text: &str) -> String {
    let sum = text.bytes().fold(0u8, u8::wrapping_add);
    format!("${text}#{sum:02x}")
}

pub(super) fn parse_hex(digits: &[u8]) -> Option<u64> {
    let are_digits = digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| are_digits)?;
    u64::from_str_radix(text, 16).ok()
}

pub(super) fn decode_hex(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| (pair.len() == 2).then(|| parse_hex(pair).map(|byte| byte as u8)).flatten())
        .collect()
}

pub(super) fn encode_hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}
