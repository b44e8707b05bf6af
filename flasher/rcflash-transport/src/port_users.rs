//! Finds other programs that use a serial port, by their lock files and their open files.

use std::path::Path;
use std::{fmt, fs};

use crate::platform::files::device_numbers;
use crate::platform::process::is_other_process_alive;

/// Folder in which terminal programs keep lock files, named `LCK..` and the device (Filesystem
/// Hierarchy Standard 3.0, 5.9).
const LOCK_FOLDER: &str = "/var/lock";

/// Another program that uses a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortUser {
    pid: i32,
    name: String,
}

impl fmt::Display for PortUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

impl PortUser {
    fn from_pid(pid: i32) -> Self {
        let name = fs::read_to_string(format!("/proc/{pid}/comm"));
        let name = name.map_or_else(|_| "a program".to_owned(), |name| name.trim().to_owned());
        Self { pid, name }
    }
}

/// Returns the running program whose lock file names the device.
pub(crate) fn locked_by(device: &Path) -> Option<PortUser> {
    locked_by_file_in(Path::new(LOCK_FOLDER), device)
}

fn locked_by_file_in(folder: &Path, device: &Path) -> Option<PortUser> {
    let real = device.canonicalize().ok()?;
    let file = folder.join(format!("LCK..{}", real.file_name()?.to_string_lossy()));
    let pid = fs::read_to_string(file).ok()?.split_whitespace().next()?.parse().ok()?;
    is_other_process_alive(pid).then(|| PortUser::from_pid(pid))
}

/// Returns `true` if the system lists the device outside the class of terminal devices, to which
/// all serial ports belong. Nearly every process has `/dev/null` open, for example.
pub(crate) fn is_not_terminal(device: &Path) -> bool {
    let Some((major, minor)) = device_numbers(device) else { return false };
    let class = fs::read_link(format!("/sys/dev/char/{major}:{minor}/subsystem"));
    class.is_ok_and(|class| class.file_name().is_some_and(|name| name != "tty"))
}

/// Returns a program that has the device open, as far as this user may read that.
pub(crate) fn opened_by(device: &Path) -> Option<PortUser> {
    let real = device.canonicalize().ok()?;
    let own = i32::try_from(std::process::id()).ok()?;
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let opens = |pid: &i32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_link(file.path()).ok()).any(|target| target == real)
    };
    pids.filter(|pid| *pid != own).find(opens).map(PortUser::from_pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_counts_while_its_process_lives() {
        let folder = tempfile::tempdir().expect("a folder");
        let device = Path::new("/dev/null");
        let write = |text: &str| fs::write(folder.path().join("LCK..null"), text).expect("a file");
        assert_eq!(locked_by_file_in(folder.path(), device), None);
        write("         1\n");
        assert_eq!(locked_by_file_in(folder.path(), device).map(|user| user.pid), Some(1));
        for dead in [std::process::id().to_string().as_str(), "2147483646", "rubbish", ""] {
            write(dead);
            assert_eq!(locked_by_file_in(folder.path(), device), None, "{dead}");
        }
    }

    #[test]
    fn a_device_that_every_process_has_open_is_not_a_terminal() {
        assert!(is_not_terminal(Path::new("/dev/null")) || !Path::new("/sys/dev/char").exists());
        for other in ["/dev/tty", "/dev/ptmx", "/dev/no-such-device"] {
            assert!(!is_not_terminal(Path::new(other)), "{other}");
        }
    }

    #[test]
    fn a_program_that_has_a_file_open_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("device");
        let file = fs::File::create(&path).expect("a file");
        assert_eq!(opened_by(&path), None, "only this process has it open");
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .stdin(file)
            .spawn()
            .expect("sleep is everywhere");
        let user = opened_by(&path);
        child.kill().expect("it still sleeps");
        child.wait().expect("it ends");
        assert_eq!(
            user.map(|user| user.to_string()),
            Some(format!("sleep (process {})", child.id()))
        );
    }
}
