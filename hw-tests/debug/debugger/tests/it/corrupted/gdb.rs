//! gdb's remote protocol.

use std::io::{self, Read, Write};

use board_debugger::Debugger;
use board_debugger::gdb::{GdbClient, GdbStream, serve};

use crate::corrupted::{LINES, debugger, with_characters};
use crate::gdb_script::{Script, decode_packets, packed, session};

/// The reply to `?`.
const HALTED: &str = "T05thread:01;";

/// Runs a session to its end, which can be a byte that begins no packet. Returns the replies.
fn played(input: Vec<u8>) -> Vec<String> {
    played_on(&mut debugger(), input)
}

fn played_on(debugger: &mut Debugger, input: Vec<u8>) -> Vec<String> {
    let mut script = Script::new(input);
    if let Err(error) = serve(debugger, &mut GdbClient::new(&mut script)) {
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "the line does not fail: {error}");
    }
    decode_packets(&script.output)
}

#[test]
fn characters_of_several_bytes_may_be_anywhere_in_a_monitor_command() {
    let digits = |line: &str| line.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let lines: Vec<_> = LINES.iter().flat_map(|line| with_characters(line)).collect();
    let packets = lines.iter().map(|line| format!("qRcmd,{}\n", digits(line))).collect::<String>();
    let replies = played(session(packets.trim_end().as_bytes()));
    // Each command has the reply with its output, and OK.
    assert_eq!(replies.iter().filter(|reply| *reply == "OK").count(), lines.len());
}

#[test]
fn what_follows_a_byte_that_begins_no_packet_is_not_executed() {
    let packets = [packed(b"?"), b"+\x03 ".to_vec(), packed(b"g")].concat();
    assert_eq!(played(packets), [HALTED]);
}

#[test]
fn nothing_after_a_packet_that_is_too_long_is_executed() {
    let long = packed(&[b'M'; 0x1001]);
    assert_eq!(played([packed(b"?"), long, packed(b"?")].concat()), [HALTED]);
}

#[test]
fn packets_of_any_bytes_are_answered_or_end_the_session() {
    let mut debugger = debugger();
    for byte in 0..=0xFF {
        for packet in [&[byte][..], &[b'q', byte], b"m8000,", &[b'Z', b'0', b',', byte]] {
            let more = [packet, &[byte, b',', b'1']].concat();
            let packets = [packet, &more].map(packed);
            played_on(&mut debugger, [packets.concat(), packed(b"?")].concat());
        }
    }
}

/// A client that resumes the board and then sends only acknowledgements.
struct Flood {
    sent: usize,
    output: Vec<u8>,
    /// The bytes that it had sent when it received the stop reply.
    sent_before_stop: usize,
}

/// The bytes to send before it disconnects.
const FLOOD: usize = 1 << 20;

impl Read for Flood {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = packed(b"c");
        for place in buffer.iter_mut() {
            *place = *start.get(self.sent).unwrap_or(&b'+');
            self.sent += 1;
        }
        Ok(if self.sent > FLOOD { 0 } else { buffer.len() })
    }
}

impl Write for Flood {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.starts_with(b"$S02") {
            self.sent_before_stop = self.sent;
        }
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl GdbStream for Flood {
    fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read(buffer)
    }
}

#[test]
fn a_client_that_sends_without_end_stops_the_board() {
    let mut flood = Flood { sent: 0, output: Vec::new(), sent_before_stop: FLOOD };
    serve(&mut debugger(), &mut GdbClient::new(&mut flood)).expect("the line does not fail");
    assert_eq!(decode_packets(&flood.output), ["S02"]);
    assert!(flood.sent_before_stop < FLOOD / 8, "{} bytes", flood.sent_before_stop);
}
