//! The rig file: a user's own names for boards, with the port, the profile and what is special
//! about the wiring.

mod exit;
mod labgrid;
mod method;
pub mod reset;

use cli_support::files::read_within;
use cli_support::text::Show;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use rcflash_transport::Transport;
use rcflash_transport::port::{self, OpenError, PortInfo};

pub use labgrid::Place;
pub use method::{ActiveLevel, Reset, ResetBy};

use method::PULSE_MS;

/// The rig file in a user's folder for settings.
const FILE: &str = "rcflash/rig.toml";
/// The environment variable that names another.
const VARIABLE: &str = "RCFLASH_RIG";
/// The profile of boards of which nothing else is said.
pub const DEFAULT_BOARD: &str = "rc2014-classic";

/// The rig file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    boards: BTreeMap<String, Entry>,
}

/// A board as the file describes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    port: Option<String>,
    usb_serial: Option<String>,
    board: Option<String>,
    baud: Option<u32>,
    #[serde(default)]
    flow: Flow,
    #[serde(default)]
    reset: ResetBy,
    reset_command: Option<String>,
    #[serde(default)]
    reset_line: ActiveLevel,
    reset_pulse_ms: Option<u64>,
    #[serde(default)]
    character_ms: u64,
    #[serde(default)]
    line_ms: u64,
    #[serde(default)]
    tags: Vec<String>,
}

/// The longest pulse, and the longest rest after a character or a line: waits that end.
const MOST_PULSE_MS: u64 = 60_000;
const MOST_REST_MS: u64 = 10_000;

/// Whether the board can stop the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flow {
    /// By RTS, which goes to the host's CTS.
    #[default]
    RtsCts,
    /// Not at all, or the adapter's CTS is not connected.
    None,
}

/// Rests in text that a person's monitor takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pacing {
    /// After each character.
    pub character: Duration,
    /// After each line end besides.
    pub line: Duration,
}

/// A board at the end of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rig {
    /// Its name in the rig file.
    pub name: Option<String>,
    /// The device.
    pub port: String,
    /// The serial number of the adapter that is to be found again, if it was named by that.
    pub serial: Option<String>,
    /// The name of its profile.
    pub board: String,
    /// The line's speed, if not the profile's.
    pub baud: Option<u32>,
    /// Whether the board can stop the host.
    pub flow: Flow,
    /// The method of reset.
    pub reset: Reset,
    /// The speed at which text is sent.
    pub pacing: Pacing,
}

/// Error returned for a rig file.
#[derive(Debug, thiserror::Error)]
pub enum RigFileError {
    /// The file can't be read.
    #[error("can't read {}: {}", .0.shown(), .1)]
    Unreadable(PathBuf, io::Error),
    /// The file is not understood; the text says where.
    #[error("{}: {}", .0.shown(), .1.trim_end())]
    Syntax(PathBuf, String),
    /// A board's entry contradicts itself or lacks something.
    #[error("{}: boards.{name}: {problem}", file.shown())]
    Entry {
        /// The file.
        file: PathBuf,
        /// The board.
        name: String,
        /// The fault.
        problem: &'static str,
    },
    /// No board has this name.
    #[error("there is no board '{name}' in {}: {known}; a device has a / in its \
    name", file.shown())]
    Unknown {
        /// The name.
        name: String,
        /// The file.
        file: PathBuf,
        /// Those that are there.
        known: String,
    },
    /// No board has this tag.
    #[error(
        "no board in {} has the tag '{tag}'; tags = [\"{tag}\"] in an entry gives it to a board",
        file.shown()
    )]
    NoneTagged {
        /// The tag.
        tag: String,
        /// The file.
        file: PathBuf,
    },
    /// The adapter of this board is not plugged in.
    #[error("no adapter with the serial number {serial} is plugged in, which '{name}' is to have")]
    NotPlugged {
        /// The board.
        name: String,
        /// The adapter's number.
        serial: String,
    },
    /// The system would not tell which ports there are.
    #[error("can't list the serial ports: {0}")]
    Ports(io::Error),
}

/// A rig file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RigFile {
    path: PathBuf,
    file: File,
}

