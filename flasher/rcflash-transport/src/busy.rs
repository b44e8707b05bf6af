//! Other programs that use a serial port: by their lock files, and by what they have open.

use std::fmt;
use std::fs;
use std::path::Path;

use host_platform::files::device_numbers;
use host_platform::process::is_other_alive;

/// Folder in which terminal programs keep lock files, named `LCK..` and the device (Filesystem
/// Hierarchy Standard 3.0, 5.9).
const LOCKS: &str = "/var/lock";

/// A program of which we know only its process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pid: i32,
    name: String,
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

impl User {
    fn of(pid: i32) -> Self {
        let name = fs::read_to_string(format!("/proc/{pid}/comm"));
        let name = name.map_or_else(|_| "a program".to_owned(), |name| name.trim().to_owned());
        Self { pid, name }
    }
}

/// The living program whose lock file names the device.
pub(crate) fn has_locked(device: &Path) -> Option<User> {
    locked_in(Path::new(LOCKS), device)
}

fn locked_in(folder: &Path, device: &Path) -> Option<User> {
    let real = device.canonicalize().ok()?;
    let file = folder.join(format!("LCK..{}", real.file_name()?.to_string_lossy()));
    let pid = fs::read_to_string(file).ok()?.split_whitespace().next()?.parse().ok()?;
    is_other_alive(pid).then(|| User::of(pid))
}

/// Whether the system says that the device is none of its terminal lines, which all serial ports
/// are. Nearly every process has `/dev/null` open, for one.
pub(crate) fn is_no_terminal(device: &Path) -> bool {
    let Some((major, minor)) = device_numbers(device) else { return false };
    let class = fs::read_link(format!("/sys/dev/char/{major}:{minor}/subsystem"));
    class.is_ok_and(|class| class.file_name().is_some_and(|name| name != "tty"))
}

/// A program that has the device open, as far as this user may know.
pub(crate) fn has_open(device: &Path) -> Option<User> {
    let real = device.canonicalize().ok()?;
    let own = i32::try_from(std::process::id()).ok()?;
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let opens = |pid: &i32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_link(file.path()).ok()).any(|target| target == real)
    };
    pids.filter(|pid| *pid != own).find(opens).map(User::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_counts_while_its_process_lives() {
        let folder = tempfile::tempdir().expect("a folder");
        let device = Path::new("/dev/null");
        let write = |text: &str| fs::write(folder.path().join("LCK..null"), text).expect("a file");
        assert_eq!(locked_in(folder.path(), device), None);
        write("         1\n");
        assert_eq!(locked_in(folder.path(), device).map(|user| user.pid), Some(1));
        for dead in [std::process::id().to_string().as_str(), "2147483646", "rubbish", ""] {
            write(dead);
            assert_eq!(locked_in(folder.path(), device), None, "{dead}");
        }
    }

    #[test]
    fn what_every_process_has_open_is_no_terminal() {
        assert!(is_no_terminal(Path::new("/dev/null")) || !Path::new("/sys/dev/char").exists());
        for other in ["/dev/tty", "/dev/ptmx", "/dev/no-such-device"] {
            assert!(!is_no_terminal(Path::new(other)), "{other}");
        }
    }

    #[test]
    fn a_program_that_has_a_file_open_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("device");
        let file = fs::File::create(&path).expect("a file");
        assert_eq!(has_open(&path), None, "only we have it");
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .stdin(file)
            .spawn()
            .expect("sleep is everywhere");
        let user = has_open(&path);
        child.kill().expect("it still sleeps");
        child.wait().expect("it ends");
        assert_eq!(
            user.map(|user| user.to_string()),
            Some(format!("sleep (process {})", child.id()))
        );
    }
}
