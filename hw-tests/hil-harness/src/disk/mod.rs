//! Files of a run: the system's, or simulated ones that fill up, fail and lose power.
//!
//! Results, transcripts and reports are written through [`Disk`] alone, so that a test can make
//! every single access fail, and so that the promises about lost power can be tried a thousand
//! times.

mod lines;
mod simulated;
mod system;

pub use lines::Lines;
pub use simulated::{DiskFault, SimulatedDisk};
pub use system::SystemDisk;

use std::io;
use std::path::Path;

/// The part of a mark by which a torn file is recognised: nobody else's file is just this.
const TORN: usize = 8;

/// Returns whether a file that begins with these bytes has a mark of ours, or is what a power cut
/// left of one: empty, or a torn mark, with zeros for what did not reach the disk.
#[must_use]
pub fn is_marked(beginning: &[u8], mark: &[u8]) -> bool {
    let written = beginning.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let is_torn = written >= TORN && mark.starts_with(&beginning[..written]);
    beginning.is_empty() || beginning.starts_with(mark) || is_torn
}

/// The kind of thing at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A file of so many bytes.
    File(u64),
    /// A folder.
    Folder,
    /// A device, a pipe, a socket, or a link that leads nowhere.
    Other,
}

/// Files by their paths.
pub trait Disk: Send + Sync {
    /// Returns the kind of entry at a path; links are followed.
    ///
    /// # Errors
    /// The system's error, other than that there is nothing.
    fn look(&self, path: &Path) -> io::Result<Found>;

    /// Returns at most the first `limit` bytes of a file.
    ///
    /// # Errors
    /// The system's error.
    fn beginning(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// Makes a file that is not there yet, and keeps it for one writer.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if something is there, else the system's error.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Opens a file that is there, and keeps it for one writer.
    ///
    /// # Errors
    /// [`io::ErrorKind::ResourceBusy`] if another process writes it, else the system's error.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Writes a whole file aside, flushes it, and gives it its name: there is always the old file
    /// or the new one.
    ///
    /// # Errors
    /// The system's error. The old file, if any, is still there.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Makes a folder and those above it, as far as they are not there.
    ///
    /// # Errors
    /// The system's error.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// The system's error.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// A file that grows at its end. Dropping it lets others write it.
pub trait DiskFile: Send {
    /// Returns the content.
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`] if there are more than `limit` bytes, else the system's
    /// error.
    fn read_all(&mut self, limit: u64) -> io::Result<Vec<u8>>;

    /// Adds bytes at the end.
    ///
    /// # Errors
    /// The system's error; a part of the bytes may have been added.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file off after so many bytes.
    ///
    /// # Errors
    /// The system's error.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Returns when the content is on the disk, so that a power cut can't take it away.
    ///
    /// # Errors
    /// The system's error.
    fn flush(&mut self) -> io::Result<()>;
}

#[cfg(test)]
mod tests {
    use super::is_marked;

    #[test]
    fn a_torn_mark_is_recognised_and_no_shorter_beginning() {
        let mark = b"{\"transcript\":";
        for ours in [&b""[..], mark, b"{\"transcript\":1,", b"{\"transc", b"{\"transc\0\0\0"] {
            assert!(is_marked(ours, mark), "{ours:?}");
        }
        for other in
            [&b"{"[..], b"\0", b"{\"trans", b"{\"trans\0\0", b"{\"transc ", b"\0\0{\"transcript\":"]
        {
            assert!(!is_marked(other, mark), "{other:?}");
        }
    }
}
