//! Any bytes as a source: it assembles or is refused with messages that can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

fuzz_target!(|source: &[u8]| {
    let loader = MemoryLoader::new().with("fuzz.asm", source);
    if let Err(failure) = assemble(&loader, &["fuzz.asm".into()], &Options::default()) {
        assert!(!failure.to_string().is_empty());
    }
});
