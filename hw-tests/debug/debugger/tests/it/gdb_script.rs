//! A gdb whose packets are fixed from the start.

use std::io::{self, Cursor, Read, Write};

use board_debugger::gdb::GdbStream;

/// The stream of such a gdb.
pub(crate) struct Script {
    input: Cursor<Vec<u8>>,
    /// What the server has sent.
    pub(crate) output: Vec<u8>,
    sends_while_board_runs: bool,
}

impl Script {
    /// Creates a gdb that sends on while the board runs.
    pub(crate) fn new(input: Vec<u8>) -> Self {
        Self { input: Cursor::new(input), output: Vec::new(), sends_while_board_runs: true }
    }

    /// Creates a gdb that sends nothing while the board runs.
    pub(crate) fn waiting(input: Vec<u8>) -> Self {
        Self { sends_while_board_runs: false, ..Self::new(input) }
    }
}

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer)
    }
}

impl Write for Script {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl GdbStream for Script {
    fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.sends_while_board_runs {
            true => self.input.read(buffer),
            false => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

/// Parses the packets of an output. Checks that each has a valid checksum, and that only
/// acknowledgements are between them.
pub(crate) fn decode_packets(output: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = output;
    while let Some(at) = rest.iter().position(|byte| *byte == b'$') {
        assert!(rest[..at].iter().all(|byte| b"+-".contains(byte)), "{rest:?}");
        let end = at + rest[at..].iter().position(|byte| *byte == b'#').expect("it ends");
        let body = &rest[at + 1..end];
        let sum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        assert_eq!(rest[end + 1..end + 3], *format!("{sum:02x}").as_bytes());
        all.push(String::from_utf8(body.to_vec()).expect("it is text"));
        rest = &rest[end + 3..];
    }
    all
}

/// Encodes a packet with its checksum.
pub(crate) fn packed(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
}

/// Encodes a session of packets with valid checksums and arbitrary content.
pub(crate) fn session(lines: &[u8]) -> Vec<u8> {
    let bodies = lines.split(|byte| *byte == b'\n');
    let no_end = |body: &&[u8]| !body.contains(&b'#');
    bodies.filter(no_end).flat_map(packed).collect()
}
