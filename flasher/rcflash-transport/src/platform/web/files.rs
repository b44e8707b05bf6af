//! Stub: a web page has no files.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Opens a file, which always fails.
pub fn open_exclusive(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.open(path)
}

/// Returns `false`.
pub fn is_file_at_path(_file: &File, _path: &Path) -> bool {
    false
}

/// Always fails.
pub fn remove_locked(_file: File, _path: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Always fails.
pub fn create_private_dir(_folder: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Returns `name`, where no file can be created.
pub fn runtime_dir(name: &str) -> PathBuf {
    name.into()
}

/// Returns the empty path.
pub fn config_dir() -> PathBuf {
    PathBuf::new()
}

/// Returns the empty path.
pub fn state_dir() -> PathBuf {
    PathBuf::new()
}

/// Returns `None`.
pub fn device_identity(_path: &Path) -> Option<String> {
    None
}

/// Returns `false`.
pub fn is_character_device(_path: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Returns `None`.
pub fn device_numbers(_path: &Path) -> Option<(u32, u32)> {
    None
}

/// Returns the path with these bytes; invalid UTF-8 is replaced.
pub fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
