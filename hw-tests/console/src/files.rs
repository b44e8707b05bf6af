//! Files that commands read.

use std::path::Path;

use program_kit::exit::{Failure, RIG};
use program_kit::text::Show;

/// Reads a file.
///
/// # Errors
/// Fails with exit code 3, and names the file, if it can't be read.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path)
        .map_err(|error| Failure::new(RIG, format!("can't read {}: {error}", path.shown())))
}
