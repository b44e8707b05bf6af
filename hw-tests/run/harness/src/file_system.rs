//! The file system that a run uses.
//!
//! Results, transcripts and reports are written through [`FileSystem`] only, so that tests can
//! replace it by a simulated disk that makes each single access fail or loses power at any time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use cli_support::files::{replace_durable, sync_parent_dir};
use rcflash_transport::platform::files::open_exclusive;

/// The shortest torn prefix of a magic that is still recognised as ours.
const MIN_TORN_MAGIC_BYTES: usize = 8;

/// Returns `true` if a file that starts with these bytes has this magic, or may be what a power
/// cut left of it: an empty file, or a torn magic followed by zeros.
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

/// Appends complete lines to a file.
pub(crate) struct LineAppender {
    file: Box<dyn AppendFile>,
    /// Length of the complete lines in bytes.
    length: u64,
    has_failed: bool,
}

impl LineAppender {
    /// Creates an appender for a file whose complete lines end at `length`.
    pub(crate) fn new(file: Box<dyn AppendFile>, length: u64) -> Self {
        Self { file, length, has_failed: false }
    }

    /// Appends a line, which ends with a line break. After a failure no other line is appended,
    /// since the failed one would be missing before it.
    ///
    /// # Errors
    /// Returns the system's error. The incomplete line is removed if the system permits that.
    pub(crate) fn append(&mut self, line: &str) -> io::Result<()> {
        if self.has_failed {
            return Err(io::Error::other("an earlier line could not be written"));
        }
        if let Err(error) = self.file.append(line.as_bytes()) {
            self.has_failed = true;
            // A full disk may have taken a part of the line.
            let _ = self.file.truncate(self.length);
            return Err(error);
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Writes all lines to the device, so that they survive a power cut.
    ///
    /// # Errors
    /// Returns the system's error.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}

/// Bytes that are read from a file at a time.
const READ_BYTES: usize = 64 << 10;

/// The file system of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsFileSystem;

impl FileSystem for OsFileSystem {
    fn path_kind(&self, path: &Path) -> io::Result<PathKind> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => Ok(PathKind::File(metadata.len())),
            Ok(metadata) if metadata.is_dir() => Ok(PathKind::Directory),
            Ok(_) => Ok(PathKind::Other),
            // A dangling link is not free: creating a file would create the link's target.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(if path.is_symlink() { PathKind::Other } else { PathKind::Missing })
            }
            Err(error) => Err(error),
        }
    }

    fn read_prefix(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let mut options = OpenOptions::new();
        let file = open_exclusive(path, options.read(true).append(true).create_new(true))?;
        // The name is stored in the directory, which is synced separately.
        sync_parent_dir(path)?;
        Ok(Box::new(file))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        Ok(Box::new(open_exclusive(path, OpenOptions::new().read(true).append(true))?))
    }

    fn replace(
        &self,
        path: &Path,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        replace_durable(path, write)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

impl AppendFile for File {
    fn reader(&mut self) -> io::Result<Box<dyn BufRead + '_>> {
        self.seek(SeekFrom::Start(0))?;
        Ok(Box::new(BufReader::with_capacity(READ_BYTES, self)))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::has_magic;
    use super::*;

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

    #[test]
    fn a_file_has_one_writer_and_grows_at_its_end() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("file");
        let mut file = OsFileSystem.create(&path).expect("it is new");
        file.append(b"one\ntwo\n").expect("written");
        file.truncate(4).expect("cut");
        file.append(b"three\n").expect("written");
        file.sync().expect("flushed");
        let mut content = String::new();
        file.reader().and_then(|mut all| all.read_to_string(&mut content)).expect("read");
        assert_eq!(content, "one\nthree\n");
        let error = OsFileSystem.open(&path).err().expect("it has a writer");
        assert_eq!(error.kind(), ErrorKind::ResourceBusy);
        drop(file);
        assert_eq!(OsFileSystem.read_prefix(&path, 3).expect("read"), b"one");
        assert!(OsFileSystem.open(&path).is_ok());
        let error = OsFileSystem.create(&path).err().expect("it is there");
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    }

    #[test]
    fn each_kind_of_entry_is_distinguished() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "12345").expect("a file");
        std::os::unix::fs::symlink("nowhere", path("dangling")).expect("a link");
        std::os::unix::fs::symlink("file", path("link")).expect("a link");
        let kind = |name: &str| OsFileSystem.path_kind(&path(name)).expect("the system answers");
        assert_eq!(kind("none"), PathKind::Missing);
        assert_eq!(kind("file"), PathKind::File(5));
        assert_eq!(kind("link"), PathKind::File(5));
        assert_eq!(kind("dangling"), PathKind::Other);
        assert_eq!(kind("."), PathKind::Directory);
        assert_eq!(
            OsFileSystem.path_kind(Path::new("/dev/null")).expect("a device"),
            PathKind::Other
        );
    }
}
