//! Reads files up to a maximum size: a device such as `/dev/zero` has no end, and a sparse file of
//! gigabytes takes no space.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The maximum size of a file: over a thousand times that of the longest known source.
pub const MAX_FILE: u64 = 256 << 20;

/// Reads all of an input.
///
/// # Errors
///
/// Returns the error of the input, or [`io::ErrorKind::FileTooLarge`] if there are more than
/// [`MAX_FILE`] bytes.
pub fn read_bounded(input: impl Read) -> io::Result<Vec<u8>> {
    read_up_to(input, MAX_FILE, Vec::new())
}

/// Reads a file.
///
/// # Errors
///
/// Returns the error that prevented the file from being opened or read, or
/// [`io::ErrorKind::FileTooLarge`].
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    // A file that is known to be too large is not read at all.
    if size > MAX_FILE {
        return Err(too_large(MAX_FILE));
    }
    // Only a hint: a file may grow, and devices have no size.
    read_up_to(file, MAX_FILE, Vec::with_capacity(size as usize + 1))
}

fn read_up_to(input: impl Read, most: u64, mut bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    input.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: u64) -> io::Error {
    let message = format!("it has more than {} MiB; split it", most >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_without_end_is_an_error() {
        let error = read_up_to(io::repeat(0), 1 << 20, Vec::new()).expect_err("too much");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it has more than 1 MiB; split it");
        let read = |input: &[u8]| read_up_to(input, 16, Vec::new());
        assert_eq!(read(&[7; 16]).expect("as many as may be"), [7; 16]);
        assert!(read(&[7; 17]).is_err());
    }
}
