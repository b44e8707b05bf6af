//! Any text as an Intel HEX file or a layout: it is read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tdlasm::image::{intel_hex, parse_intel_hex};
use tdlasm::link::Layout;

fuzz_target!(|text: &str| {
    let _ = Layout::parse(text);
    if let Ok((image, entry)) = parse_intel_hex(text) {
        assert_eq!(parse_intel_hex(&intel_hex(&image, entry)), Ok((image, entry)));
    }
});
