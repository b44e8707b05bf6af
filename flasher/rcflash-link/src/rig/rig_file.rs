//! The rig file: a user's names for boards.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cli_support::files::{read_limited, write_atomic};
use cli_support::text::Escape;
use rcflash_transport::port::PortInfo;
use serde::{Deserialize, Serialize};

use super::labgrid::LabgridPlace;
use super::method::{ActiveLevel, PULSE_MS, ResetConfig, ResetMethod};
use super::settings::{DEFAULT_BOARD, FlowControl, Pacing, Rig, port_of_adapter};

/// The path of the rig file in the configuration folder.
const FILE_NAME: &str = "rcflash/rig.toml";
/// The environment variable with another path.
const ENV_VARIABLE: &str = "RCFLASH_RIG";
/// Limits of the pulse and of the delay after a character or line.
const MAX_PULSE_MS: u64 = 60_000;
const MAX_DELAY_MS: u64 = 10_000;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    boards: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    port: Option<String>,
    usb_serial: Option<String>,
    board: Option<String>,
    baud: Option<u32>,
    #[serde(default)]
    flow: FlowControl,
    #[serde(default)]
    reset: ResetMethod,
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

/// Error returned for a rig file.
#[derive(Debug, thiserror::Error)]
pub enum RigFileError {
    /// The file can't be read.
    #[error("can't read {}: {}", .0.escaped(), .1)]
    Unreadable(PathBuf, io::Error),
    /// The file can't be written.
    #[error("can't write {}: {}", .0.escaped(), .1)]
    Unwritable(PathBuf, io::Error),
    /// The file is not valid; the text has the line.
    #[error("{}: {}", .0.escaped(), .1.trim_end())]
    Syntax(PathBuf, String),
    /// A board's entry is contradictory or incomplete.
    #[error("{}: boards.{name}: {problem}", file.escaped())]
    Entry {
        /// The rig file.
        file: PathBuf,
        /// The board.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// No board has this name.
    #[error(
        "unknown board '{name}' in {}; known boards: {known}; the path of a device contains a /",
        file.escaped()
    )]
    UnknownBoard {
        /// The name.
        name: String,
        /// The rig file.
        file: PathBuf,
        /// The boards of the file.
        known: String,
    },
    /// No board has this tag.
    #[error(
        "no board in {} has the tag '{tag}'; add tags = [\"{tag}\"] to a board's entry",
        file.escaped()
    )]
    NoBoardTagged {
        /// The tag.
        tag: String,
        /// The rig file.
        file: PathBuf,
    },
    /// The adapter of this board is not connected.
    #[error("board '{name}': no adapter with the serial number {serial} is connected")]
    NotConnected {
        /// The board.
        name: String,
        /// The serial number of the adapter.
        serial: String,
    },
    /// The serial ports could not be listed.
    #[error("can't list the serial ports: {0}")]
    PortList(io::Error),
}

/// A board for [`RigFile::add`].
#[derive(Debug, Clone, Copy)]
pub struct NewBoard<'a> {
    /// Its device or address.
    pub port: &'a str,
    /// The profile.
    pub board: &'a str,
    /// The speed, if it is not the profile's.
    pub baud: Option<u32>,
    /// Whether it stops the host.
    pub flow: FlowControl,
    /// What resets it; of a line also the state that does.
    pub reset: (ResetMethod, ActiveLevel),
}

impl NewBoard<'_> {
    fn entry(&self, name: &str) -> String {
        let (name, port, board) = (word(&name), word(&self.port), word(&self.board));
        let mut text = format!("\n[boards.{name}]\nport = {port}\nboard = {board}\n");
        if let Some(baud) = self.baud {
            text += &format!("baud = {baud}\n");
        }
        if self.flow == FlowControl::None {
            text += "flow = \"none\"\n";
        }
        text + &self.reset_keys()
    }

    /// Returns the keys of the reset as lines.
    pub fn reset_keys(&self) -> String {
        let (method, level) = self.reset;
        let mut text = String::new();
        if method != ResetMethod::default() {
            text += &format!("reset = {}\n", word(&method));
        }
        if level != ActiveLevel::default() {
            text += &format!("reset_line = {}\n", word(&level));
        }
        text
    }
}

/// Returns a string as TOML.
fn word(text: &impl Serialize) -> String {
    toml::Value::try_from(text).map(|value| value.to_string()).unwrap_or_default()
}

