//! Any bytes as a source of either dialect: the conversion ends, and reports where it could not
//! convert.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tdlasm::source::MemoryLoader;
use tdlasm_tools::convert::{Dialect, Options, convert};

fuzz_target!(|source: &[u8]| {
    let loader = MemoryLoader::new().with("fuzz.asm", source);
    for to in [Dialect::Tdl, Dialect::Zilog] {
        let conversion = convert(&loader, "fuzz.asm".as_ref(), &Options::new(to)).expect("a file");
        assert!(conversion.notes.iter().all(|note| note.line > 0 && note.column > 0));
    }
});
