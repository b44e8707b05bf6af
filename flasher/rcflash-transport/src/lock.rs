//! One user of a port at a time: a lock that names its holder.
//!
//! The lock is the system's own on a small file beside which nothing else is kept, so that it ends
//! with its holder however that ends. The file's text is only for the message to whoever comes
//! second. The lock belongs to a device, not to its name: the same name may soon be another
//! device's.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use host_platform::files::{
    identity, is_named, make_own_folder, open_alone, remove_kept, session_folder,
};

/// The number of times a lock is tried whose file is removed just then.
const ATTEMPTS: usize = 10;
/// Most characters of a command that are kept.
const COMMAND: usize = 120;

/// The holder of a lock, or the one who held it last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// Its command line, cut to what fits a message.
    pub command: String,
    /// When it took the lock.
    pub since: SystemTime,
}

impl Holder {
    /// This process.
    fn this() -> Self {
        let words: Vec<_> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let program = words.first().map(Path::new).and_then(Path::file_name);
        let program = program.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let words = std::iter::once(program).chain(words.into_iter().skip(1));
        let line = words.collect::<Vec<_>>().join(" ").replace(char::is_control, " ");
        let command = line.chars().take(COMMAND).collect();
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

impl fmt::Display for Holder {
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

/// Error returned when a lock can't be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error("in use by {}", holder.as_ref().map_or_else(|| "another \
    process".to_owned(), ToString::to_string))]
    Held {
        /// The holder, if that is known.
        holder: Option<Holder>,
    },
    /// The file could not be made.
    #[error("can't keep a lock in {0}: {1}")]
    Failed(PathBuf, io::Error),
}

/// A lock on a port; dropping it lets go.
#[derive(Debug)]
pub struct PortLock {
    /// There until the lock is dropped.
    file: Option<File>,
    path: PathBuf,
    left_by: Option<Holder>,
}

impl PortLock {
    /// Takes the lock of a device, under whichever of its names it goes.
    ///
    /// # Errors
    /// Somebody else has it, or the file could not be made.
    pub fn take(device: &Path) -> Result<Self, LockError> {
        let folder = folder();
        Self::take_in(&folder, device).map_err(|refusal| refusal.explain(folder))
    }

    /// Takes the lock of a place on a network, such as `127.0.0.1:3000`.
    ///
    /// # Errors
    /// As [`Self::take`]. Programs of other computers are kept out by whoever serves the place.
    pub fn take_place(place: &str) -> Result<Self, LockError> {
        let folder = folder();
        let name = place.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
        let path = folder.join(format!("net-{name}.lock"));
        make_own_folder(&folder)
            .map_err(Refusal::from)
            .and_then(|()| Self::take_file(&path))
            .map_err(|refusal| refusal.explain(folder))
    }

    /// The one who held it last, if that one ended without letting go.
    #[must_use]
    pub fn left_by(&self) -> Option<&Holder> {
        self.left_by.as_ref()
    }

    fn take_in(folder: &Path, device: &Path) -> Result<Self, Refusal> {
        make_own_folder(folder)?;
        let path = folder.join(file_name(device));
        let lock = Self::take_file(&path)?;
        forget_others(folder, &path, device);
        Ok(lock)
    }

    fn take_file(path: &Path) -> Result<Self, Refusal> {
        for _ in 0..ATTEMPTS {
            if let Some(lock) = Self::try_take(path)? {
                return Ok(lock);
            }
        }
        Err(Refusal::Failed(io::Error::other("it is made and removed again and again")))
    }

    /// Takes the lock; `None` if its file was removed meanwhile by the one who had it.
    fn try_take(path: &Path) -> Result<Option<Self>, Refusal> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = match open_alone(path, options) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                let text = std::fs::read_to_string(path).unwrap_or_default();
                return Err(Refusal::Held(Holder::parse(&text)));
            }
            Err(error) => return Err(Refusal::Failed(error)),
        };
        // A lock on a file without a name keeps nobody out: its next one would be another file.
        if !is_named(&file, path) {
            return Ok(None);
        }
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(Holder::this().text().as_bytes())?;
        let file = Some(file);
        Ok(Some(Self { file, path: path.to_owned(), left_by: Holder::parse(&text) }))
    }
}

