//! `rcflash setup` finds what resets a board, and `doctor` checks it.

use std::path::Path;

use rcflash_transport::ControlLine;

use super::{BOARD, Rig, serve_wired};
use crate::programs::rcflash;
use crate::test_files::hw_tests;

/// Runs `rcflash setup` without questions, and returns the exit code and all that it prints.
fn setup(folder: &Path, address: &str) -> (Option<i32>, String) {
    let mut command = rcflash();
    command.args(["setup", "--yes", "--rig-file", "found.toml", "--port", address]);
    let output = command.current_dir(folder).output().expect("it starts");
    let shown = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&shown).into_owned())
}

fn keys(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("found.toml")).expect("it was written");
    text.lines().filter(|line| line.starts_with("reset")).collect::<Vec<_>>().join(" ")
}

/// Sets up a board with a wire from a line of the adapter to its reset, and checks the entries of
/// the rig file about the reset.
#[track_caller]
fn check_noted(wire: ControlLine, holds: bool, expected: &str) {
    let rig = Rig::new("");
    let folder = rig.folder.path();
    serve_wired(wire, holds, &rig.server, |address| {
        let (code, shown) = setup(folder, address);
        assert_eq!(code, Some(0), "{shown}");
        let word = format!("reset by {}\n", format!("{wire:?}").to_lowercase());
        assert!(shown.contains(&word), "{shown}");
        assert_eq!(keys(folder), expected, "{shown}");
        let doctor = ["doctor", "--port", "bench", "--rig-file", "found.toml"];
        // A busy computer may make the clock of the board look slow.
        let (_, shown, errors) = hw_tests(folder, &doctor);
        let is_good = shown.contains("ok  reset        the monitor has started again");
        assert!(is_good, "{shown}{errors}");
        // The entry is checked when the board is set up again.
        let (code, shown) = setup(folder, address);
        assert!(code == Some(0) && shown.contains(&word), "{shown}");
    });
}

#[test]
fn setup_notes_dtr_if_it_resets_the_board() {
    check_noted(ControlLine::Dtr, false, "reset = \"dtr\" reset_line = \"off\"");
}

#[test]
fn setup_notes_dtr_if_an_open_port_holds_the_board_in_reset() {
    check_noted(ControlLine::Dtr, true, "reset = \"dtr\"");
}

#[test]
fn setup_notes_a_break_if_it_resets_the_board() {
    check_noted(ControlLine::Break, false, "reset = \"break\"");
}

#[test]
fn without_a_wire_setup_notes_no_method_and_the_doctor_names_one_that_does_nothing() {
    let rig = Rig::new("");
    let folder = rig.folder.path();
    let presses = serve_wired(ControlLine::Rts, false, &rig.server, |address| {
        let (code, shown) = setup(folder, address);
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains("neither DTR nor a break resets the board"), "{shown}");
        assert_eq!(keys(folder), "");
        let noted = format!("[boards.bench]\nport = \"{address}\"\nreset = \"break\"\n");
        std::fs::write(folder.join("rig.toml"), noted).expect("a file");
        let (code, shown, errors) = hw_tests(folder, &[&["doctor"][..], &BOARD].concat());
        assert_eq!(code, 3, "{shown}{errors}");
        assert!(shown.contains("BAD reset"), "{shown}");
    });
    assert_eq!(presses, 0, "RTS is the flow control");
}

#[test]
fn a_board_at_a_pseudo_terminal_is_reset_by_the_command_of_its_rig_file_only() {
    let rig = Rig::with_command();
    let folder = rig.folder.path();
    let (_, shown, errors) = hw_tests(folder, &[&["doctor"][..], &BOARD].concat());
    assert!(shown.contains("ok  reset"), "{shown}{errors}");
    assert_eq!(rig.resets(), 1);
    let port = rig.server.path().to_string_lossy().into_owned();
    let (code, shown) = setup(folder, &port);
    assert!(code == Some(0) && !shown.contains("resets the board"), "{shown}");
    assert_eq!((keys(folder).as_str(), rig.resets()), ("", 1));
}
