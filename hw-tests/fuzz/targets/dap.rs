//! Any requests of the Debug Adapter Protocol, a line each: the session ends with its input,
//! and sends whole messages.
#![no_main]

use std::io::Cursor;

use board_debugger::dap::{LaunchedSession, serve};
use libfuzzer_sys::fuzz_target;

mod debugged;
mod frames_of;

fn launch() -> LaunchedSession {
    let debugger = debugged::debugger();
    LaunchedSession { debugger, warnings: Vec::new(), message: None, runs: false, has_console: true }
}

fuzz_target!(|bytes: &[u8]| {
    for input in [bytes.to_vec(), frames_of::lines(bytes)] {
        let mut output = Vec::new();
        let _ = serve(Cursor::new(input), &mut output, &|_, _| Ok(launch()));
        frames_of::assert_whole(&output);
    }
});
