//! Any bytes as a results file: it is left alone, or continued.
#![no_main]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hil_harness::disk::SimulatedDisk;
use hil_harness::results::{FORMAT, Head, Log, Ready};
use libfuzzer_sys::fuzz_target;

fn head() -> Head {
    Head {
        results: FORMAT,
        program: "a test".to_owned(),
        profile: "rc2014-classic".to_owned(),
        behaviour: "mended".to_owned(),
        cases: 3,
        digest: "0123456789ABCDEF".to_owned(),
        repeat: 1,
        seed: None,
        shard: None,
        faults: None,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("results");
    let disk = SimulatedDisk::new(1);
    disk.put(path, bytes);
    match Log::resume(&disk, path, &head(), Arc::new(Instant::now)) {
        Ok((mut log, _)) => {
            let ready = Ready { board: "a board".to_owned(), application: "one".to_owned() };
            let _ = log.ready(ready);
        }
        Err(_) => assert_eq!(disk.content(path).as_deref(), Some(bytes)),
    }
});
