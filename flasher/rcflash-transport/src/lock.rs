//! Locks that give a port to one program at a time and name the holder.
//!
//! The lock is a file lock of the operating system, so it is released when its holder exits,
//! however that happens. The file's content is only for the message of the program that comes
//! second. A lock belongs to a device, not to its name: the same name may later be another
//! device's.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::platform::files::{
    create_private_dir, device_identity, is_file_at_path, open_exclusive, remove_locked,
    runtime_dir,
};
use crate::platform::time::sleep;

/// The maximum number of attempts while the lock file is removed or locked by others.
const MAX_ATTEMPTS: usize = 25;
/// The time between attempts while it is locked: a program that removes files of earlier devices
/// locks them for a moment.
const RETRY_DELAY: Duration = Duration::from_millis(20);
/// The maximum number of characters of a command line that are stored.
const MAX_COMMAND_CHARS: usize = 120;

/// The process that holds a lock, or that held it last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// The process id.
    pub pid: u32,
    /// Its command line, shortened to 120 characters.
    pub command: String,
    /// When it acquired the lock.
    pub since: SystemTime,
}

impl LockHolder {
    fn current_process() -> Self {
        let words: Vec<_> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let program = words.first().map(Path::new).and_then(Path::file_name);
        let program = program.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let words = std::iter::once(program).chain(words.into_iter().skip(1));
        let line = words.collect::<Vec<_>>().join(" ").replace(char::is_control, " ");
        let command = line.chars().take(MAX_COMMAND_CHARS).collect();
        Self { pid: std::process::id(), command, since: SystemTime::now() }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let pid = lines.next()?.parse().ok()?;
        let seconds = lines.next()?.parse().ok()?;
        let since = UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
        Some(Self { pid, command: lines.next()?.to_owned(), since })
    }

    fn text(&self) -> String {
        let seconds = self.since.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        format!("{}\n{seconds}\n{}\n", self.pid, self.command)
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (process {}, for ", self.command, self.pid)?;
        let seconds = self.since.elapsed().unwrap_or_default().as_secs();
        match seconds {
            0..120 => write!(f, "{seconds} s)"),
            120..7200 => write!(f, "{} min)", seconds / 60),
            _ => write!(f, "{} h)", seconds / 3600),
        }
    }
}

/// Error returned when a lock can't be acquired.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds the lock.
    #[error("in use by {}", holder.as_ref().map_or_else(|| "another \
    process".to_owned(), ToString::to_string))]
    Held {
        /// The holder, if its entry is readable.
        holder: Option<LockHolder>,
    },
    /// The lock file could not be created.
    #[error("can't create a lock file in {0}: {1}")]
    Failed(PathBuf, io::Error),
}

/// A lock on a port, released on drop.
#[derive(Debug)]
pub struct PortLock {
    /// `Some` until the lock is dropped.
    file: Option<File>,
    path: PathBuf,
    previous_holder: Option<LockHolder>,
}

/// The start of this computer's addresses in the names of lock files.
const LOOPBACK: &str = "127.0.0.1-";

impl PortLock {
    /// Locks a device. All names of the device share one lock.
    ///
    /// # Errors
    /// Returns [`LockError`] if another process holds the lock or the file could not be created.
    pub fn acquire(device: &Path) -> Result<Self, LockError> {
        let folder = folder();
        Self::acquire_in(&folder, device).map_err(|refusal| refusal.with_folder(folder))
    }

    /// Locks a network address such as `127.0.0.1:3000`.
    ///
    /// # Errors
    /// As [`Self::acquire`]. Programs on other computers are excluded by the server itself.
    pub fn acquire_address(address: &str) -> Result<Self, LockError> {
        Self::acquire_address_in(&folder(), address)
    }

