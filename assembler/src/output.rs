//! Writes files so that there is either the whole of one or none.

use std::fs;
use std::io;
use std::path::Path;

/// Writes aside and renames.
///
/// # Errors
/// What the system said; nothing is left behind then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}.part", std::process::id()));
    let written = fs::write(&aside, bytes).and_then(|()| fs::rename(&aside, path));
    if written.is_err() {
        let _ = fs::remove_file(&aside); // it may never have been there
    }
    written
}
