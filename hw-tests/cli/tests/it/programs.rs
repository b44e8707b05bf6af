//! The other programs of the project, for tests that run them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

/// Environment variables that tests must not inherit from the user.
const SETTINGS_VARIABLES: [&str; 4] =
    ["RCFLASH_PORT", "RCFLASH_BOARD", "RCFLASH_BAUD", "RCFLASH_RIG"];

/// Returns `rcflash`, without the settings variables of the user.
pub(crate) fn rcflash() -> Command {
    let mut command = Command::new(path("rcflash"));
    for name in SETTINGS_VARIABLES {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

/// Returns the path of a program, up to date.
///
/// `cargo test --workspace` has built all programs, and then cargo ends within half a second here;
/// tests of this package alone do not build those of others. The target `command`, which each
/// package of a program has, makes cargo build that program with the features that the whole
/// workspace's tests have; `cargo build` would build most dependencies again without them.
pub(crate) fn path(name: &str) -> PathBuf {
    static BUILT: Once = Once::new();
    // Tests are in the folder `deps` beside the programs.
    let test = std::env::current_exe().expect("it has a path");
    let folder = test.ancestors().nth(2).expect("a folder");
    let path = folder.join(name);
    BUILT.call_once(|| build(folder));
    assert!(path.exists(), "{} was not built", path.display());
    path
}

/// Builds all programs with cargo into this folder.
fn build(folder: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--workspace", "--test", "command", "--no-run", "--quiet"]);
    // The folder is TARGET/PROFILE; the folder of the profile "dev" is called "debug".
    if let Some(profile) = folder.file_name().filter(|profile| *profile != "debug") {
        cargo.arg("--profile").arg(profile);
    }
    if let Some(target) = folder.parent() {
        cargo.arg("--target-dir").arg(target);
    }
    let output = cargo.output().expect("cargo is here");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