impl Drop for PortLock {
    fn drop(&mut self) {
        // An old name would only make the next one report that it takes over.
        if let Some(file) = self.file.take() {
            let _ = file.set_len(0);
            let _ = remove_kept(file, &self.path);
        }
    }
}

/// Removes the files of devices that had this one's name before and that nobody holds: a
/// pseudo-terminal's number is given out again and again.
fn forget_others(folder: &Path, own: &Path, device: &Path) {
    let prefix = format!("{}@", plain_name(device));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()).filter(|path| path != own) {
        let is_of_name =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
        if is_of_name && let Ok(file) = open_alone(&path, OpenOptions::new().write(true)) {
            let _ = remove_kept(file, &path);
        }
    }
}

enum Refusal {
    Held(Option<Holder>),
    Failed(io::Error),
}

impl Refusal {
    fn explain(self, folder: PathBuf) -> LockError {
        match self {
            Self::Held(holder) => LockError::Held { holder },
            Self::Failed(error) => LockError::Failed(folder, error),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// The folder for this user's locks. Other users are refused by the device itself.
fn folder() -> PathBuf {
    session_folder("rcflash")
}

/// One file for all names of a device, and another one for each device that bears the name:
/// `/dev/ttyUSB0` becomes `dev-ttyUSB0@` with its number, inode and time.
fn file_name(device: &Path) -> String {
    let name = plain_name(device);
    format!("{name}@{}.lock", identity(device).unwrap_or_default())
}

fn plain_name(device: &Path) -> String {
    let real = device.canonicalize().unwrap_or_else(|_| device.to_owned());
    // Windows has more characters that a name of a file can't have, and puts them into real paths.
    real.to_string_lossy().trim_start_matches('/').replace(|c| "/\\:?*\"<>|".contains(c), "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_learns_who_the_first_is_until_that_one_lets_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let device = folder.path().join("device");
        let link = folder.path().join("by-id");
        std::fs::write(&device, "").expect("a file");
        std::os::unix::fs::symlink(&device, &link).expect("a link");
        let take = |name: &Path| PortLock::take_in(&folder.path().join("locks"), name);
        let first = take(&device).unwrap_or_else(|_| panic!("it is free"));
        let Err(Refusal::Held(Some(holder))) = take(&link) else { panic!("it is held") };
        assert_eq!(holder.pid, std::process::id());
        assert!(holder.to_string().contains("s)"), "{holder}");
        drop(first);
        let again = take(&link).unwrap_or_else(|_| panic!("it is free again"));
        assert_eq!(again.left_by(), None);
    }

    #[test]
    fn a_lock_whose_holder_was_killed_is_taken_over_and_its_name_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let device = Path::new("/dev/none");
        std::fs::write(folder.path().join(file_name(device)), "77\n1000\nrcflash write\n")
            .expect("a file");
        let lock = PortLock::take_in(folder.path(), device).unwrap_or_else(|_| panic!("free"));
        let left = lock.left_by().expect("somebody left it");
        assert_eq!((left.pid, left.command.as_str()), (77, "rcflash write"));
    }

    #[test]
    fn another_device_of_the_same_name_has_a_lock_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let locks = folder.path().join("locks");
        let device = folder.path().join("device");
        std::fs::write(&device, "").expect("a file");
        let first = PortLock::take_in(&locks, &device).unwrap_or_else(|_| panic!("it is free"));
        // The old one stays while the new one is made, so that they can't share an inode.
        std::fs::rename(&device, folder.path().join("gone")).expect("it moves");
        std::fs::write(&device, "").expect("a file");
        let second = PortLock::take_in(&locks, &device).unwrap_or_else(|_| panic!("another one"));
        let files = || std::fs::read_dir(&locks).expect("the folder").count();
        assert_eq!(files(), 2, "the first is still held");
        drop((first, second));
        assert_eq!(files(), 0, "a lock leaves no file");
    }

    #[test]
    fn a_file_that_makes_no_sense_names_nobody() {
        for text in ["", "x\n1\ny\n", "1\n", "1\n99999999999999999999\nx\n"] {
            assert_eq!(Holder::parse(text), None, "{text:?}");
        }
    }
}
