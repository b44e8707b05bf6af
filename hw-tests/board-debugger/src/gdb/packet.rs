//! Packets on the line to gdb, and the byte by which it interrupts a board that runs.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

/// The byte that asks a running target to stop.
const INTERRUPT: u8 = 3;
/// The byte before a packet.
const PACKET_START: u8 = b'$';
/// Most bytes that are kept while the board runs: what gdb sends then is an acknowledgement, an
/// interrupt, or a packet or two.
const MAX_BUFFERED_BYTES: usize = 1 << 16;

/// A packet whose check is right.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Packet {
    /// The whole of it.
    Whole(Vec<u8>),
    /// It had so many bytes, and they were not kept.
    TooLong(u64),
}

/// A line to gdb.
pub trait Stream: Read + Write {
    /// Reads what has arrived, without waiting. `Ok(0)` is the end of the line.
    ///
    /// # Errors
    /// Returns an error of kind `WouldBlock` if nothing has arrived, and any other if the line
    /// fails.
    fn read_now(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
}

impl Stream for TcpStream {
    fn read_now(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.set_nonblocking(true)?;
        let result = self.read(buffer);
        self.set_nonblocking(false)?;
        result
    }
}

/// gdb at the other end of a line.
pub struct Client<'s> {
    stream: &'s mut dyn Stream,
    /// Bytes that arrived while the board ran and are no interrupt.
    arrived: VecDeque<u8>,
    has_gone: bool,
}

impl<'s> Client<'s> {
    /// Takes a line.
    pub fn new(stream: &'s mut dyn Stream) -> Self {
        Self { stream, arrived: VecDeque::new(), has_gone: false }
    }

    /// Whether gdb asks a running board to stop, or has gone; does not wait. Other bytes before the
    /// interrupt, such as an acknowledgement that is late, do not hide it. A client that sends
    /// without end is to be answered, too.
    pub fn is_interrupted(&mut self) -> bool {
        if self.arrived.len() >= MAX_BUFFERED_BYTES {
            return true;
        }
        let mut buffer = [0; 256];
        match self.stream.read_now(&mut buffer) {
            Ok(0) => self.has_gone = true,
            Ok(count) => self.arrived.extend(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.has_gone = true,
        }
        let before_packet = self.arrived.iter().take_while(|byte| **byte != PACKET_START);
        let found = before_packet.into_iter().position(|byte| *byte == INTERRUPT);
        if let Some(at) = found {
            self.arrived.drain(..=at);
        }
        found.is_some() || self.has_gone
    }

    /// The next packet whose check is right; `None` when gdb has hung up. Of one that is longer
    /// than `most` the length is returned.
    pub(super) fn receive(
        &mut self,
        acknowledges: bool,
        most: usize,
    ) -> io::Result<Option<Packet>> {
        loop {
            match self.byte()? {
                None => return Ok(None),
                Some(PACKET_START) => {}
                Some(_) => continue,
            }
            let Some((packet, good)) = self.body(most)? else { return Ok(None) };
            if acknowledges {
                self.stream.write_all(if good { b"+" } else { b"-" })?;
            }
            if good {
                return Ok(Some(packet));
            }
        }
    }

    /// The bytes up to the check, and whether that is right.
    fn body(&mut self, most: usize) -> io::Result<Option<(Packet, bool)>> {
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
                    if packet.len() < most {
                        packet.push(byte);
                    }
                }
            }
        }
        let (Some(high), Some(low)) = (self.byte()?, self.byte()?) else { return Ok(None) };
        let is_whole = packet.len() as u64 == length;
        let packet = if is_whole { Packet::Whole(packet) } else { Packet::TooLong(length) };
        Ok(Some((packet, hex(&[high, low]) == Some(u64::from(sum)))))
    }

    fn byte(&mut self) -> io::Result<Option<u8>> {
        if let Some(byte) = self.arrived.pop_front() {
            return Ok(Some(byte));
        }
        if self.has_gone {
            return Ok(None);
        }
        let mut byte = [0];
        Ok((self.stream.read(&mut byte)? == 1).then_some(byte[0]))
    }

    /// Sends a packet.
    pub(super) fn send(&mut self, text: &str) -> io::Result<()> {
        self.stream.write_all(packed(text).as_bytes())?;
        self.stream.flush()
    }
}

/// A packet with its check.
pub(super) fn packed(text: &str) -> String {
    let sum = text.bytes().fold(0u8, u8::wrapping_add);
    format!("${text}#{sum:02x}")
}

/// A number in hexadecimal digits.
pub(super) fn hex(digits: &[u8]) -> Option<u64> {
    let are_digits = digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| are_digits)?;
    u64::from_str_radix(text, 16).ok()
}

/// Bytes in pairs of hexadecimal digits.
pub(super) fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| (pair.len() == 2).then(|| hex(pair).map(|byte| byte as u8)).flatten())
        .collect()
}

/// Text as pairs of hexadecimal digits.
pub(super) fn text_of(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}
