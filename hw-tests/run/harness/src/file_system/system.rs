//! The file system of the operating system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use cli_support::files::{replace_durable, sync_parent_dir};
use rcflash_transport::platform::files::open_exclusive;

use super::{AppendFile, FileSystem, PathKind};

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
    use super::*;

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
