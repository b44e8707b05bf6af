//! Board names from the rig file and environment variables.

use std::process::Command;

use crate::commands::bench::{Bench, Folder, RunEnd, finish, program, rcflash};
use crate::programs;

#[test]
fn a_board_goes_by_its_name_for_both_programs() {
    let bench = Bench::classic();
    let folder = Folder::new();
    let rig = folder.file("rig.toml", format!("[boards.bench]\nport = \"{}\"\n", bench.port));
    let named = ["--rig-file", &rig, "--port", "bench"];
    rcflash(&[&["write"], &named[..]].concat()).assert_ends(0, &["verified on the board"]);
    let mut command = Command::new(programs::path("hw-tests"));
    let judged = command.args(["run", "--tag", "document"]).args(named).output();
    RunEnd::from_output(judged.expect("it starts")).assert_ends(0, &["on bench"]);
}

#[test]
fn the_default_file_and_variables_are_used() {
    let bench = Bench::classic();
    let folder = Folder::new();
    std::fs::create_dir(folder.path("rcflash")).expect("a folder");
    folder.file("rcflash/rig.toml", format!("[boards.bench]\nport = \"{}\"\n", bench.port));
    let run = |variables: &[(&str, &str)]| {
        let mut command = program();
        command.env("XDG_CONFIG_HOME", folder.path("")).envs(variables.iter().copied());
        finish(command.arg("write").spawn().expect("it starts"), b"")
    };
    run(&[("RCFLASH_PORT", "bench")]).assert_ends(0, &["verified on the board"]);
    run(&[("RCFLASH_PORT", "bench"), ("RCFLASH_BOARD", "spectrum")])
        .assert_ends(2, &["unknown board 'spectrum'"]);
    run(&[]).assert_ends(2, &["no board given", "rcflash ports"]);
}

#[test]
fn errors_in_the_file_and_unknown_names_are_reported() {
    let folder = Folder::new();
    let rig = folder.file("rig.toml", "[boards.bench]\nport = \"/dev/none\"\nspeed = 9600\n");
    rcflash(&["write", "--rig-file", &rig, "--port", "bench"])
        .assert_ends(3, &["rig.toml: ", "line 3", "unknown field `speed`"]);
    let rig = folder.file("rig.toml", "[boards.bench]\nport = \"/dev/none\"\n");
    rcflash(&["write", "--rig-file", &rig, "--port", "bnech"])
        .assert_ends(2, &["'bnech'", "known boards: bench"]);
    rcflash(&["write", "--rig-file", &rig, "--port", "bench"])
        .assert_ends(3, &["port /dev/none not found"]);
    rcflash(&["write", "--rig-file", "/nonexistent/rig.toml", "--port", "bench"])
        .assert_ends(3, &["can't read /nonexistent/rig.toml"]);
}

/// Returns the output of a terminal session, run with these environment variables.
fn opened(rig: &str, variables: &[(&str, &str)], more: &[&str]) -> RunEnd {
    let mut command = program();
    command.envs(variables.iter().copied()).env("RCFLASH_RIG", rig).arg("monitor").args(more);
    finish(command.spawn().expect("it starts"), b"")
}

#[test]
fn the_command_line_comes_before_the_environment_and_that_before_the_file() {
    let bench = Bench::classic();
    let other = Bench::classic();
    let folder = Folder::new();
    let entry = |name, port| format!("[boards.{name}]\nport = \"{port}\"\n");
    let plain = entry("plain", &bench.port);
    let full = entry("full", &other.port) + "baud = 57600\nboard = \"in-file\"\n";
    let fast = entry("fast", &bench.port) + "baud = 57600\n";
    let rig = folder.file("rig.toml", plain + &full + &fast);
    let at = |port: &str, baud| format!("{port} at {baud} baud");
    let plain = ("RCFLASH_PORT", "plain");
    opened(&rig, &[plain], &[]).assert_ends(0, &[&at(&bench.port, 115_200)]);
    opened(&rig, &[plain], &["--port", &other.port]).assert_ends(0, &[&at(&other.port, 115_200)]);
    let fast = ("RCFLASH_PORT", "fast");
    opened(&rig, &[fast], &[]).assert_ends(0, &[&at(&bench.port, 57_600)]);
    let slow = ("RCFLASH_BAUD", "38400");
    opened(&rig, &[fast, slow], &[]).assert_ends(0, &[&at(&bench.port, 38_400)]);
    opened(&rig, &[fast, slow], &["--baud", "19200"]).assert_ends(0, &[&at(&bench.port, 19_200)]);
    let full = ("RCFLASH_PORT", "full");
    opened(&rig, &[full], &[]).assert_ends(2, &["unknown board 'in-file'"]);
    let board = ("RCFLASH_BOARD", "in-environment");
    opened(&rig, &[full, board], &[]).assert_ends(2, &["unknown board 'in-environment'"]);
    opened(&rig, &[full, board], &["--board", "given"]).assert_ends(2, &["unknown board 'given'"]);
    let empty = folder.file("empty.toml", "");
    opened(&rig, &[full], &["--rig-file", &empty])
        .assert_ends(2, &["unknown board 'full' in", "empty.toml"]);
    opened("/nonexistent/rig.toml", &[full], &[])
        .assert_ends(3, &["can't read /nonexistent/rig.toml"]);
}
