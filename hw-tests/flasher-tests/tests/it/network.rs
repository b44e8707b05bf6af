//! Boards behind a network: `rcflash serve`, Debian's ser2net and websockify, pyserial's server
//! of RFC 2217, with delay, loss of the connection and reconnection.

use crate::background_process;
mod browser;
mod connection_loss;
use crate::programs;
mod proxy;
mod servers;
mod shared;
#[cfg(feature = "system-tests")]
mod system;
use crate::sim;

use std::process::{Command, Output};

/// Returns `hw-tests`, without the settings variables of the user.
fn hw_tests() -> Command {
    let mut command = Command::new(programs::path("hw-tests"));
    for name in ["RCFLASH_BOARD", "RCFLASH_RIG"] {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

/// A command's exit code and all of its output.
fn exit_code_and_output(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// Runs a command that must exit with `code`. Returns all of its output.
fn run(command: &mut Command, code: i32) -> String {
    let output = command.output().expect("it starts");
    let (found, text) = exit_code_and_output(&output);
    assert_eq!(found, Some(code), "{command:?}: {text}");
    text
}

/// Finds the board, writes the evaluator and runs cases on it.
fn use_board(port: &str) {
    let printed = run(programs::rcflash().args(["probe", "--port", port]), 0);
    assert!(printed.contains("Sargon board monitor"), "{port}: {printed}");
    let printed = run(programs::rcflash().args(["write", "--port", port]), 0);
    assert!(printed.contains("verified on the board"), "{port}: {printed}");
    let printed = run(hw_tests().args(["run", "--count", "50", "--port", port]), 0);
    assert!(printed.contains("PASS: 50 of 50 cases"), "{port}: {printed}");
    assert!(printed.contains(" 0 retries"), "{port}: {printed}");
}