    fn acquire_address_in(folder: &Path, address: &str) -> Result<Self, LockError> {
        let name = address.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
        let path = folder.join(format!("net-{name}.lock"));
        let lock = create_private_dir(folder)
            .map_err(AcquireError::from)
            .and_then(|()| Self::acquire_file(&path))
            .map_err(|refusal| refusal.with_folder(folder.to_owned()))?;
        if name.starts_with(LOOPBACK) {
            remove_stale_files(folder, &path, &format!("net-{LOOPBACK}"));
        }
        Ok(lock)
    }

    /// Returns the previous holder if it exited without releasing the lock.
    pub fn previous_holder(&self) -> Option<&LockHolder> {
        self.previous_holder.as_ref()
    }

    fn acquire_in(folder: &Path, device: &Path) -> Result<Self, AcquireError> {
        create_private_dir(folder)?;
        let path = folder.join(file_name(device));
        let lock = Self::acquire_file(&path)?;
        remove_stale_files(folder, &path, &format!("{}@", path_as_file_name(device)));
        Ok(lock)
    }

    fn acquire_file(path: &Path) -> Result<Self, AcquireError> {
        for remaining in (0..MAX_ATTEMPTS).rev() {
            match Self::try_acquire_file(path) {
                Ok(None) => {}
                Ok(Some(lock)) => return Ok(lock),
                Err(AcquireError::Held(_)) if remaining > 0 => sleep(RETRY_DELAY),
                Err(error) => return Err(error),
            }
        }
        Err(AcquireError::Failed(io::Error::other(
            "another program removes the lock file each time it is created",
        )))
    }

    /// Acquires the lock, or returns `None` if its holder removed the file in the meantime.
    fn try_acquire_file(path: &Path) -> Result<Option<Self>, AcquireError> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = match open_exclusive(path, options) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                let text = std::fs::read_to_string(path).unwrap_or_default();
                return Err(AcquireError::Held(LockHolder::parse(&text)));
            }
            Err(error) => return Err(AcquireError::Failed(error)),
        };
        // A lock on a removed file excludes no other program: the next one creates another file.
        if !is_file_at_path(&file, path) {
            return Ok(None);
        }
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(LockHolder::current_process().text().as_bytes())?;
        let file = Some(file);
        Ok(Some(Self { file, path: path.to_owned(), previous_holder: LockHolder::parse(&text) }))
    }
}

impl Drop for PortLock {
    fn drop(&mut self) {
        // The entry of a holder that released the lock must not be reported as a crash.
        if let Some(file) = self.file.take() {
            let _ = file.set_len(0);
            let _ = remove_locked(file, &self.path);
        }
    }
}

/// Removes unlocked files of earlier devices and servers with this prefix: numbers of
/// pseudo-terminals and ports are reused.
fn remove_stale_files(folder: &Path, own: &Path, prefix: &str) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()).filter(|path| path != own) {
        let is_of_name =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
        if is_of_name && let Ok(file) = open_exclusive(&path, OpenOptions::new().write(true)) {
            let _ = remove_locked(file, &path);
        }
    }
}

enum AcquireError {
    Held(Option<LockHolder>),
    Failed(io::Error),
}

impl AcquireError {
    fn with_folder(self, folder: PathBuf) -> LockError {
        match self {
            Self::Held(holder) => LockError::Held { holder },
            Self::Failed(error) => LockError::Failed(folder, error),
        }
    }
}

impl From<io::Error> for AcquireError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Returns the folder of this user's locks. Access by other users is refused by the device.
fn folder() -> PathBuf {
    runtime_dir("rcflash")
}

/// Returns the name of the lock file: one for all names of a device, and a different one for each
/// device that has the same name. `/dev/ttyUSB0` becomes `dev-ttyUSB0@` with its number, inode and
/// time.
fn file_name(device: &Path) -> String {
    let name = path_as_file_name(device);
    format!("{name}@{}.lock", device_identity(device).unwrap_or_default())
}

