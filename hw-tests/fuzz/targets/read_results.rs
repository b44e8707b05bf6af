//! Any bytes as a results file: it is left alone, or continued.
#![no_main]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hil_harness::results::{BoardReady, RESULTS_FORMAT, RunHeader};
use hil_testing::simulated_disk::SimulatedDisk;
use libfuzzer_sys::fuzz_target;
use sargon_suite::ResultsWriter;

fn head() -> RunHeader {
    RunHeader {
        results: RESULTS_FORMAT,
        program: "a test".to_owned(),
        profile: "rc2014-classic".to_owned(),
        behaviour: "corrected".to_owned(),
        cases: 3,
        digest: "0123456789ABCDEF".to_owned(),
        repeat: 1,
        seed: None,
        shard: None,
        faults: None,
        boards: Vec::new(),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("results");
    let disk = SimulatedDisk::new(1);
    disk.insert_synced(path, bytes);
    match ResultsWriter::resume(&disk, path, &head(), Arc::new(Instant::now), &mut |_| {}) {
        Ok(mut writer) => {
            let ready = BoardReady { board: "a board".to_owned(), application: "one".to_owned() };
            let _ = writer.write_board(ready);
        }
        Err(_) => assert_eq!(disk.content(path).as_deref(), Some(bytes)),
    }
});
