//! The file system that a run uses.
//!
//! Results, transcripts and reports are written through [`FileSystem`] only, so that tests can
//! replace it by a simulated disk that makes each single access fail or loses power at any time.

mod lines;
mod system;

pub(crate) use lines::LineAppender;
pub use system::OsFileSystem;

use std::io::{self, BufRead, Write};
use std::path::Path;

/// The shortest torn prefix of a magic that is still recognised as ours.
const MIN_TORN_MAGIC_BYTES: usize = 8;

/// Returns `true` if a file that starts with these bytes has this magic, or may be what a power
/// cut left of it: an empty file, or a torn magic followed by zeros.
#[must_use]
pub fn has_magic(start: &[u8], magic: &[u8]) -> bool {
    let written = start.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let is_torn = written >= MIN_TORN_MAGIC_BYTES && magic.starts_with(&start[..written]);
    start.is_empty() || start.starts_with(magic) || is_torn
}

/// The kind of entry at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// No entry.
    Missing,
    /// A file, with its length in bytes.
    File(u64),
    /// A directory.
    Directory,
    /// A device, a pipe, a socket, or a dangling link.
    Other,
}

/// A file system with durable writes.
pub trait FileSystem: Send + Sync {
    /// Returns the kind of entry at a path. Follows links.
    ///
    /// # Errors
    /// Returns the system's error; a missing entry is not one.
    fn path_kind(&self, path: &Path) -> io::Result<PathKind>;

    /// Returns at most the first `limit` bytes of a file.
    ///
    /// # Errors
    /// Returns the system's error.
    fn read_prefix(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// Creates a file and locks it for exclusive writing.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::AlreadyExists`] if the path exists, else the system's error.
    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>>;

    /// Opens an existing file and locks it for exclusive writing.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::ResourceBusy`] if another process has locked it, else the system's
    /// error.
    fn open(&self, path: &Path) -> io::Result<Box<dyn AppendFile>>;

    /// Replaces a file atomically with what `write` writes, which need not fit into memory: writes a
    /// temporary file, syncs and renames it.
    ///
    /// # Errors
    /// Returns the error of `write`, else the system's. The old file, if any, is unchanged.
    fn replace(
        &self,
        path: &Path,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()>;

    /// Creates a directory and its missing parents.
    ///
    /// # Errors
    /// Returns the system's error.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Returns the system's error.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
}

/// A file that is locked for appending. Dropping it releases the lock.
pub trait AppendFile: Send {
    /// Returns a reader of the whole content, which need not fit into memory.
    ///
    /// # Errors
    /// Returns the system's error.
    fn reader(&mut self) -> io::Result<Box<dyn BufRead + '_>>;

    /// Appends bytes.
    ///
    /// # Errors
    /// Returns the system's error; some of the bytes may have been appended.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Truncates the file to this length.
    ///
    /// # Errors
    /// Returns the system's error.
    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// Writes the content to the device, so that it survives a power cut.
    ///
    /// # Errors
    /// Returns the system's error.
    fn sync(&mut self) -> io::Result<()>;
}

#[cfg(test)]
mod tests {
    use super::has_magic;

    #[test]
    fn a_torn_magic_is_recognised_and_no_shorter_prefix() {
        let magic = b"{\"transcript\":";
        for ours in [&b""[..], magic, b"{\"transcript\":1,", b"{\"transc", b"{\"transc\0\0\0"] {
            assert!(has_magic(ours, magic), "{ours:?}");
        }
        for other in
            [&b"{"[..], b"\0", b"{\"trans", b"{\"trans\0\0", b"{\"transc ", b"\0\0{\"transcript\":"]
        {
            assert!(!has_magic(other, magic), "{other:?}");
        }
    }
}
