//! Any text as a linker layout: it is read or refused, and no region passes FFFFH.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tdlasm::link::{Layout, link};

fuzz_target!(|text: &str| {
    if let Ok(layout) = Layout::parse(text) {
        let _ = link(&[], &layout);
    }
});
