//! A temporary file for parsers that take a path.

use std::path::PathBuf;

/// Writes a file that only this process has, and returns its path.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("fuzz-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).expect("it is written");
    path
}
