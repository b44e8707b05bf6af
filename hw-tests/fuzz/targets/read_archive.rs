//! Any bytes as a library: it is read or refused, and what its first member needs of the others is
//! found.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tdlasm::archive::{pull, read_library};
use tdlasm::link::{Layout, link};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(library) = read_library(bytes, "FUZZ") {
        let first = library.first().map_or(Vec::new(), |first| first.modules.clone());
        let layout = Layout::default();
        let _ = link(&pull(first, &library, &layout), &layout);
    }
});
