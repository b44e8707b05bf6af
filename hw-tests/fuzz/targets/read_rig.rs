//! Any text as a rig file: it is read, or refused with a place, and the delays of
//! its boards are bounded.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use rcflash_link::rig::{RigFile, RigFileError};

mod scratch;

fuzz_target!(|text: &str| {
    let path = scratch::file("rig.toml", text.as_bytes());
    let file = match RigFile::read(Some(&path)) {
        Ok(file) => file,
        Err(RigFileError::Syntax(_, message)) => {
            // For too deep nesting the parser reports no line.
            let is_located = message.contains("line ") || message.starts_with("recursion limit");
            return assert!(is_located, "{message}");
        }
        Err(error) => return assert!(error.to_string().contains("rig.toml"), "{error}"),
    };
    for rig in ["bench", "attic", "shelf"].iter().filter_map(|name| file.resolve(name).ok()) {
        assert!(rig.reset.pulse <= Duration::from_secs(60), "{rig:?}");
        let delay = rig.pacing.char_delay.max(rig.pacing.line_delay);
        assert!(delay <= Duration::from_secs(10), "{rig:?}");
    }
});
