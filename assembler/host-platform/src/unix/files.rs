//! Files of one writer, and names of files.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Opens a file that no other process has opened by this function, and keeps others out until it is
/// closed. They may still read it.
///
/// # Errors
/// [`ErrorKind::ResourceBusy`] if another process has it; what else the system said.
pub fn open_alone(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(ErrorKind::ResourceBusy.into()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a path still leads to a file that was opened: a lock on a file without a name keeps
/// nobody out.
#[must_use]
pub fn is_named(file: &File, path: &Path) -> bool {
    let same = |ours: Metadata, now: Metadata| (ours.dev(), ours.ino()) == (now.dev(), now.ino());
    file.metadata().is_ok_and(|ours| std::fs::metadata(path).is_ok_and(|now| same(ours, now)))
}

/// Removes a file that is kept, and closes it.
///
/// # Errors
/// The system's error.
pub fn remove_kept(file: File, path: &Path) -> io::Result<()> {
    let removed = std::fs::remove_file(path);
    drop(file);
    removed
}

/// Makes a folder that only this user may enter, and refuses one that somebody else has put there.
///
/// # Errors
/// [`ErrorKind::PermissionDenied`] for a folder of somebody else; what else the system said.
pub fn make_own_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if std::fs::symlink_metadata(folder)?.uid() != geteuid().as_raw() {
        return Err(io::Error::new(
            ErrorKind::PermissionDenied,
            "the folder belongs to another user",
        ));
    }
    Ok(())
}

/// The folder for what lives as long as its user's session: `XDG_RUNTIME_DIR`, or one of the user's
/// own among the temporary files.
#[must_use]
pub fn session_folder(name: &str) -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(folder) if Path::new(&folder).is_dir() => Path::new(&folder).join(name),
        _ => std::env::temp_dir().join(format!("{name}-{}", geteuid().as_raw())),
    }
}

/// The folder for settings: `XDG_CONFIG_HOME`, or `.config` at home.
#[must_use]
pub fn settings_folder() -> PathBuf {
    let folder = |name| std::env::var_os(name).filter(|folder| !folder.is_empty());
    let settings = folder("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = || folder("HOME").map(|home| Path::new(&home).join(".config"));
    settings.or_else(home).unwrap_or_default()
}

/// Text that tells a device file from any other that has had or will have its name; `None` if there
/// is none.
#[must_use]
pub fn identity(path: &Path) -> Option<String> {
    let found = std::fs::metadata(path).ok()?;
    // The time is that of the inode's making or last change of owner; to read and write a device
    // leaves it.
    Some(format!(
        "{:x}-{:x}-{:x}.{:x}",
        found.rdev(),
        found.ino(),
        found.ctime(),
        found.ctime_nsec()
    ))
}

/// Whether a name leads to a character device, as serial ports are.
///
/// # Errors
/// There is nothing of this name, or it may not be looked at.
pub fn is_character_device(path: &Path) -> io::Result<bool> {
    Ok(std::fs::metadata(path)?.file_type().is_char_device())
}

/// The numbers by which the system knows a device, major and minor.
#[must_use]
pub fn device_numbers(path: &Path) -> Option<(u32, u32)> {
    let device = std::fs::metadata(path).ok()?.rdev();
    // The width of the number differs from system to system.
    let device = rustix::fs::Dev::try_from(device).ok()?;
    Some((rustix::fs::major(device), rustix::fs::minor(device)))
}

/// The path of these bytes.
#[must_use]
pub fn path_of(bytes: Vec<u8>) -> PathBuf {
    std::ffi::OsString::from_vec(bytes).into()
}
