//! `rcflash reset`: by the rig's method, or manually.

use std::io::{BufRead, BufReader, Read};
use std::thread;
use std::time::Duration;

use board_simulator::Pace;

use crate::commands::bench::{Bench, Folder, finish, program, rcflash};

/// Writes a rig file with this reset method.
fn rig(folder: &Folder, port: &str, reset: &str) -> String {
    folder.file("rig.toml", format!("[boards.bench]\nport = \"{port}\"\n{reset}\n"))
}

#[test]
fn a_manual_reset_prompts_the_user_and_waits_for_the_monitor() {
    let bench = Bench::classic();
    rcflash(&["write", "--port", &bench.port]).assert_ends(0, &["running"]);
    let mut child = program().args(["reset", "--port", &bench.port]).spawn().expect("it starts");
    let mut printed = BufReader::new(child.stderr.take().expect("its messages"));
    let mut line = String::new();
    printed.read_line(&mut line).expect("its first line");
    assert_eq!(line, "press the board's reset button; waiting up to 30s\n");
    bench.server.reset();
    line.clear();
    printed.read_to_string(&mut line).expect("the rest");
    assert!(line.starts_with("Sargon board monitor 1, build "), "{line}");
    assert_eq!(finish(child, b"").code, Some(0));
}

#[test]
fn a_command_of_the_users_resets_the_board() {
    let bench = Bench::new("rc2014-zed", Pace::Free);
    let folder = Folder::new();
    let write = ["write", "--board", "rc2014-zed", "--port", &bench.port, "--flash"];
    rcflash(&[&write[..], &["--autostart"]].concat()).assert_ends(0, &["running"]);
    let pressed = folder.path("pressed");
    let command = format!("reset = \"command\"\nreset_command = \"touch {}\"", pressed.display());
    let rig = rig(&folder, &bench.port, &command);
    let press = bench.server.reset_button();
    let finger = thread::spawn(move || {
        while !pressed.exists() {
            thread::sleep(Duration::from_millis(5));
        }
        press();
    });
    rcflash(&["reset", "--rig-file", &rig, "--port", "bench", "--board", "rc2014-zed"])
        .assert_ends(0, &["reset; waiting for the monitor", "Sargon board monitor 1"]);
    finger.join().expect("it pressed");
}

#[test]
fn failing_reset_methods_are_reported() {
    let bench = Bench::classic();
    let folder = Folder::new();
    let try_by = |reset: &str, text: &str| {
        let rig = rig(&folder, &bench.port, reset);
        rcflash(&["reset", "--rig-file", &rig, "--port", "bench", "--patience", "1s"])
            .assert_ends(3, &[text]);
    };
    try_by("reset = \"none\"", "the rig file has reset = \"none\"");
    try_by("reset = \"dtr\"", "has no DTR, so the board can't be reset by it");
    try_by("reset = \"command\"\nreset_command = \"exit 7\"", "`exit 7` failed: exit status: 7");
    let unheard = "received nothing from the board's monitor within 1 s after the reset";
    try_by("reset = \"command\"\nreset_command = \"true\"", unheard);
    try_by("reset = \"ask\"", unheard);
}
