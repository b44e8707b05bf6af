//! The files of the system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use cli_support::files::{flush_folder, read_within, write_flushed};
use host_platform::files::open_alone;

use super::{Disk, DiskFile, Found};

/// The files of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {
    fn look(&self, path: &Path) -> io::Result<Found> {
        match fs::metadata(path) {
            Ok(there) if there.is_file() => Ok(Found::File(there.len())),
            Ok(there) if there.is_dir() => Ok(Found::Folder),
            Ok(_) => Ok(Found::Other),
            // A link that leads nowhere is something, too: a file would be made where it points.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(if path.is_symlink() { Found::Other } else { Found::Nothing })
            }
            Err(error) => Err(error),
        }
    }

    fn beginning(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        let file = open_alone(path, options.read(true).append(true).create_new(true))?;
        // The name is in the folder, which is a file of its own and is flushed by itself.
        flush_folder(path)?;
        Ok(Box::new(file))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(open_alone(path, OpenOptions::new().read(true).append(true))?))
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        write_flushed(path, bytes)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

impl DiskFile for File {
    fn read_all(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        // A file that tells its length need not be read to be refused.
        let length = self.metadata()?.len();
        if length > limit {
            let problem = format!("it has {length} bytes, and {limit} are the most that is read");
            return Err(io::Error::new(ErrorKind::FileTooLarge, problem));
        }
        self.seek(SeekFrom::Start(0))?;
        read_within(self, limit)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn flush(&mut self) -> io::Result<()> {
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
        let mut file = SystemDisk.create(&path).expect("it is new");
        file.append(b"one\ntwo\n").expect("written");
        file.cut(4).expect("cut");
        file.append(b"three\n").expect("written");
        file.flush().expect("flushed");
        assert_eq!(file.read_all(100).expect("read"), b"one\nthree\n");
        let error = file.read_all(9).expect_err("it is longer");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        let error = SystemDisk.open(&path).err().expect("it has a writer");
        assert_eq!(error.kind(), ErrorKind::ResourceBusy);
        drop(file);
        assert_eq!(SystemDisk.beginning(&path, 3).expect("read"), b"one");
        assert!(SystemDisk.open(&path).is_ok());
        let error = SystemDisk.create(&path).err().expect("it is there");
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    }

    #[test]
    fn whatever_is_at_a_path_is_told_apart() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "12345").expect("a file");
        std::os::unix::fs::symlink("nowhere", path("dangling")).expect("a link");
        std::os::unix::fs::symlink("file", path("link")).expect("a link");
        let look = |name: &str| SystemDisk.look(&path(name)).expect("the system answers");
        assert_eq!(look("none"), Found::Nothing);
        assert_eq!(look("file"), Found::File(5));
        assert_eq!(look("link"), Found::File(5));
        assert_eq!(look("dangling"), Found::Other);
        assert_eq!(look("."), Found::Folder);
        assert_eq!(SystemDisk.look(Path::new("/dev/null")).expect("a device"), Found::Other);
    }
}
