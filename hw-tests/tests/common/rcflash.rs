//! Where the program `rcflash` is, for tests that run it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What no test shall inherit from whoever runs it.
const SETTINGS: [&str; 4] = ["RCFLASH_PORT", "RCFLASH_BOARD", "RCFLASH_BAUD", "RCFLASH_RIG"];

/// The program, without the settings of whoever runs the test.
pub(crate) fn command() -> Command {
    let mut command = Command::new(path());
    for name in SETTINGS {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

/// The program lies beside ours; a run of this package's tests alone may have to build it first.
pub(crate) fn path() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_hw-tests")).with_file_name("rcflash");
    if !path.exists() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--package", "rcflash", "--quiet"]);
        assert!(cargo.status().expect("cargo is here").success());
    }
    path
}
