//! Any requests of the Debug Adapter Protocol, a line each: the session ends with its input,
//! and sends whole messages.
#![no_main]

use std::io::Cursor;

use board_debugger::dap::{LaunchArguments, LaunchedSession, serve};
use libfuzzer_sys::fuzz_target;

mod debugged;
mod frames_of;

fn launch(_arguments: &LaunchArguments) -> LaunchedSession {
    let debugger = debugged::debugger();
    LaunchedSession { debugger, warning: None, message: None, runs: false, has_console: true }
}

fuzz_target!(|bytes: &[u8]| {
    for input in [bytes.to_vec(), frames_of::lines(bytes)] {
        let mut output = Vec::new();
        let _ = serve(Cursor::new(input), &mut output, &|arguments, _| Ok(launch(arguments)));
        frames_of::assert_whole(&output);
    }
});
