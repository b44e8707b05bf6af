//! Places of labgrid: acquired when the port is first opened, and released with the last copy of
//! the rig, also if this program is killed.

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rcflash_transport::time::{Duration, Instant};

const SCHEME: &str = "labgrid://";
/// The Python program that acquires the place, by labgrid's own interface.
const LEASE_SCRIPT: &str = include_str!("labgrid.py");
/// How long acquiring a place or a reset may take.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(90);
const RELEASE_TIMEOUT: Duration = Duration::from_secs(30);
/// How often the release is checked.
const RELEASE_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A place of labgrid. Clones share one lease.
#[derive(Clone)]
pub struct LabgridPlace {
    name: String,
    lease: Arc<Mutex<Option<Lease>>>,
}

impl fmt::Debug for LabgridPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LabgridPlace").field(&self.name).finish()
    }
}

impl PartialEq for LabgridPlace {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for LabgridPlace {}

impl LabgridPlace {
    /// Returns the place that a port names, if it is one. Nothing is acquired yet.
    pub fn from_port_name(port: &str) -> Option<Self> {
        let name = port.strip_prefix(SCHEME)?.to_owned();
        Some(Self { name, lease: Arc::default() })
    }

    /// Returns the address at which labgrid exports the serial port of the place. Acquires the
    /// place first if necessary. Calling this again while another user has the place reserves it.
    ///
    /// # Errors
    /// Returns labgrid's message if the place is unknown, or if another user has acquired or
    /// reserved it, with [`io::ErrorKind::ResourceBusy`].
    pub fn address(&self) -> io::Result<String> {
        let mut slot = self.lock();
        if self.name.is_empty() || self.name.starts_with('-') {
            let problem = "expected a place, as in labgrid://bench";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let lease = match slot.take() {
            Some(lease) => slot.insert(lease),
            None => slot.insert(Lease::start(&self.name)?),
        };
        let address = lease.acquire().map(|()| lease.address.clone());
        if address.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::ResourceBusy) {
            *slot = None;
        }
        address
    }

    /// Returns `true` if the place is acquired and has a reset driver.
    pub fn has_reset(&self) -> bool {
        self.lock().as_ref().is_some_and(|lease| lease.has_reset)
    }

    /// Resets the board by labgrid's driver. Returns `false` if there is none.
    ///
    /// # Errors
    /// Returns the message of the driver.
    pub fn reset(&self) -> io::Result<bool> {
        match self.lock().as_mut().filter(|lease| lease.has_reset) {
            Some(lease) => lease.reset().map(|()| true),
            None => Ok(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Lease>> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that is acquired or waited for; released on drop.
struct Lease {
    process: Child,
    /// The process releases the place when its standard input is closed, for whatever reason.
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    state: LeaseState,
    address: String,
    has_reset: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LeaseState {
    Starting,
    /// Another user has the place.
    Busy,
    Acquired,
}

impl Lease {
    fn start(name: &str) -> io::Result<Self> {
        let mut process = Command::new(python())
            .args(["-c", LEASE_SCRIPT, name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("can't run Python: {error}")))?;
        let (sender, lines) = channel();
        let stdout = process.stdout.take();
        std::thread::spawn(move || {
            let lines = stdout.map(|stdout| BufReader::new(stdout).lines());
            lines.into_iter().flatten().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        let stdin = process.stdin.take();
        let (state, address) = (LeaseState::Starting, String::new());
        Ok(Self { process, stdin, lines, state, address, has_reset: false })
    }

    /// Acquires the place. From the second call on, it is reserved while another user has it.
    fn acquire(&mut self) -> io::Result<()> {
        match self.state {
            LeaseState::Acquired => return Ok(()),
            LeaseState::Busy => self.send("retry")?,
            LeaseState::Starting => {}
        }
        self.wait_for_line("ready")?;
        self.state = LeaseState::Acquired;
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.send("reset")?;
        self.wait_for_line("done")
    }

    fn send(&mut self, line: &str) -> io::Result<()> {
        self.stdin.as_mut().map_or(Ok(()), |stdin| writeln!(stdin, "{line}"))
    }

    /// Reads lines of the process until `expected`.
    fn wait_for_line(&mut self, expected: &str) -> io::Result<()> {
        let deadline = Instant::now() + ACQUIRE_TIMEOUT;
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(remaining).map_err(no_line_error)?;
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("port", address) => address.clone_into(&mut self.address),
                ("reset", keyword) => self.has_reset = keyword == "yes",
                ("busy", text) => {
                    self.state = LeaseState::Busy;
                    let problem = format!("labgrid: {text}");
                    return Err(io::Error::new(io::ErrorKind::ResourceBusy, problem));
                }
                ("error", text) => return Err(io::Error::other(format!("labgrid: {text}"))),
                (keyword, _) if keyword == expected => return Ok(()),
                _ => {}
            }
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.stdin = None;
        let deadline = Instant::now() + RELEASE_TIMEOUT;
        while matches!(self.process.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                // No reply from labgrid; the place stays acquired for this user.
                let _ = self.process.kill().and_then(|()| self.process.wait().map(drop));
                return;
            }
            rcflash_transport::time::sleep(RELEASE_POLL_INTERVAL);
        }
    }
}

fn no_line_error(error: RecvTimeoutError) -> io::Error {
    let problem = match error {
        RecvTimeoutError::Timeout => "no reply from labgrid",
        RecvTimeoutError::Disconnected => {
            "labgrid's Python interface can't be used; is it installed, and labgrid-client in PATH?"
        }
    };
    io::Error::other(problem)
}

/// Returns the Python that labgrid is installed for: `labgrid-client`'s, or `python3`.
fn python() -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let client = std::env::split_paths(&folders).map(|folder| folder.join("labgrid-client"));
    let found = client.into_iter().find(|path| path.is_file()).and_then(|path| {
        let text = std::fs::read(&path).ok()?;
        let first = String::from_utf8_lossy(text.split(|byte| *byte == b'\n').next()?).into_owned();
        let program = first.strip_prefix("#!")?.trim().to_owned();
        let interpreter = PathBuf::from(program);
        let sibling = path.canonicalize().ok()?.with_file_name("python3");
        let is_python = interpreter.file_name()?.to_string_lossy().starts_with("python");
        [interpreter].into_iter().filter(|_| is_python).chain([sibling]).find(|path| path.is_file())
    });
    found.unwrap_or_else(|| PathBuf::from("python3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_port_with_the_scheme_is_a_place_and_parsing_acquires_nothing() {
        let place = LabgridPlace::from_port_name("labgrid://bench").expect("a place");
        assert_eq!((place.name.as_str(), place.has_reset()), ("bench", false));
        assert!(!place.reset().expect("nothing is reset"));
        assert_eq!(Some(&place), LabgridPlace::from_port_name("labgrid://bench").as_ref());
        assert_ne!(Some(place), LabgridPlace::from_port_name("labgrid://attic"));
        for other in ["/dev/ttyUSB0", "bench", "rfc2217://labgrid:1", "Labgrid://bench"] {
            assert_eq!(LabgridPlace::from_port_name(other), None);
        }
    }

    #[test]
    fn a_place_without_a_name_or_like_an_option_is_refused() {
        for name in ["labgrid://", "labgrid://--help"] {
            let place = LabgridPlace::from_port_name(name).expect("it has the scheme");
            assert_eq!(place.address().expect_err(name).kind(), io::ErrorKind::InvalidInput);
        }
    }
}