fn path_as_file_name(device: &Path) -> String {
    let real = device.canonicalize().unwrap_or_else(|_| device.to_owned());
    // Windows forbids more characters in file names, and its canonical paths have some of them.
    real.to_string_lossy().trim_start_matches('/').replace(|c| "/\\:?*\"<>|".contains(c), "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_program_gets_the_holder_until_the_lock_is_released() {
        let folder = tempfile::tempdir().expect("a folder");
        let device = folder.path().join("device");
        let link = folder.path().join("by-id");
        std::fs::write(&device, "").expect("a file");
        std::os::unix::fs::symlink(&device, &link).expect("a link");
        let take = |name: &Path| PortLock::acquire_in(&folder.path().join("locks"), name);
        let first = take(&device).unwrap_or_else(|_| panic!("it is free"));
        let Err(AcquireError::Held(Some(holder))) = take(&link) else { panic!("it is held") };
        assert_eq!(holder.pid, std::process::id());
        assert!(holder.to_string().contains("s)"), "{holder}");
        drop(first);
        let again = take(&link).unwrap_or_else(|_| panic!("it is free again"));
        assert_eq!(again.previous_holder(), None);
    }

    #[test]
    fn a_killed_holder_loses_the_lock_and_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let device = Path::new("/dev/none");
        std::fs::write(folder.path().join(file_name(device)), "77\n1000\nrcflash write\n")
            .expect("a file");
        let stale = folder.path().join("dev-none@1-2-3.4.lock");
        let foreign = folder.path().join("dev-none2@1-2-3.4.lock");
        for path in [&stale, &foreign] {
            std::fs::write(path, "").expect("a file");
        }
        let lock = PortLock::acquire_in(folder.path(), device).unwrap_or_else(|_| panic!("free"));
        assert!(!stale.exists() && foreign.exists(), "an earlier device had this name");
        let left = lock.previous_holder().expect("it was not released");
        assert_eq!((left.pid, left.command.as_str()), (77, "rcflash write"));
    }

    #[test]
    fn files_of_killed_clients_of_this_computer_do_not_pile_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let stale = folder.path().join("net-127.0.0.1-3001.lock");
        let foreign = folder.path().join("net-10.0.0.1-3001.lock");
        for path in [&stale, &foreign] {
            std::fs::write(path, "77\n1000\nhw-inspect dap\n").expect("a file");
        }
        let lock = PortLock::acquire_address_in(folder.path(), "127.0.0.1:3000").expect("free");
        assert!(!stale.exists() && foreign.exists(), "its number is given to another server");
        drop(lock);
        let lock = PortLock::acquire_address_in(folder.path(), "10.0.0.1:3001").expect("free");
        assert_eq!(lock.previous_holder().map(|holder| holder.pid), Some(77));
    }

    #[test]
    fn another_device_of_the_same_name_has_a_lock_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let locks = folder.path().join("locks");
        let device = folder.path().join("device");
        std::fs::write(&device, "").expect("a file");
        let first = PortLock::acquire_in(&locks, &device).unwrap_or_else(|_| panic!("it is free"));
        // The old file stays while the new one is created, so that they can't share an inode.
        std::fs::rename(&device, folder.path().join("gone")).expect("it moves");
        std::fs::write(&device, "").expect("a file");
        let second =
            PortLock::acquire_in(&locks, &device).unwrap_or_else(|_| panic!("another one"));
        let files = || std::fs::read_dir(&locks).expect("the folder").count();
        assert_eq!(files(), 2, "the first is still held");
        drop((first, second));
        assert_eq!(files(), 0, "a lock leaves no file");
    }

    #[test]
    fn a_lock_file_that_can_t_be_opened_is_not_held() {
        let folder = tempfile::tempdir().expect("a folder");
        let device = Path::new("/dev/none");
        std::fs::create_dir(folder.path().join(file_name(device))).expect("a folder");
        let acquired = PortLock::acquire_in(folder.path(), device);
        assert!(matches!(acquired, Err(AcquireError::Failed(_))));
    }

    #[test]
    fn an_invalid_lock_file_names_no_holder() {
        for text in ["", "x\n1\ny\n", "1\n", "1\n99999999999999999999\nx\n"] {
            assert_eq!(LockHolder::parse(text), None, "{text:?}");
        }
    }
}
