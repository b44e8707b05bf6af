//! The other programs of the project, for tests that run them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Settings that no test shall inherit from whoever runs it.
const SETTINGS: [&str; 4] = ["RCFLASH_PORT", "RCFLASH_BOARD", "RCFLASH_BAUD", "RCFLASH_RIG"];
/// The packages of the programs.
const PACKAGES: [(&str, &str); 2] = [("rcflash", "rcflash"), ("tdlasm", "tdlasm-cli")];

/// Returns `rcflash`, without the settings of whoever runs the test.
pub(crate) fn rcflash() -> Command {
    let mut command = Command::new(path("rcflash"));
    for name in SETTINGS {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

/// Returns the path of a program.
///
/// `cargo test --workspace` builds all programs; tests of one package do not build those of others,
/// so that one that is missing or older than its sources is built here, once a process.
pub(crate) fn path(name: &str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = built.get(name) {
        return path.clone();
    }
    let path = Path::new(env!("CARGO_BIN_EXE_hw-tests")).with_file_name(name);
    if !is_up_to_date(&path) {
        build(name, &path);
    }
    built.insert(name.to_owned(), path.clone());
    path
}

/// Returns whether a program is newer than all sources that cargo's list beside it names.
fn is_up_to_date(program: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    let list = std::fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let Some((_, sources)) = list.trim_end().split_once(": ") else { return false };
    // A blank within a path is written as "\\ ".
    let sources = sources.replace("\\ ", "\0");
    let mut sources = sources.split(' ').map(|path| PathBuf::from(path.replace('\0', " ")));
    let built = changed(program);
    built.is_some() && sources.all(|source| changed(&source) <= built)
}

/// Has cargo build a program in the profile and the folder of ours.
fn build(name: &str, path: &Path) {
    let package = PACKAGES.iter().find(|(program, _)| *program == name);
    let package = package.map_or(name, |(_, package)| package);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--package", package, "--bin", name, "--quiet"]);
    // The folder of ours is TARGET/PROFILE; "debug" is the one that cargo calls "dev".
    let folder = path.parent().expect("a folder");
    if let Some(profile) = folder.file_name().filter(|profile| *profile != "debug") {
        cargo.arg("--profile").arg(profile);
    }
    if let Some(target) = folder.parent() {
        cargo.arg("--target-dir").arg(target);
    }
    let status = cargo.status().expect("cargo is here");
    assert!(status.success() && path.exists(), "{name} can't be built");
}
