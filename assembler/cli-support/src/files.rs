//! Atomic file writes (a temporary file, then a rename), and reads with a size limit.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use crate::exit::{CommandError, ENVIRONMENT};
use crate::text::Escape;

/// The maximum number of bytes that a command reads from a file or from standard input.
pub const MAX_INPUT_BYTES: u64 = 64 << 20;

/// Reads a file of up to [`MAX_INPUT_BYTES`] for a command.
///
/// # Errors
/// Returns an error with exit code 3 and the file's name if it cannot be read.
pub fn read_input(path: &Path) -> Result<Vec<u8>, CommandError> {
    File::open(path).and_then(|file| read_limited(file, MAX_INPUT_BYTES)).map_err(|error| {
        CommandError::new(ENVIRONMENT, format!("cannot read {}: {error}", path.escaped()))
    })
}

/// Writes a file by [`write_atomic`] for a command.
///
/// # Errors
/// Returns an error with exit code 3 and the file's name if it cannot be written.
pub fn write_output(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    write_atomic(path, bytes).map_err(|error| {
        CommandError::new(ENVIRONMENT, format!("cannot write {}: {error}", path.escaped()))
    })
}

/// Reads until the end of `source`, at most `limit` bytes.
///
/// # Errors
/// Returns the system's error, or [`io::ErrorKind::FileTooLarge`] if there are more bytes.
pub fn read_limited(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One more byte than allowed is enough to detect an excess.
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let problem = format!("it is larger than the limit of {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

/// Writes a temporary file and renames it to `path`. Symbolic links are followed; a pipe or
/// character device is written to directly.
///
/// # Errors
/// Returns the system's error, or [`io::ErrorKind::PermissionDenied`] if the file is read-only or
/// is a block device, whose content would be lost. The old file is then unchanged.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, &mut |file| file.write_all(bytes), SyncPolicy::Deferred)
}

/// Writes a file like [`write_atomic`] with what `content` writes, which need not fit into memory,
/// and syncs content and name to the disk, so that a power failure leaves either the old file or
/// the new one.
///
/// # Errors
/// Returns the error of `content`, or as [`write_atomic`].
pub fn replace_durable(path: &Path, content: Content) -> io::Result<()> {
    write(path, content, SyncPolicy::BeforeReturn)
}

/// Syncs the directory that contains `file`, so that new names in it survive a power failure.
///
/// # Errors
/// Returns the system's error. Systems that cannot sync a directory report success.
pub fn sync_parent_dir(file: &Path) -> io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Windows and some file systems cannot sync a directory.
        Err(error) if is_sync_unsupported(&error) => Ok(()),
        other => other,
    }
}

fn is_sync_unsupported(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported)
}

/// Writes the content of a file.
type Content<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// When a file reaches the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SyncPolicy {
    /// Whenever the system writes it.
    Deferred,
    /// Before the function returns; the content before the file is renamed.
    BeforeReturn,
}

fn write(path: &Path, content: Content, sync: SyncPolicy) -> io::Result<()> {
    let Ok(existing) = fs::metadata(path) else {
        return write_via_temp(path, content, None, sync);
    };
    if is_block_device(&existing) {
        return Err(permission_denied("it is a block device, which is not overwritten"));
    }
    if !existing.is_file() {
        return write_buffered(OpenOptions::new().write(true).open(path)?, content).map(drop);
    }
    let permissions = existing.permissions();
    if permissions.readonly() {
        return Err(permission_denied("the file is read-only"));
    }
    write_via_temp(&fs::canonicalize(path)?, content, Some(permissions), sync)
}

fn permission_denied(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}

/// Returns `true` if both paths are names of one existing file, also by links. On systems other
/// than Unix hard links are not recognised.
#[cfg(unix)]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

/// Returns `true` if both paths are names of one existing file.
#[cfg(not(unix))]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(unix)]
fn is_block_device(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_block_device(_metadata: &fs::Metadata) -> bool {
    false
}

fn write_via_temp(
    path: &Path,
    content: Content,
    permissions: Option<fs::Permissions>,
    sync: SyncPolicy,
) -> io::Result<()> {
    let mut temp = path.as_os_str().to_owned();
    temp.push(format!(".{}.part", std::process::id()));
    // The content is synced before the rename: otherwise a power failure could leave an empty file
    // under the final name.
    let written = write_temp(Path::new(&temp), content, sync)
        .and_then(|()| {
            permissions.map_or(Ok(()), |permissions| fs::set_permissions(&temp, permissions))
        })
        .and_then(|()| fs::rename(&temp, path));
    if written.is_err() {
        let _ = fs::remove_file(&temp); // may not exist
    }
    written?;
    if sync == SyncPolicy::BeforeReturn { sync_parent_dir(path) } else { Ok(()) }
}

fn write_buffered(file: File, content: Content) -> io::Result<File> {
    let mut buffered = BufWriter::new(file);
    content(&mut buffered)?;
    Ok(buffered.into_inner()?)
}

fn write_temp(path: &Path, content: Content, sync: SyncPolicy) -> io::Result<()> {
    let file = write_buffered(File::create(path)?, content)?;
    if sync == SyncPolicy::BeforeReturn { file.sync_all() } else { Ok(()) }
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
        let error = write_atomic(&path, b"x").expect_err("it takes nothing");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(path.is_symlink() && !path.is_file(), "it was not replaced");
        let path = folder.path().join("null");
        symlink("/dev/null", &path).expect("a link");
        write_atomic(&path, b"x").expect("it takes anything");
        assert!(!path.is_file());
    }

    #[test]
    fn a_flushed_file_is_the_same_file() {
        let folder = folder();
        let file = folder.path().join("file");
        for content in [&b"one"[..], b"two"] {
            replace_durable(&file, &mut |out| out.write_all(content)).expect("it is written");
            assert_eq!(fs::read(&file).expect("it is there"), content);
        }
        assert_eq!(names(folder.path()), ["file"]);
        sync_parent_dir(&file).expect("the folder is flushed");
        sync_parent_dir(Path::new("no-folder-is-named")).expect("this folder is flushed");
    }

    #[test]
    fn a_link_to_a_file_stays_and_so_do_permissions() {
        let folder = folder();
        let file = folder.path().join("file");
        let link = folder.path().join("link");
        fs::write(&file, "before").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("ours");
        symlink(&file, &link).expect("a link");
        write_atomic(&link, b"after").expect("it is written");
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
            write_atomic(&file, content).expect("it is written");
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
        let error = write_atomic(&file, b"after").expect_err("it is refused");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read(&file).expect("it is there"), b"before");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn nothing_is_left_where_a_file_can_not_be() {
        let folder = folder();
        assert!(write_atomic(&folder.path().join("none/file"), b"x").is_err());
        assert!(write_atomic(folder.path(), b"x").is_err(), "a folder");
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }
}
