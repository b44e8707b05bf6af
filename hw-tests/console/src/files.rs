//! Files that commands read.

use std::fs::File;
use std::path::Path;

use program_kit::exit::{Failure, RIG};
use program_kit::files::read_within;
use program_kit::text::Show;

/// Most bytes that a command reads from a file or from standard input.
pub(crate) const MOST: u64 = 64 << 20;

/// Reads a file of up to 64 MiB.
///
/// # Errors
/// Fails with exit code 3, and names the file, if it can't be read.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    File::open(path)
        .and_then(|file| read_within(file, MOST))
        .map_err(|error| Failure::new(RIG, format!("can't read {}: {error}", path.shown())))
}
