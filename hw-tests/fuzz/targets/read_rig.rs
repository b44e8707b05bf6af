//! Any text as a rig file: it is read or refused, and each of its boards found or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rcflash_rig::RigFile;

mod scratch;

fuzz_target!(|text: &str| {
    let path = scratch::file("rig.toml", text.as_bytes());
    if let Ok(file) = RigFile::read(Some(&path)) {
        for name in ["bench", "attic", "shelf"] {
            let _ = file.resolve(name);
        }
    }
});
