//! Any bytes from a board: frames are told from noise, and whoever asks is answered or gives up.
#![no_main]

use std::time::Instant;

use libfuzzer_sys::fuzz_target;
use rcflash_link::Link;
use rcflash_link::inspect::{self, AddressSpace};
use rcflash_link::loader::{identify, enter_monitor};

mod babbler;

fuzz_target!(|bytes: &[u8]| {
    let line = babbler::Babbler { heard: bytes.iter().copied().collect(), now: Instant::now() };
    let mut link = Link::new(Box::new(line), 115_200);
    let _ = identify(&mut link);
    let _ = enter_monitor(&mut link);
    if let Ok(read) = inspect::read(&mut link, AddressSpace::Memory, 0x8000, 500, |_| {}) {
        assert_eq!(read.len(), 500);
    }
});
