//! Exclusive files, private directories, and metadata of devices.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// `FILE_SHARE_READ`: others may read, and neither write nor remove.
const SHARE_READ: u32 = 1;
/// `ERROR_SHARING_VIOLATION`.
const SHARING_VIOLATION: i32 = 32;

/// Opens a file with an exclusive lock, which lasts until the file is closed. Other processes may
/// still read it.
///
/// # Errors
/// Returns [`ErrorKind::ResourceBusy`] if another process has locked the file, or the system's
/// error.
pub fn open_exclusive(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.share_mode(SHARE_READ).open(path).map_err(|error| match error.raw_os_error() {
        Some(SHARING_VIOLATION) => ErrorKind::ResourceBusy.into(),
        _ => error,
    })
}

/// Returns `true` if `path` still refers to the open `file`: Windows does not remove open files.
pub fn is_file_at_path(_file: &File, _path: &Path) -> bool {
    true
}

/// Closes a file opened by [`open_exclusive`] and removes it. An open file can't be removed.
///
/// # Errors
/// Returns the system's error.
pub fn remove_locked(file: File, path: &Path) -> io::Result<()> {
    drop(file);
    std::fs::remove_file(path)
}

/// Creates a directory, unless it exists. Temporary files are in the user's profile, which is
/// private.
///
/// # Errors
/// Returns the system's error.
pub fn create_private_dir(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Returns the directory `name` for files of the user's session.
pub fn runtime_dir(name: &str) -> PathBuf {
    std::env::temp_dir().join(name)
}

/// Returns the directory for configuration files: `APPDATA`.
pub fn config_dir() -> PathBuf {
    std::env::var_os("APPDATA").map(PathBuf::from).unwrap_or_default()
}

/// Returns the directory for state that outlives a run: `LOCALAPPDATA`.
pub fn state_dir() -> PathBuf {
    std::env::var_os("LOCALAPPDATA").map(PathBuf::from).unwrap_or_default()
}

/// Returns `None`: on Windows the name of a port stays with its adapter.
pub fn device_identity(_path: &Path) -> Option<String> {
    None
}

/// Returns `true`: only opening a port shows whether it is one.
pub fn is_character_device(_path: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Returns `None`: Windows has no device numbers.
pub fn device_numbers(_path: &Path) -> Option<(u32, u32)> {
    None
}

/// Returns the path with these bytes; invalid UTF-8 is replaced.
pub fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
