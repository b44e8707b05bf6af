//! Tests of profile, coverage, and the debugger with its front ends.

mod any;
mod board;
mod case;
mod coverage;
mod dap;
mod debugger;
mod expressions;
mod gdb;
#[cfg(feature = "gdb-z80")]
mod gdb_z80;
mod launch;
#[path = "../../../debugger/tests/it/owned_view.rs"]
mod owned_view;
mod panes;
mod pictures;
mod plain;
mod profile;
mod reverse;
mod same_names;
#[path = "../../../../flasher-tests/tests/it/screen.rs"]
mod screen;
mod stuck;
#[cfg(feature = "system-tests")]
mod system;
mod view;
mod why;

use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;

/// Runs the program; returns the exit code, standard output and standard error.
fn hw_tests(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
    let output = command.args(arguments).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}
