//! Any messages of the Language Server Protocol, a line each: the session ends with its input, and
//! sends whole messages.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use tdlasm::asm::Options;
use tdlasm_tools::server::serve;

mod frames_of;

fuzz_target!(|bytes: &[u8]| {
    let mut output = Vec::new();
    let _ = serve(Cursor::new(frames_of::lines(bytes)), &mut output, Options::default());
    frames_of::assert_whole(&output);
});
