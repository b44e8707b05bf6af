//! Any bytes from a client of the gdb server: the session ends with its input.
#![no_main]

use std::io::{self, Cursor, Read, Write};

use board_debugger::gdb::{GdbClient, GdbStream, serve};
use libfuzzer_sys::fuzz_target;

mod debugged;

struct Script(Cursor<Vec<u8>>);

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Script {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl GdbStream for Script {
    fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
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

fuzz_target!(|bytes: &[u8]| {
    for input in [bytes.to_vec(), packed(bytes)] {
        let mut script = Script(Cursor::new(input));
        let _ = serve(&mut debugged::debugger(), &mut GdbClient::new(&mut script));
    }
});
