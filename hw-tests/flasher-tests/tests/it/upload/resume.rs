//! Interrupted uploads: a rerun, or the same run after a reset, sends only the missing bytes.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use board_simulator::board_spec;
use board_simulator::{BoardServer, Instrumentation, ServerOptions};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::Role;
use firmware_wire::flash_program;
use rcflash_link::Link;
use rcflash_link::loader::{
    UploadSummary, enter_monitor, missing_ranges, upload_all, upload_missing,
};
use rcflash_transport::port::Port;

use crate::upload::cable::Cable;
use crate::upload::programs;

/// Load address of the program: clear of what an application in flash uses.
const ADDRESS: u16 = 0x8000;
const SIZE: usize = 0x4000;
/// Data bytes of a request, and the length of such a request on the line (docs/PROTOCOL.md,
/// "Frames").
const BLOCK: usize = 236;
const WRITE: usize = 4 + 2 + BLOCK + 2 + 2;
/// Bytes of a request for a check on the line.
const CHECK: usize = 4 + 4 + 2 + 2;
/// Requests before and after: identification, the first block again, the check of all.
const AROUND: usize = 100;

/// Bytes with a period that does not divide the length of a block.
fn bytes() -> Vec<u8> {
    (0..SIZE as u32).map(|at| ((at * at) >> 7) as u8).collect()
}

fn board(name: &str, chip: &[u8]) -> BoardServer {
    let profile = BoardProfile::named(name).expect("it ships");
    BoardServer::start(board_spec(&profile), chip, ServerOptions::default()).expect("a terminal")
}

fn monitor(name: &str) -> Vec<u8> {
    let profile = BoardProfile::named(name).expect("it ships");
    build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}")).bytes
}

fn link(server: &BoardServer) -> Link {
    let port = Port::open(&server.path().to_string_lossy(), 115_200).expect("it opens");
    Link::new(Box::new(port), 115_200)
}

/// Writes a file over a cable; returns the number of sent bytes and the end of the run.
fn write(server: &BoardServer, file: &Path, at_most: usize, more: &[&str]) -> (usize, Output) {
    let cable = Cable::new(server.path(), at_most);
    let mut command = programs::rcflash();
    command.args(["write", "--no-run", "--address", "8000", "--port", &cable.port()]);
    let output = command.args(more).arg(file).output().expect("it starts");
    (cable.remove(), output)
}

/// Presses the button, and again if a byte in flight has prevented the start of the
/// application.
fn reset_into_application(server: &BoardServer) {
    let end = Instant::now() + Duration::from_secs(20);
    let is_running = || server.program_counter() >= flash_program::PROGRAM_ADDRESS;
    while !is_running() {
        assert!(Instant::now() < end, "the application does not start");
        server.reset();
        // The board is not limited to its clock, so this takes far less than 0.8 s.
        let next = Instant::now() + Duration::from_secs(2);
        while !is_running() && Instant::now() < next {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[track_caller]
fn printed(output: &Output, code: i32, text: &str) {
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{printed}");
    assert!(printed.contains(text), "no '{text}' in: {printed}");
}

#[test]
fn after_the_cable_was_pulled_a_rerun_sends_only_what_is_missing() {
    let server = board("rc2014-classic", &monitor("rc2014-classic"));
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("prog.bin");
    std::fs::write(&file, bytes()).expect("a file");
    let pulled = 6000;
    let (carried, output) = write(&server, &file, pulled, &[]);
    printed(&output, 3, "the line failed while uploading");
    assert_eq!(carried, pulled);
    // All whole blocks except those in flight at the disconnect, at most two.
    let there = (pulled - AROUND) / WRITE - 2;
    let all = SIZE.div_ceil(BLOCK);
    let (rest, output) = write(&server, &file, usize::MAX, &[]);
    printed(&output, 0, "were already loaded");
    let most = (all - there) * WRITE + all * CHECK + AROUND;
    assert!(rest <= most, "{rest} bytes for {} of {all} blocks", all - there);
    let (looked, output) = write(&server, &file, usize::MAX, &[]);
    printed(&output, 0, "; it was already loaded");
    assert!(looked <= all * CHECK + AROUND, "{looked} bytes to see that all is there");
    let (again, output) = write(&server, &file, usize::MAX, &["--force"]);
    printed(&output, 0, "verified on the board\n");
    assert!(again > SIZE, "{again} bytes although it was forced");
}

#[test]
fn what_is_missing_is_found_wherever_it_is() {
    let server = board("rc2014-classic", &monitor("rc2014-classic"));
    let mut link = link(&server);
    let monitor = enter_monitor(&mut link).unwrap_or_else(|error| panic!("{error}"));
    let program = bytes();
    upload_all(&mut link, &monitor, ADDRESS, &program, |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let mut missed = |changed: &[usize]| {
        let mut wanted = program.clone();
        changed.iter().for_each(|at| wanted[*at] ^= 1);
        missing_ranges(&mut link, &monitor, ADDRESS, &wanted)
            .unwrap_or_else(|error| panic!("{error}"))
    };
    assert!(missed(&[]).is_empty());
    let last = SIZE / BLOCK * BLOCK;
    let some = [BLOCK, 3 * BLOCK, 4 * BLOCK + 7, SIZE - 1];
    assert_eq!(missed(&some), [BLOCK..2 * BLOCK, 3 * BLOCK..5 * BLOCK, last..SIZE]);
    let whole = 0..SIZE;
    assert_eq!(missed(&[0]), [whole], "the first block tells that nothing is there");
}

#[test]
fn a_reset_during_an_upload_costs_only_what_was_in_flight() {
    let server = board("rc2014-classic", &monitor("rc2014-classic"));
    let mut link = link(&server);
    let monitor = enter_monitor(&mut link).unwrap_or_else(|error| panic!("{error}"));
    let mut pressed = false;
    let updated = upload_missing(&mut link, &monitor, ADDRESS, &bytes(), |done| {
        if done > SIZE / 2 && !std::mem::replace(&mut pressed, true) {
            server.reset();
        }
    });
    let updated = updated.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        updated,
        UploadSummary { sent: SIZE, resets: 0 },
        "the monitor is there again by itself"
    );
    let repeated = link.stats().total_retries();
    assert!(pressed && (1..=3).contains(&repeated), "{repeated} requests were repeated");
}

#[test]
fn a_reset_that_starts_the_application_in_flash_is_survived_too() {
    let name = "rc2014-zed";
    let profile = BoardProfile::named(name).expect("it ships");
    let app = build(&profile, ProgramKind::FlashApplication).unwrap_or_else(|e| panic!("{e}"));
    let mut chip = monitor(name);
    chip.resize(flash_program::HEADER_ADDRESS.into(), 0xFF);
    chip.extend(flash_program::program_header(&app.bytes, app.address, true).expect("it fits"));
    chip.extend(&app.bytes);
    let server = board(name, &chip);
    let mut link = link(&server);
    let monitor = enter_monitor(&mut link).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(monitor.role, Role::Monitor);
    let mut pressed = false;
    let updated = upload_missing(&mut link, &monitor, ADDRESS, &bytes(), |done| {
        if done > SIZE / 2 && !std::mem::replace(&mut pressed, true) {
            reset_into_application(&server);
        }
    });
    let updated = updated.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(updated.resets, 1);
    // Those in flight are sent again, or were stored without a reply that would count them.
    let in_flight = 3 * BLOCK;
    let sent = SIZE - in_flight..=SIZE + in_flight;
    assert!(sent.contains(&updated.sent), "{} bytes were sent", updated.sent);
}
