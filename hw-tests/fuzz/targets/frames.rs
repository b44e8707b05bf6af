//! Any bytes from a board: the link separates frames from noise, and each request ends with a reply
//! or an error.
#![no_main]

use std::time::Instant;

use libfuzzer_sys::fuzz_target;
use rcflash_link::Link;
use rcflash_link::inspect::{self, AddressSpace};
use rcflash_link::loader::{enter_monitor, identify};

mod noisy_peer;

fuzz_target!(|bytes: &[u8]| {
    let line =
        noisy_peer::NoisyPeer { heard: bytes.iter().copied().collect(), now: Instant::now() };
    let mut link = Link::new(Box::new(line), 115_200);
    let _ = identify(&mut link);
    let _ = enter_monitor(&mut link);
    if let Ok(read) = inspect::read(&mut link, AddressSpace::Memory, 0x8000, 500, |_| {}) {
        assert_eq!(read.len(), 500);
    }
});
