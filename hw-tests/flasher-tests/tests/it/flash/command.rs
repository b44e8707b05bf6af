//! `rcflash write --flash` and `hw-tests run --flash`, over a real serial device.

use std::process::{Command, Output};

use board_simulator::board_spec;
use board_simulator::{BoardServer, BoardSpec, ServerOptions};
use firmware::ProgramKind;
use firmware::profile::BoardProfile;

use crate::flash::line::{image, spec};
use crate::flash::programs;

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs it, and expects this exit code and, on standard error, this text.
fn rcflash(arguments: &[&str], code: i32, text: &str) {
    let output = programs::rcflash().args(arguments).output().expect("it starts");
    let printed = printed(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
    assert!(printed.contains(text), "{arguments:?}: {printed}");
}

/// A board with these bytes in its chip, and its port.
pub(crate) fn board(spec: BoardSpec, rom: &[u8]) -> (BoardServer, String) {
    let server =
        BoardServer::start(spec, rom, ServerOptions::default()).expect("a pseudo-terminal");
    let path = server.path().to_string_lossy().into_owned();
    (server, path)
}

fn zed() -> (BoardServer, String) {
    board(spec(), &image(ProgramKind::Monitor).bytes)
}

const ZED: [&str; 3] = ["write", "--board", "rc2014-zed"];

fn write<'a>(port: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&ZED[..], &["--flash", "--port", port], more].concat()
}

#[test]
fn a_programmed_rom_runs_the_corpus_on_both_boards() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, in_flash) in [("rc2014-classic", false), ("rc2014-zed", true)] {
        let file = folder.path().join(name);
        let path = file.to_string_lossy().into_owned();
        rcflash(&["image", "--board", name, "-o", &path], 0, "the monitor, build ");
        let chip = std::fs::read(&file).expect("it was written");
        let profile = BoardProfile::named(name).expect("it ships");
        let (_server, port) = board(board_spec(&profile), &chip);
        let place: &[&str] = if in_flash { &["--flash"] } else { &[] };
        let update = |behaviour| {
            let common = ["write", "--board", name, "--port", &port, "--behaviour", behaviour];
            rcflash(&[&common[..], place].concat(), 0, "verified on the board");
        };
        update("original");
        update("corrected");
        let mut run = Command::new(programs::path("hw-tests"));
        run.args(["run", "--board", name, "--port", &port]).args(place);
        let output = run.output().expect("it starts");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{name}: {shown}{}", printed(&output));
        assert!(shown.contains("PASS: "), "{name}: {shown}");
        if in_flash {
            rcflash(&write(&port, &[]), 0, "already in flash");
        }
    }
}

#[test]
fn a_dry_run_reports_differences_and_writes_nothing() {
    let (_server, port) = zed();
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("data.bin");
    std::fs::write(&file, [1; 5000]).expect("a scratch file");
    let file = file.to_string_lossy().into_owned();
    let says = |more: &[&str], text| {
        let order = [&[file.as_str(), "--address", "0F000"], more].concat();
        rcflash(&write(&port, &order), 0, text);
    };
    for _ in 0..2 {
        says(&["--dry-run"], "2 sectors would be written: 15, 16");
    }
    says(&[], "2 sectors written, 0 erased first");
    says(&["--dry-run"], "nothing would be written");
    says(&["--dry-run", "--force"], "2 sectors would be written: 15, 16");
    rcflash(&write(&port, &["--boot-sector", "--force", "--dry-run"]), 0, "0 (the boot sector), 1");
}

#[test]
fn a_program_is_started_after_reset_on_request() {
    let (server, port) = zed();
    rcflash(&write(&port, &["--autostart"]), 0, "running: Sargon exchange evaluator");
    server.reset();
    let probe = ["run", "--board", "rc2014-zed", "--tag", "document", "--port", &port];
    let mut run = Command::new(programs::path("hw-tests"));
    let output = run.args(probe).arg("--flash").output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
    rcflash(&write(&port, &["--autostart", "--dry-run"]), 0, "nothing would be written");
    rcflash(&write(&port, &["--dry-run"]), 0, "1 sector would be written: 1");
}

#[test]
fn files_go_to_their_addresses_and_programs_after_their_header() {
    let (_server, port) = zed();
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a scratch file");
        path.to_string_lossy().into_owned()
    };
    let data = file("data.bin", &[1; 5000]);
    rcflash(&write(&port, &[&data, "--address", "7EC00"]), 0, "2 sectors written");
    rcflash(&write(&port, &[&data, "--address", "7F000"]), 3, "the chip at 7FFFFh");
    rcflash(&write(&port, &[&data, "--address", "20000", "--autostart"]), 2, "begins at 1010h");
    // MVI A,'!'; OUT 81H; JMPR $
    let own = file("own.bin", &[0x3E, b'!', 0xD3, 0x81, 0x18, 0xFE]);
    rcflash(&write(&port, &[&own, "--address", "1010"]), 0, "started at 1010h");
}

#[test]
fn the_boot_sector_is_replaced_only_on_request() {
    let monitor = image(ProgramKind::Monitor);
    let name = usize::from(monitor.program.symbol("NAME").expect("it has one"));
    let mut other = monitor.bytes.clone();
    other[name..name + 6].copy_from_slice(b"Other!");
    let (_server, port) = board(spec(), &other);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("chip.bin");
    std::fs::write(&file, &monitor.bytes).expect("a scratch file");
    let file = file.to_string_lossy().into_owned();
    let plain = write(&port, &[&file, "--address", "0"]);
    rcflash(&plain, 3, "the boot sector (0000h-0FFFh) differs");
    rcflash(&write(&port, &["--boot-sector"]), 0, "is replaced and verified: Sargon board monitor");
    rcflash(&plain, 0, "already in flash");
    rcflash(&write(&port, &["--boot-sector", "--no-run"]), 0, "already in flash");
}

#[test]
fn invalid_requests_are_reported_with_their_exit_code() {
    let eprom = BoardSpec { writable: false, ..spec() };
    let (_protected, port) = board(eprom, &image(ProgramKind::Monitor).bytes);
    rcflash(&write(&port, &[]), 3, "check the write-protect jumper");
    let classic = ["write", "--flash", "--port", &port];
    rcflash(&classic, 2, "rc2014-classic has no flash that it can write");
    rcflash(&["write", "--port", &port, "--autostart"], 2, "--flash");
    rcflash(&write(&port, &["--via", "scm"]), 2, "cannot be used with");
}
