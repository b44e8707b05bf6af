//! Programs of Debian 13 that `.ci/install/debian-13` unpacks.

use std::path::PathBuf;
use std::process::Command;

/// A program of Debian 13, in the folder that `DEBIAN_13_BIN` names.
pub(crate) fn program(name: &str) -> Command {
    let folder = std::env::var_os("DEBIAN_13_BIN").map(PathBuf::from);
    let path = folder.map(|folder| folder.join(name)).filter(|path| path.is_file());
    let path =
        path.unwrap_or_else(|| panic!("no {name}: export DEBIAN_13_BIN=$(.ci/install/debian-13)"));
    Command::new(path)
}
