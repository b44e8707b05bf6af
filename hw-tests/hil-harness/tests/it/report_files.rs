//! The files of a report, and which existing files they replace.

use std::path::Path;
use std::time::SystemTime;

use hil_harness::report::{Report, prepare_folder, write_files};
use hil_harness::results::RunHeader;
use hil_testing::simulated_disk::SimulatedDisk;

const FILES: [&str; 4] = ["report.json", "junit.xml", "report.html", "report.md"];

fn report() -> Report {
    Report::new(RunHeader::default(), Vec::new(), SystemTime::UNIX_EPOCH)
}

#[test]
fn a_report_of_ours_is_recognised_in_every_form_and_replaced() {
    let disk = SimulatedDisk::new(1);
    let folder = Path::new("folder");
    for _ in 0..2 {
        prepare_folder(&disk, folder, false).expect("it is ours");
        write_files(&report(), &disk, folder).expect("it is written");
    }
    assert_eq!(disk.paths().len(), FILES.len());
}

#[test]
fn whatever_else_is_there_is_left_as_it_is_without_force() {
    for name in FILES {
        for content in [&b"# My report\n"[..], b"{\"title\":1}", b"<testsuites name=\"x\">"] {
            let disk = SimulatedDisk::new(1);
            let folder = Path::new("folder");
            disk.insert_synced(&folder.join(name), content);
            let error = prepare_folder(&disk, folder, false).expect_err("it is not ours");
            assert!(error.to_string().contains(name), "{error}");
            assert_eq!(disk.content(&folder.join(name)).as_deref(), Some(content));
            prepare_folder(&disk, folder, true).expect("by force");
        }
    }
}
