//! Writes files so that there is either the whole of one or none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::exit::{Failure, RIG};
use crate::text::Show;

/// The most bytes that a command reads from a file or from standard input.
pub const MAX_INPUT_BYTES: u64 = 64 << 20;

/// Reads a file of up to [`MAX_INPUT_BYTES`] for a command.
///
/// # Errors
/// Fails with exit code 3, and names the file, if it can't be read.
pub fn read_input(path: &Path) -> Result<Vec<u8>, Failure> {
    File::open(path)
        .and_then(|file| read_within(file, MAX_INPUT_BYTES))
        .map_err(|error| Failure::new(RIG, format!("can't read {}: {error}", path.shown())))
}

/// Reads all that a file or a line holds, but no more than `limit` bytes.
///
/// # Errors
/// The system's error; [`io::ErrorKind::FileTooLarge`] if there is more.
pub fn read_within(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than allowed shows that there is more, without reading all of it.
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let problem = format!("it has more than {limit} bytes, which is the most that is read");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

/// Writes a file aside and renames it. A pipe or a character device is written to as it is; a link
/// stays one.
///
/// # Errors
/// The system's error; [`io::ErrorKind::PermissionDenied`] if the file is read-only or is a block
/// device, on which all that it holds would be lost. No part of the file is left then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, bytes, Flush::Later)
}

/// Writes a file as [`write_whole`] does, and returns when content and name are on the disk, so
/// that a power cut leaves the old file or the new one.
///
/// # Errors
/// As [`write_whole`].
pub fn write_flushed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, bytes, Flush::Now)
}

/// Returns when the names in the folder of a file are on the disk.
///
/// # Errors
/// The system's error; none on systems that have no means for it.
pub fn flush_folder(file: &Path) -> io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems, and all of Windows, know no such request.
        Err(error) if is_no_such_request(&error) => Ok(()),
        other => other,
    }
}

fn is_no_such_request(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported)
}

/// When a file reaches the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flush {
    /// When the system likes.
    Later,
    /// Before the file has its name.
    Now,
}

fn write(path: &Path, bytes: &[u8], flush: Flush) -> io::Result<()> {
    let Ok(there) = fs::metadata(path) else { return write_aside(path, bytes, None, flush) };
    if is_block_device(&there) {
        return Err(refused("it is a block device, which is not overwritten"));
    }
    if !there.is_file() {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let permissions = there.permissions();
    if permissions.readonly() {
        return Err(refused("the file is read-only"));
    }
    write_aside(&fs::canonicalize(path)?, bytes, Some(permissions), flush)
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(unix)]
fn is_block_device(there: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&there.file_type())
}

#[cfg(not(unix))]
fn is_block_device(_there: &fs::Metadata) -> bool {
    false
}

fn write_aside(
    path: &Path,
    bytes: &[u8],
    like: Option<fs::Permissions>,
    flush: Flush,
) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}.part", std::process::id()));
    // Content goes to the disk before the name does: else a power cut could leave the name of the
    // new file with nothing in it.
    let written = fill(Path::new(&aside), bytes, flush)
        .and_then(|()| like.map_or(Ok(()), |like| fs::set_permissions(&aside, like)))
        .and_then(|()| fs::rename(&aside, path));
    if written.is_err() {
        let _ = fs::remove_file(&aside); // it may never have been there
    }
    written?;
    if flush == Flush::Now { flush_folder(path) } else { Ok(()) }
}

fn fill(aside: &Path, bytes: &[u8], flush: Flush) -> io::Result<()> {
    let mut file = File::create(aside)?;
    file.write_all(bytes)?;
    if flush == Flush::Now { file.sync_all() } else { Ok(()) }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a scratch folder")
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_device_is_written_to_and_stays_one() {
        let folder = folder();
        let path = folder.path().join("full");
        symlink("/dev/full", &path).expect("a link");
        let error = write_whole(&path, b"x").expect_err("it takes nothing");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(path.is_symlink() && !path.is_file(), "it was not replaced");
        let path = folder.path().join("null");
        symlink("/dev/null", &path).expect("a link");
        write_whole(&path, b"x").expect("it takes anything");
        assert!(!path.is_file());
    }

    #[test]
    fn a_flushed_file_is_the_same_file() {
        let folder = folder();
        let file = folder.path().join("file");
        for content in [&b"one"[..], b"two"] {
            write_flushed(&file, content).expect("it is written");
            assert_eq!(fs::read(&file).expect("it is there"), content);
        }
        assert_eq!(names(folder.path()), ["file"]);
        flush_folder(&file).expect("the folder is flushed");
        flush_folder(Path::new("no-folder-is-named")).expect("this folder is flushed");
    }

    #[test]
    fn a_link_to_a_file_stays_and_so_do_permissions() {
        let folder = folder();
        let file = folder.path().join("file");
        let link = folder.path().join("link");
        fs::write(&file, "before").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("ours");
        symlink(&file, &link).expect("a link");
        write_whole(&link, b"after").expect("it is written");
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).expect("it is there"), b"after");
        let mode = fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn a_file_is_replaced_by_a_longer_and_by_a_shorter_one() {
        let folder = folder();
        let file = folder.path().join("file");
        for content in [&b"long"[..], b"longer", b"new"] {
            write_whole(&file, content).expect("it is written");
            assert_eq!(fs::read(&file).expect("it is there"), content);
        }
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn a_read_only_file_is_left_alone() {
        let folder = folder();
        let file = folder.path().join("file");
        fs::write(&file, "before").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("ours");
        let error = write_whole(&file, b"after").expect_err("it is refused");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read(&file).expect("it is there"), b"before");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn nothing_is_left_where_a_file_can_not_be() {
        let folder = folder();
        assert!(write_whole(&folder.path().join("none/file"), b"x").is_err());
        assert!(write_whole(folder.path(), b"x").is_err(), "a folder");
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }
}
