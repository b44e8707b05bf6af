//! Any bytes as an object file: it is read or refused, and what is read links or is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tdlasm::link::{Layout, link};
use tdlasm::object::read_object;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(module) = read_object(bytes, "FUZZ") {
        let _ = link(&[module], &Layout::default());
    }
});
