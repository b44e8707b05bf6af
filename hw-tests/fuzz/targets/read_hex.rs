//! Any text as an Intel HEX file: it is read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tdlasm::image::{intel_hex, parse_intel_hex};

fuzz_target!(|text: &str| {
    if let Ok((image, entry)) = parse_intel_hex(text) {
        // Only a record of type 03 or 05 has the start address 0.
        let written = entry.filter(|entry| *entry != 0);
        assert_eq!(parse_intel_hex(&intel_hex(&image, entry)), Ok((image, written)));
    }
});
