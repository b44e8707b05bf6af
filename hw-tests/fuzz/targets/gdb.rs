//! Any bytes from a client of the gdb server: the session ends with its input, and all its
//! packets are valid.
#![no_main]

use std::io::{self, Cursor, Read, Write};

use board_debugger::gdb::{GdbClient, GdbStream, serve};
use libfuzzer_sys::fuzz_target;

mod debugged;

struct Script {
    input: Cursor<Vec<u8>>,
    output: Vec<u8>,
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
        self.input.read(buffer)
    }
}

/// A packet for each line, with its check, so that the mutations meet the commands.
fn packed(lines: &[u8]) -> Vec<u8> {
    let bodies = lines.split(|byte| *byte == b'\n').filter(|body| !body.contains(&b'#'));
    let packet = |body: &[u8]| {
        let sum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
    };
    bodies.flat_map(packet).collect()
}

/// Checks that each packet has a valid checksum, and that only acknowledgements are between them.
fn assert_packets(mut output: &[u8]) {
    while let Some(start) = output.iter().position(|byte| *byte == b'$') {
        assert!(output[..start].iter().all(|byte| b"+-".contains(byte)));
        let length = output[start..].iter().position(|byte| *byte == b'#').expect("its end");
        let (packet, rest) = output[start..].split_at(length);
        let sum = packet[1..].iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        assert_eq!(rest[..3], *format!("#{sum:02x}").as_bytes());
        output = &rest[3..];
    }
}

fuzz_target!(|bytes: &[u8]| {
    for input in [bytes.to_vec(), packed(bytes)] {
        let mut script = Script { input: Cursor::new(input), output: Vec::new() };
        let served = serve(&mut debugged::debugger(), &mut GdbClient::new(&mut script));
        if let Err(error) = served {
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        }
        assert_packets(&script.output);
    }
});
