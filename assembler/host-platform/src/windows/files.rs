//! Files of one writer, and names of files.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// `FILE_SHARE_READ`: others may read, and neither write nor remove.
const SHARE_READ: u32 = 1;
/// `ERROR_SHARING_VIOLATION`.
const SHARED: i32 = 32;

/// Opens a file that no other process has opened by this function, and keeps others out until it is
/// closed. They may still read it.
///
/// # Errors
/// [`ErrorKind::ResourceBusy`] if another process has it; what else the system said.
pub fn open_alone(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.share_mode(SHARE_READ).open(path).map_err(|error| match error.raw_os_error() {
        Some(SHARED) => ErrorKind::ResourceBusy.into(),
        _ => error,
    })
}

/// Whether a path still leads to a file that was opened: while it is open nobody can remove it.
#[must_use]
pub fn is_named(_file: &File, _path: &Path) -> bool {
    true
}

/// Removes a file that is kept, and closes it, which has to come first here.
///
/// # Errors
/// The system's error.
pub fn remove_kept(file: File, path: &Path) -> io::Result<()> {
    drop(file);
    std::fs::remove_file(path)
}

/// Makes a folder. Temporary files are in the user's own profile, which others may not enter.
///
/// # Errors
/// The system's error.
pub fn make_own_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// The folder for what lives as long as its user's session.
#[must_use]
pub fn session_folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(name)
}

/// The folder for settings: `APPDATA`.
#[must_use]
pub fn settings_folder() -> PathBuf {
    std::env::var_os("APPDATA").map(PathBuf::from).unwrap_or_default()
}

/// Text that tells a device from any other that has had or will have its name: names of ports stay
/// with their adapters here.
#[must_use]
pub fn identity(_path: &Path) -> Option<String> {
    None
}

/// Whether a name leads to a character device; whether a name of a port does shows when it is
/// opened.
///
/// # Errors
/// None.
pub fn is_character_device(_path: &Path) -> io::Result<bool> {
    Ok(true)
}

/// The numbers by which the system knows a device: it has none.
#[must_use]
pub fn device_numbers(_path: &Path) -> Option<(u32, u32)> {
    None
}

/// The path of these bytes; those that are no text are replaced.
#[must_use]
pub fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