/// Most bytes of a rig file.
const MOST: u64 = 1 << 20;

fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_within(std::fs::File::open(path)?, MOST)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

impl RigFile {
    /// Returns the path of the user's own, in the folder for settings: `$XDG_CONFIG_HOME`, or
    /// `.config` at home; `%APPDATA%` on Windows.
    #[must_use]
    pub fn usual() -> PathBuf {
        host_platform::files::settings_folder().join(FILE)
    }

    /// Reads the file, or else the one that the variable `RCFLASH_RIG` names, or else the usual
    /// one, which need not be there.
    ///
    /// # Errors
    /// It can't be read or understood.
    pub fn read(path: Option<&Path>) -> Result<Self, RigFileError> {
        let set = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
        let named = path.map(Path::to_owned).or(set);
        let usual = named.is_none();
        let path = named.unwrap_or_else(Self::usual);
        match read_text(&path) {
            Ok(text) => Self::parse(path, &text),
            Err(error) if usual && error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { path, file: File::default() })
            }
            Err(error) => Err(RigFileError::Unreadable(path, error)),
        }
    }

    fn parse(path: PathBuf, text: &str) -> Result<Self, RigFileError> {
        match toml::from_str(text) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(RigFileError::Syntax(path, error.to_string())),
        }
    }

    /// The names of its boards that are at this port.
    #[must_use]
    pub fn names_of(&self, port: &PortInfo) -> Vec<&str> {
        let is_same = |given: &String| {
            let real = |path: &str| Path::new(path).canonicalize().ok();
            given == &port.path || real(given).is_some_and(|given| Some(given) == real(&port.path))
        };
        let is_there = |entry: &Entry| {
            let by_serial = entry.usb_serial.is_some() && entry.usb_serial == port.serial;
            by_serial || entry.port.as_ref().is_some_and(is_same)
        };
        let boards = self.file.boards.iter().filter(|(_, entry)| is_there(entry));
        boards.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the target that `--port` names: a device or an address if it looks like one, as with
    /// a `/` in it, else a board of the file.
    ///
    /// # Errors
    /// There is no such board, or its adapter is not there.
    pub fn find(&self, name: &str) -> Result<Rig, RigFileError> {
        if host_platform::serial::is_device_name(name) {
            return Ok(Rig::at(name));
        }
        let entry = self.file.boards.get(name).ok_or_else(|| self.unknown(name))?;
        let wrong = |problem| {
            let file = self.path.clone();
            let name = name.to_owned();
            RigFileError::Entry { file, name, problem }
        };
        entry.check().map_err(wrong)?;
        let port = match (&entry.port, &entry.usb_serial) {
            (Some(port), _) => port.clone(),
            (None, serial) => plugged_in(name, serial.as_deref().unwrap_or_default())?,
        };
        Ok(entry.rig(name, port))
    }

    /// Returns the names of the boards with a tag.
    ///
    /// # Errors
    /// There is none.
    pub fn tagged(&self, tag: &str) -> Result<Vec<String>, RigFileError> {
        let is_meant = |entry: &Entry| entry.tags.iter().any(|one| one == tag);
        let boards = self.file.boards.iter().filter(|(_, entry)| is_meant(entry));
        let names: Vec<_> = boards.map(|(name, _)| name.clone()).collect();
        if names.is_empty() {
            let (tag, file) = (tag.to_owned(), self.path.clone());
            return Err(RigFileError::NoneTagged { tag, file });
        }
        Ok(names)
    }

    fn unknown(&self, name: &str) -> RigFileError {
        let names: Vec<_> = self.file.boards.keys().map(String::as_str).collect();
        let known = match names.as_slice() {
            [] => "there are none".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        RigFileError::Unknown { name: name.to_owned(), file: self.path.clone(), known }
    }
}

impl Entry {
    fn check(&self) -> Result<(), &'static str> {
        match (&self.port, &self.usb_serial) {
            (None, None) => return Err("say where it is, by port or usb_serial"),
            (Some(_), Some(_)) => return Err("port and usb_serial are two answers; give one"),
            _ => {}
        }
        match (self.reset, &self.reset_command) {
            (ResetBy::Command, None) => Err("reset = \"command\" needs reset_command"),
            (by, Some(_)) if by != ResetBy::Command => {
                Err("reset_command is for reset = \"command\"")
            }
            (ResetBy::Rts, _) if self.flow == Flow::RtsCts => {
                Err("reset = \"rts\" takes the wire of the flow control: set flow = \"none\"")
            }
            _ if self.baud == Some(0) => Err("baud is at least 1"),
            _ if self.reset_pulse_ms.is_some_and(|pulse| pulse > MOST_PULSE_MS) => {
                Err("reset_pulse_ms is 60000 at the most")
            }
            _ if self.character_ms.max(self.line_ms) > MOST_REST_MS => {
                Err("character_ms and line_ms are 10000 at the most")
            }
            _ => Ok(()),
        }
    }

    fn rig(&self, name: &str, port: String) -> Rig {
        let ms = Duration::from_millis;
        Rig {
            name: Some(name.to_owned()),
            serial: self.usb_serial.clone(),
            board: self.board.clone().unwrap_or_else(|| DEFAULT_BOARD.to_owned()),
            baud: self.baud,
            flow: self.flow,
            reset: Reset {
                place: Place::named(&port),
                by: self.reset,
                command: self.reset_command.clone(),
                level: self.reset_line,
                pulse: ms(self.reset_pulse_ms.unwrap_or(PULSE_MS)),
            },
            pacing: Pacing { character: ms(self.character_ms), line: ms(self.line_ms) },
            port,
        }
    }
}

