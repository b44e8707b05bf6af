//! Exclusive files, private directories, and metadata of devices.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Opens a file with an exclusive lock, which lasts until the file is closed. Other processes may
/// still read it.
///
/// # Errors
/// Returns [`ErrorKind::ResourceBusy`] if another process has locked the file, or the system's
/// error.
pub fn open_exclusive(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(ErrorKind::ResourceBusy.into()),
        Err(error) => Err(error.into()),
    }
}

/// Returns `true` if `path` still refers to the open `file`. A lock on a file that has been removed
/// excludes no other process.
pub fn is_file_at_path(file: &File, path: &Path) -> bool {
    let same = |ours: Metadata, now: Metadata| (ours.dev(), ours.ino()) == (now.dev(), now.ino());
    file.metadata().is_ok_and(|ours| std::fs::metadata(path).is_ok_and(|now| same(ours, now)))
}

/// Removes a file opened by [`open_exclusive`] and closes it.
///
/// # Errors
/// Returns the system's error.
pub fn remove_locked(file: File, path: &Path) -> io::Result<()> {
    let removed = std::fs::remove_file(path);
    drop(file);
    removed
}

/// Creates a directory with mode 0700, unless it exists.
///
/// # Errors
/// Returns [`ErrorKind::PermissionDenied`] if the directory belongs to another user, or the
/// system's error.
pub fn create_private_dir(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if std::fs::symlink_metadata(folder)?.uid() != geteuid().as_raw() {
        return Err(io::Error::new(
            ErrorKind::PermissionDenied,
            "the folder belongs to another user",
        ));
    }
    Ok(())
}

/// Returns the directory `name` for files of the user's session: in `XDG_RUNTIME_DIR`, or with the
/// user's id in the directory for temporary files.
pub fn runtime_dir(name: &str) -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(folder) if Path::new(&folder).is_dir() => Path::new(&folder).join(name),
        _ => std::env::temp_dir().join(format!("{name}-{}", geteuid().as_raw())),
    }
}

/// Returns the directory for configuration files: `XDG_CONFIG_HOME`, or `~/.config`.
pub fn config_dir() -> PathBuf {
    user_dir("XDG_CONFIG_HOME", ".config")
}

/// Returns the directory for state that outlives a run: `XDG_STATE_HOME`, or `~/.local/state`.
pub fn state_dir() -> PathBuf {
    user_dir("XDG_STATE_HOME", ".local/state")
}

fn user_dir(variable: &str, below_home: &str) -> PathBuf {
    let folder = |name| std::env::var_os(name).filter(|folder| !folder.is_empty());
    let home = || folder("HOME").map(|home| Path::new(&home).join(below_home));
    folder(variable).map(PathBuf::from).or_else(home).unwrap_or_default()
}

/// Returns a text that identifies a device file even if another device gets its name later; `None`
/// if the file does not exist.
pub fn device_identity(path: &Path) -> Option<String> {
    let found = std::fs::metadata(path).ok()?;
    // The change time of the inode is set when it is created or its owner changes, and not by
    // reading or writing the device.
    Some(format!(
        "{:x}-{:x}-{:x}.{:x}",
        found.rdev(),
        found.ino(),
        found.ctime(),
        found.ctime_nsec()
    ))
}

/// Returns `true` if the path is a character device, as serial ports are.
///
/// # Errors
/// Returns the system's error if the path does not exist or may not be read.
pub fn is_character_device(path: &Path) -> io::Result<bool> {
    Ok(std::fs::metadata(path)?.file_type().is_char_device())
}

/// Returns the major and minor number of a device.
pub fn device_numbers(path: &Path) -> Option<(u32, u32)> {
    let device = std::fs::metadata(path).ok()?.rdev();
    // Systems differ in the width of the number.
    let device = rustix::fs::Dev::try_from(device).ok()?;
    Some((rustix::fs::major(device), rustix::fs::minor(device)))
}

/// Returns the path with these bytes.
pub fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    std::ffi::OsString::from_vec(bytes).into()
}