/// A parsed rig file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RigFile {
    path: PathBuf,
    file: File,
}

const MAX_FILE_BYTES: u64 = 1 << 20;

fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_limited(std::fs::File::open(path)?, MAX_FILE_BYTES)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

impl RigFile {
    /// Returns the default path, in the user's configuration folder: `$XDG_CONFIG_HOME`, or
    /// `.config` in the home folder; `%APPDATA%` on Windows.
    pub fn default_path() -> PathBuf {
        rcflash_transport::platform::files::config_dir().join(FILE_NAME)
    }

    /// Reads `path`; without it the file named by `RCFLASH_RIG`, or the default file, which may be
    /// missing.
    ///
    /// # Errors
    /// Returns [`RigFileError`] if the file can't be read or is not valid.
    pub fn read(path: Option<&Path>) -> Result<Self, RigFileError> {
        let from_env =
            std::env::var_os(ENV_VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
        let explicit = path.map(Path::to_owned).or(from_env);
        let is_default = explicit.is_none();
        let path = explicit.unwrap_or_else(Self::default_path);
        match read_text(&path) {
            Ok(text) => Self::parse(path, &text),
            Err(error) if is_default && error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { path, file: File::default() })
            }
            Err(error) => Err(RigFileError::Unreadable(path, error)),
        }
    }

    /// As [`RigFile::read`], but a file that is missing is empty.
    ///
    /// # Errors
    /// Returns [`RigFileError`] if the file can't be read or is not valid.
    pub fn read_or_new(path: Option<&Path>) -> Result<Self, RigFileError> {
        match Self::read(path) {
            Err(RigFileError::Unreadable(path, error))
                if error.kind() == io::ErrorKind::NotFound =>
            {
                Ok(Self { path, file: File::default() })
            }
            read => read,
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a name that no board of the file has: `stem`, `stem-2` and so on.
    pub fn free_name(&self, stem: &str) -> String {
        let names = (2_u64..).map(|number| format!("{stem}-{number}"));
        let mut names = std::iter::once(stem.to_owned()).chain(names);
        names.find(|name| !self.file.boards.contains_key(name)).unwrap_or_default()
    }

    /// Checks that a board can be added by this name.
    ///
    /// # Errors
    /// Returns [`RigFileError`] if a board of the file has it, or `--port` would not find it.
    pub fn check_free(&self, name: &str) -> Result<(), RigFileError> {
        let problem = if self.file.boards.contains_key(name) {
            "the name is taken; pass --name with another"
        } else if name.is_empty() || rcflash_transport::platform::serial::is_device_name(name) {
            "no name for a board: it would be taken for a device; pass --name with a word"
        } else {
            return Ok(());
        };
        let (file, name) =
            (self.path.clone(), cli_support::text::escape_controls(name).to_string());
        Err(RigFileError::Entry { file, name, problem })
    }

    /// Appends a board to the file on the disk, which keeps its text and comments.
    ///
    /// # Errors
    /// Returns [`RigFileError`] if there is a board of this name, or the file can't be written.
    pub fn add(&self, name: &str, board: &NewBoard<'_>) -> Result<(), RigFileError> {
        self.check_free(name)?;
        let unwritable = |error| RigFileError::Unwritable(self.path.clone(), error);
        let mut text = match read_text(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text.map_err(unwritable)?,
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text += &board.entry(name);
        Self::parse(self.path.clone(), &text)?;
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(unwritable)?;
        }
        write_atomic(&self.path, text.as_bytes()).map_err(unwritable)
    }

    fn parse(path: PathBuf, text: &str) -> Result<Self, RigFileError> {
        match toml::from_str(text) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(RigFileError::Syntax(path, error.to_string())),
        }
    }

    /// Returns the names of the boards at a port.
    pub fn boards_on(&self, port: &PortInfo) -> Vec<&str> {
        let is_same = |configured: &String| {
            let real = |path: &str| Path::new(path).canonicalize().ok();
            configured == &port.path
                || real(configured).is_some_and(|configured| Some(configured) == real(&port.path))
        };
        let is_at_port = |entry: &Entry| {
            let by_serial = entry.usb_serial.is_some() && entry.usb_serial == port.serial;
            by_serial || entry.port.as_ref().is_some_and(is_same)
        };
        let boards = self.file.boards.iter().filter(|(_, entry)| is_at_port(entry));
        boards.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the board that `--port` names: a device or address if it looks like one, for example
    /// with a `/`, or a board of this file.
    ///
    /// # Errors
    /// Returns [`RigFileError`] if there is no such board, its entry is contradictory, or its
    /// adapter is not connected.
    pub fn resolve(&self, name: &str) -> Result<Rig, RigFileError> {
        if rcflash_transport::platform::serial::is_device_name(name) {
            return Ok(Rig::from_port(name));
        }
        let entry = self.file.boards.get(name).ok_or_else(|| self.unknown_board_error(name))?;
        let entry_error = |problem| {
            let file = self.path.clone();
            let name = name.to_owned();
            RigFileError::Entry { file, name, problem }
        };
        entry.validate().map_err(entry_error)?;
        let port = match (&entry.port, &entry.usb_serial) {
            (Some(port), _) => port.clone(),
            (None, serial) => require_adapter(name, serial.as_deref().unwrap_or_default())?,
        };
        Ok(entry.to_rig(name, port))
    }

    /// Returns the names of the boards with a tag.
    ///
    /// # Errors
    /// Returns [`RigFileError::NoBoardTagged`] if there is none.
    pub fn boards_tagged(&self, tag: &str) -> Result<Vec<String>, RigFileError> {
        let has_tag = |entry: &Entry| entry.tags.iter().any(|one| one == tag);
        let boards = self.file.boards.iter().filter(|(_, entry)| has_tag(entry));
        let names: Vec<_> = boards.map(|(name, _)| name.clone()).collect();
        if names.is_empty() {
            let (tag, file) = (tag.to_owned(), self.path.clone());
            return Err(RigFileError::NoBoardTagged { tag, file });
        }
        Ok(names)
    }

    fn unknown_board_error(&self, name: &str) -> RigFileError {
        let names: Vec<_> = self.file.boards.keys().map(String::as_str).collect();
        let known = match names.as_slice() {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        RigFileError::UnknownBoard { name: name.to_owned(), file: self.path.clone(), known }
    }
}

impl Entry {
    fn validate(&self) -> Result<(), &'static str> {
        match (&self.port, &self.usb_serial) {
            (None, None) => return Err("expected port or usb_serial"),
            (Some(_), Some(_)) => return Err("port and usb_serial exclude each other"),
            _ => {}
        }
        match (self.reset, &self.reset_command) {
            (ResetMethod::Command, None) => Err("reset = \"command\" needs reset_command"),
            (method, Some(_)) if method != ResetMethod::Command => {
                Err("reset_command needs reset = \"command\"")
            }
            (ResetMethod::Rts, _) if self.flow == FlowControl::RtsCts => {
                Err("reset = \"rts\" uses the flow control wire: set flow = \"none\"")
            }
            _ if self.baud == Some(0) => Err("invalid baud: expected at least 1"),
            _ if self.reset_pulse_ms.is_some_and(|pulse| pulse > MAX_PULSE_MS) => {
                Err("invalid reset_pulse_ms: expected at most 60000")
            }
            _ if self.character_ms.max(self.line_ms) > MAX_DELAY_MS => {
                Err("invalid character_ms or line_ms: expected at most 10000")
            }
            _ => Ok(()),
        }
    }

    fn to_rig(&self, name: &str, port: String) -> Rig {
        let ms = Duration::from_millis;
        Rig {
            name: Some(name.to_owned()),
            serial: self.usb_serial.clone(),
            board: self.board.clone().unwrap_or_else(|| DEFAULT_BOARD.to_owned()),
            baud: self.baud,
            flow: self.flow,
            reset: ResetConfig {
                labgrid: LabgridPlace::from_port_name(&port),
                method: self.reset,
                command: self.reset_command.clone(),
                active_level: self.reset_line,
                pulse: ms(self.reset_pulse_ms.unwrap_or(PULSE_MS)),
            },
            pacing: Pacing { char_delay: ms(self.character_ms), line_delay: ms(self.line_ms) },
            port,
        }
    }
}

fn require_adapter(name: &str, serial: &str) -> Result<String, RigFileError> {
    port_of_adapter(serial).map_err(RigFileError::PortList)?.ok_or_else(|| {
        RigFileError::NotConnected { name: name.to_owned(), serial: serial.to_owned() }
    })
}

#[cfg(test)]
mod tests;
