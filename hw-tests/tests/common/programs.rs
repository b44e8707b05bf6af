//! Where the other programs of the project are, for tests that run them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What no test shall inherit from whoever runs it.
const SETTINGS: [&str; 4] = ["RCFLASH_PORT", "RCFLASH_BOARD", "RCFLASH_BAUD", "RCFLASH_RIG"];

/// `rcflash`, without the settings of whoever runs the test.
pub(crate) fn rcflash() -> Command {
    let mut command = Command::new(path("rcflash"));
    for name in SETTINGS {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

/// A program lies beside ours; a run of this package's tests alone may have to build it first.
pub(crate) fn path(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_hw-tests")).with_file_name(name);
    if !path.exists() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--package", name, "--quiet"]);
        assert!(cargo.status().expect("cargo is here").success());
    }
    path
}
