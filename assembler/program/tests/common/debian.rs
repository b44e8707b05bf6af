//! Programs of Debian 13 that `.ci/debian-13` unpacks.

use std::path::PathBuf;
use std::process::Command;

/// A program of Debian 13; `None`, with a message, where `DEBIAN_13_BIN` does not name the folder.
/// Where CI is set it must.
pub(crate) fn program(name: &str) -> Option<Command> {
    let folder = std::env::var_os("DEBIAN_13_BIN").map(PathBuf::from);
    match folder.map(|folder| folder.join(name)).filter(|path| path.is_file()) {
        Some(path) => Some(Command::new(path)),
        None => {
            assert!(std::env::var_os("CI").is_none(), "DEBIAN_13_BIN must name .ci/debian-13's");
            eprintln!("skipped: {name} of Debian 13; DEBIAN_13_BIN=$(.ci/debian-13) names it");
            None
        }
    }
}
