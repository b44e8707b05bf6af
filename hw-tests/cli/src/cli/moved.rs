//! Commands that the program `sargon` has now. This release still answers to their earlier names.

use std::ffi::OsStr;

use cli_support::exit::{CommandError, USAGE};

/// Commands of `sargon` that this program had.
const MOVED: [&str; 11] = [
    "behaviours",
    "captures",
    "compare-see",
    "corpus",
    "differences",
    "explain",
    "positions",
    "prizes",
    "relations",
    "residues",
    "swap",
];

/// Returns the error for a command line that starts with a moved command, else `None`.
pub(crate) fn moved_error(command: &OsStr) -> Option<CommandError> {
    let name = MOVED.iter().find(|name| command == **name)?;
    Some(CommandError::new(USAGE, format!("`hw-tests {name}` is now `sargon {name}`")))
}
