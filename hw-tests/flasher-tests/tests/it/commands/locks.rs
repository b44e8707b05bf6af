//! Locks: two programs and one port.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

use crate::commands::bench::{Bench, RunEnd, finish, program, rcflash};
use crate::programs;

/// Starts a terminal, and waits until it has opened the port.
fn terminal(port: &str) -> Child {
    let mut child = program().args(["monitor", "--port", port]).spawn().expect("it starts");
    let mut line = String::new();
    let printed = child.stderr.take().expect("its messages");
    BufReader::new(printed).read_line(&mut line).expect("its first line");
    assert!(line.contains("Ctrl-] exits"), "{line}");
    child
}

#[test]
fn the_second_program_ends_at_once_and_names_the_first() {
    let bench = Bench::classic();
    let first = terminal(&bench.port);
    let holder = format!("`rcflash monitor --port {}` (process {}, for ", bench.port, first.id());
    for command in ["write", "monitor"] {
        rcflash(&[command, "--port", &bench.port])
            .assert_ends(3, &[&holder, "wait until that ends"]);
    }
    let mut harness = Command::new(programs::path("hw-tests"));
    let second = harness.args(["run", "--port", &bench.port]).output();
    RunEnd::from_output(second.expect("it starts")).assert_ends(3, &[&holder]);
    finish(first, b"\x1D");
    rcflash(&["write", "--port", &bench.port]).assert_ends(0, &["verified on the board"]);
}

#[test]
fn the_lock_of_a_killed_program_is_taken_over_and_its_owner_reported() {
    let bench = Bench::classic();
    let mut first = terminal(&bench.port);
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    let left =
        format!("taking over from `rcflash monitor --port {}` (process {}", bench.port, first.id());
    rcflash(&["write", "--port", &bench.port]).assert_ends(0, &[&left, "verified on the board"]);
    let again = rcflash(&["write", "--port", &bench.port]).assert_ends(0, &[]);
    assert!(!again.messages.contains("taking over"), "it was let go: {}", again.messages);
}
