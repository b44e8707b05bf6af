//! The command line of `rcflash` without a board. With this test cargo builds the program, which
//! the end-to-end tests of `hw-tests` run.

use std::process::{Command, Output};

fn rcflash(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rcflash"));
    command.args(arguments).env("XDG_CONFIG_HOME", "/nonexistent");
    for name in ["RCFLASH_PORT", "RCFLASH_BOARD", "RCFLASH_BAUD", "RCFLASH_RIG"] {
        command.env_remove(name);
    }
    command.output().expect("it starts")
}

#[test]
fn a_missing_port_is_a_usage_error() {
    let output = rcflash(&["probe"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--port"), "{output:?}");
}

#[test]
fn the_version_is_printed() {
    let output = rcflash(&["--version"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("rcflash "), "{output:?}");
}
