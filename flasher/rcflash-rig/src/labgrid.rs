//! Boards that are places of labgrid: acquired when the port is first opened, given back with the
//! last copy of the rig, also when this program is killed.

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rcflash_transport::time::{Duration, Instant};

/// The beginning of the name of a port that is a place.
const SCHEME: &str = "labgrid://";
/// The program that holds a place: it uses labgrid's own Python interface.
const HOLDER: &str = include_str!("labgrid.py");
/// The time until a place is held, or a board was reset.
const PATIENCE: Duration = Duration::from_secs(90);
/// The time for giving a place back.
const RELEASE: Duration = Duration::from_secs(30);
/// The time between two looks at whether it was.
const LOOK: Duration = Duration::from_millis(20);

/// A place of labgrid. Copies are the same place.
#[derive(Clone)]
pub struct Place {
    name: String,
    held: Arc<Mutex<Option<Held>>>,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.name).finish()
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Place {}

impl Place {
    /// Returns the place that a port names; `None` if it is no place. Nothing is acquired yet.
    #[must_use]
    pub fn named(port: &str) -> Option<Self> {
        let name = port.strip_prefix(SCHEME)?.to_owned();
        Some(Self { name, held: Arc::default() })
    }

    /// Returns the address of the place's serial port, by which labgrid exports it. Acquires the
    /// place first, unless it is.
    ///
    /// # Errors
    /// The words of labgrid: the place is not known, or somebody else has it.
    pub fn address(&self) -> io::Result<String> {
        let mut held = self.lock();
        if held.is_none() {
            if self.name.is_empty() || self.name.starts_with('-') {
                let why = "it names no place, as in labgrid://bench";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
            }
            *held = Some(Held::acquire(&self.name)?);
        }
        Ok(held.as_ref().map(|held| held.address.clone()).unwrap_or_default())
    }

    /// Whether a driver of labgrid resets the board; `false` while the place is not held.
    #[must_use]
    pub fn has_reset(&self) -> bool {
        self.lock().as_ref().is_some_and(|held| held.has_reset)
    }

    /// Resets the board by labgrid's driver; `false` if there is none.
    ///
    /// # Errors
    /// The words of the driver.
    pub fn reset(&self) -> io::Result<bool> {
        match self.lock().as_mut().filter(|held| held.has_reset) {
            Some(held) => held.reset().map(|()| true),
            None => Ok(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that is acquired. Dropping it gives the place back.
struct Held {
    holder: Child,
    /// The holder gives the place back when this ends, whatever ends it.
    orders: Option<ChildStdin>,
    lines: Receiver<String>,
    address: String,
    has_reset: bool,
}

impl Held {
    fn acquire(name: &str) -> io::Result<Self> {
        let mut holder = Command::new(python())
            .args(["-c", HOLDER, name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("no Python: {error}")))?;
        let (send, lines) = channel();
        let out = holder.stdout.take();
        std::thread::spawn(move || {
            let said = out.map(|out| BufReader::new(out).lines());
            said.into_iter().flatten().map_while(Result::ok).all(|line| send.send(line).is_ok())
        });
        let orders = holder.stdin.take();
        let mut held = Self { holder, orders, lines, address: String::new(), has_reset: false };
        held.wait_for("ready")?;
        Ok(held)
    }

    fn reset(&mut self) -> io::Result<()> {
        let Some(orders) = &mut self.orders else { return Ok(()) };
        orders.write_all(b"reset\n")?;
        orders.flush()?;
        self.wait_for("done")
    }

    /// Takes the holder's words in until it says this one.
    fn wait_for(&mut self, wanted: &str) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).map_err(no_word)?;
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("port", address) => address.clone_into(&mut self.address),
                ("reset", word) => self.has_reset = word == "yes",
                ("error", text) => return Err(io::Error::other(format!("labgrid: {text}"))),
                (word, _) if word == wanted => return Ok(()),
                _ => {}
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.orders = None;
        let deadline = Instant::now() + RELEASE;
        while matches!(self.holder.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                // labgrid does not answer; the coordinator keeps the place for this user.
                let _ = self.holder.kill().and_then(|()| self.holder.wait().map(drop));
                return;
            }
            rcflash_transport::time::sleep(LOOK);
        }
    }
}

fn no_word(error: RecvTimeoutError) -> io::Error {
    let what = match error {
        RecvTimeoutError::Timeout => "labgrid does not answer",
        RecvTimeoutError::Disconnected => {
            "labgrid's Python interface can't be used; is it installed, and labgrid-client in PATH?"
        }
    };
    io::Error::other(what)
}

/// Returns the Python that labgrid is installed for: that of `labgrid-client`, else `python3`.
fn python() -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let client = std::env::split_paths(&folders).map(|folder| folder.join("labgrid-client"));
    let found = client.into_iter().find(|path| path.is_file()).and_then(|path| {
        let text = std::fs::read(&path).ok()?;
        let first = String::from_utf8_lossy(text.split(|byte| *byte == b'\n').next()?).into_owned();
        let program = first.strip_prefix("#!")?.trim().to_owned();
        let named = PathBuf::from(program);
        let beside = path.canonicalize().ok()?.with_file_name("python3");
        let is_python = named.file_name()?.to_string_lossy().starts_with("python");
        [named].into_iter().filter(|_| is_python).chain([beside]).find(|path| path.is_file())
    });
    found.unwrap_or_else(|| PathBuf::from("python3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_port_with_the_scheme_is_a_place_and_nothing_is_acquired_by_naming_it() {
        let place = Place::named("labgrid://bench").expect("a place");
        assert_eq!((place.name.as_str(), place.has_reset()), ("bench", false));
        assert!(!place.reset().expect("nothing is reset"));
        assert_eq!(Some(&place), Place::named("labgrid://bench").as_ref());
        assert_ne!(Some(place), Place::named("labgrid://attic"));
        for other in ["/dev/ttyUSB0", "bench", "rfc2217://labgrid:1", "Labgrid://bench"] {
            assert_eq!(Place::named(other), None);
        }
    }

    #[test]
    fn a_place_without_a_name_or_that_is_an_option_is_refused() {
        for name in ["labgrid://", "labgrid://--help"] {
            let place = Place::named(name).expect("it has the scheme");
            assert_eq!(place.address().expect_err(name).kind(), io::ErrorKind::InvalidInput);
        }
    }
}