impl Rig {
    /// A board of which only the device is known.
    #[must_use]
    pub fn at(port: &str) -> Self {
        Self {
            name: None,
            port: port.to_owned(),
            serial: None,
            board: DEFAULT_BOARD.to_owned(),
            baud: None,
            flow: Flow::default(),
            reset: Reset { place: Place::named(port), ..Reset::default() },
            pacing: Pacing::default(),
        }
    }
}

impl Rig {
    /// Opens the port, at `baud` if the rig has no speed of its own, and sets its wires as the rig
    /// has them.
    ///
    /// # Errors
    /// Why not, with what to try.
    pub fn open(&self, baud: u32) -> Result<Box<dyn Transport + Send>, OpenError> {
        // An adapter that was unplugged meanwhile may have got another name.
        let found = self.serial.as_deref().and_then(|serial| adapter(serial).ok().flatten());
        let exported = self.reset.place.as_ref().map(Place::address).transpose();
        let exported = exported.map_err(|error| OpenError::Other(self.port.clone(), error))?;
        let device = exported.as_ref().or(found.as_ref()).unwrap_or(&self.port);
        let mut port = rcflash_transport::network::open(device, self.baud.unwrap_or(baud))?;
        let set = port
            .obey_rts(self.flow == Flow::RtsCts)
            .and_then(|_| reset::release(&self.reset, &mut *port))
            .and_then(|()| self.keeps_running(&mut *port));
        set.map_err(|error| OpenError::Other(self.port.clone(), error))?;
        Ok(port)
    }

    /// A board whose reset hangs on DTR or RTS goes on when the port is closed.
    fn keeps_running(&self, port: &mut dyn Transport) -> io::Result<()> {
        match self.reset.by {
            ResetBy::Dtr | ResetBy::Rts => port.keep_lines_at_close(),
            ResetBy::Ask | ResetBy::None | ResetBy::Break | ResetBy::Command => Ok(()),
        }
    }
}

/// The device of the adapter with this serial number.
fn plugged_in(name: &str, serial: &str) -> Result<String, RigFileError> {
    adapter(serial).map_err(RigFileError::Ports)?.ok_or_else(|| RigFileError::NotPlugged {
        name: name.to_owned(),
        serial: serial.to_owned(),
    })
}

/// The device of the adapter with this serial number, if it is plugged in.
fn adapter(serial: &str) -> io::Result<Option<String>> {
    let found = port::list()?.into_iter().find(|port| port.serial.as_deref() == Some(serial));
    Ok(found.map(|port| port.path))
}

#[cfg(test)]
mod tests;
