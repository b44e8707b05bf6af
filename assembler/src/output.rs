//! Writes files so that there is either the whole of one or none.

use std::fs;
use std::io;
use std::path::Path;

/// Writes aside and renames. What is no file, such as a device, is written to as it is: a file must not take its place.
///
/// # Errors
/// What the system said, or that the file there is read-only; nothing is left behind then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => return fs::write(path, bytes),
        Ok(there) if there.permissions().readonly() => {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
        }
        _ => {}
    }
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}.part", std::process::id()));
    let written = fs::write(&aside, bytes).and_then(|()| fs::rename(&aside, path));
    if written.is_err() {
        let _ = fs::remove_file(&aside); // it may never have been there
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_unless_it_is_read_only() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let file = folder.path().join("file");
        for content in [&b"long"[..], b"new"] {
            write_whole(&file, content).expect("it is written");
            assert_eq!(fs::read(&file).expect("it is there"), content);
        }
        let mut modes = fs::metadata(&file).expect("it is there").permissions();
        modes.set_readonly(true);
        fs::set_permissions(&file, modes).expect("it is ours");
        let error = write_whole(&file, b"other").expect_err("it is read-only");
        assert_eq!(error.to_string(), "the file is read-only");
        assert_eq!(fs::read(&file).expect("it is there"), b"new");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_written_to_and_stays_one() {
        let full = Path::new("/dev/full");
        let error = write_whole(full, b"bytes").expect_err("it is always full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(!fs::metadata(full).expect("it is there").is_file());
    }
}
