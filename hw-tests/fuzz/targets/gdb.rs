//! Any bytes from a client of the gdb server: the session ends with its input, and all its
//! packets are valid.
#![no_main]

use std::io;

use board_debugger::gdb::{GdbClient, serve};
use libfuzzer_sys::fuzz_target;

mod debugged;

#[allow(dead_code, reason = "a script that waits is for the tests")]
#[path = "../../debug/debugger/tests/it/gdb_script.rs"]
mod gdb_script;

use gdb_script::{Script, decode_packets, session};

fuzz_target!(|bytes: &[u8]| {
    for input in [bytes.to_vec(), session(bytes)] {
        let mut script = Script::new(input);
        let served = serve(&mut debugged::debugger(), &mut GdbClient::new(&mut script));
        if let Err(error) = served {
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        }
        decode_packets(&script.output);
    }
});
