//! Files, of which a page has none.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Opens a file that no other process has opened.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub fn open_alone(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.open(path)
}

/// Whether a path still leads to a file that was opened.
#[must_use]
pub fn is_named(_file: &File, _path: &Path) -> bool {
    false
}

/// Removes a file that is kept, and closes it.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub fn remove_kept(_file: File, _path: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Makes a folder that only this user may enter.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub fn make_own_folder(_folder: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// The folder for what lives as long as its user's session; nothing can be put there.
#[must_use]
pub fn session_folder(name: &str) -> PathBuf {
    name.into()
}

/// The folder for settings; there is nothing in it.
#[must_use]
pub fn settings_folder() -> PathBuf {
    PathBuf::new()
}

/// Text that tells a device from any other of its name: there is none.
#[must_use]
pub fn identity(_path: &Path) -> Option<String> {
    None
}

/// Whether a name leads to a character device: none does.
///
/// # Errors
/// None.
pub fn is_character_device(_path: &Path) -> io::Result<bool> {
    Ok(false)
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
