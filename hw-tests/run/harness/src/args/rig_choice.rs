//! Values of `--rig`.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use board_simulator::Pace;
use cli_support::exit::CommandError;
use cli_support::text::Escape;
use rcflash_link::rig::{DEFAULT_BOARD, RigFile, RigFileError};

use crate::board::BoardKind;

/// The values of `--rig` that name no board of the rig file, for error messages.
const WORDS: &str = "direct, simulated, real-time, mame, mame:MACHINE and replay:FILE";
/// The prefix of a transcript's path.
pub(super) const REPLAY: &str = "replay:";

/// A board that `--rig` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RigChoice {
    /// A simulated board in this process, in simulated time.
    Direct,
    /// A simulated board on a pseudo-terminal, as fast as possible.
    Simulated,
    /// A simulated board on a pseudo-terminal, at the speed of the real one.
    RealTime,
    /// A board emulated by MAME, with MAME's name for it.
    Mame(Option<String>),
    /// The replay of a transcript.
    Replay(PathBuf),
    /// A real board: its name in the rig file, its serial device, or its address.
    Real(String),
}

impl FromStr for RigChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "direct" => Self::Direct,
            "simulated" => Self::Simulated,
            "real-time" => Self::RealTime,
            "mame" => Self::Mame(None),
            _ => match (text.strip_prefix("mame:"), text.strip_prefix(REPLAY)) {
                (Some(machine), _) if !machine.is_empty() => Self::Mame(Some(machine.to_owned())),
                (_, Some(file)) if !file.is_empty() => Self::Replay(file.into()),
                _ => Self::Real(text.to_owned()),
            },
        })
    }
}

impl fmt::Display for RigChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Direct => f.write_str("direct"),
            Self::Simulated => f.write_str("simulated"),
            Self::RealTime => f.write_str("real-time"),
            Self::Mame(None) => f.write_str("mame"),
            Self::Mame(Some(machine)) => write!(f, "mame:{machine}"),
            Self::Replay(file) => write!(f, "{REPLAY}{}", file.display()),
            Self::Real(name) => f.write_str(name),
        }
    }
}

impl RigChoice {
    /// Returns `true` if the board is simulated by this program.
    pub(super) fn is_simulated(&self) -> bool {
        matches!(self, Self::Direct | Self::Simulated | Self::RealTime)
    }

    /// Returns the board, and the name of its profile.
    ///
    /// # Errors
    /// Returns an error of usage if the rig file has no such board, and one of the environment if
    /// it can't be read.
    pub fn board(
        &self,
        rig_file: impl FnOnce() -> Result<RigFile, RigFileError>,
    ) -> Result<(BoardKind, String), CommandError> {
        let kind = match self {
            Self::Direct => BoardKind::InProcess,
            Self::Simulated => BoardKind::Simulated(Pace::Free),
            Self::RealTime => BoardKind::Simulated(Pace::RealTime),
            Self::Mame(machine) => BoardKind::Mame(machine.clone()),
            Self::Replay(file) => BoardKind::Replay(file.clone()),
            Self::Real(name) => {
                let rig = rig_file().and_then(|file| file.resolve(name)).map_err(with_words)?;
                let profile = rig.board.clone();
                return Ok((BoardKind::Serial(rig), profile));
            }
        };
        Ok((kind, DEFAULT_BOARD.to_owned()))
    }

    /// Returns the name of the board before it is connected.
    pub(super) fn display_name(&self) -> String {
        match self {
            Self::Direct | Self::Simulated | Self::RealTime => "simulated".to_owned(),
            Self::Mame(_) => "MAME".to_owned(),
            Self::Replay(file) => format!("replay of {}", file.escaped()),
            Self::Real(name) => name.escaped().to_string(),
        }
    }
}

/// Adds the other values of `--rig` to the error for an unknown board.
fn with_words(error: RigFileError) -> CommandError {
    let is_unknown = matches!(error, RigFileError::UnknownBoard { .. });
    let mut error = CommandError::from(error);
    if is_unknown {
        error.message += &format!("; --rig also takes {WORDS}");
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_a_board_without_hardware_and_all_else_is_a_name() {
        let words = [
            ("direct", RigChoice::Direct),
            ("simulated", RigChoice::Simulated),
            ("real-time", RigChoice::RealTime),
            ("mame", RigChoice::Mame(None)),
            ("mame:rc2014zedp", RigChoice::Mame(Some("rc2014zedp".to_owned()))),
            (r"replay:C:\line.jsonl", RigChoice::Replay(r"C:\line.jsonl".into())),
        ];
        for (text, choice) in words {
            assert_eq!(text.parse(), Ok(choice.clone()));
            assert_eq!(choice.to_string(), text);
        }
        for name in ["bench", "/dev/ttyUSB0", "tcp://host:3000", "mame:", "replay:", "Direct"] {
            assert_eq!(name.parse(), Ok(RigChoice::Real(name.to_owned())));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_words() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let file = folder.path().join("rig.toml");
        std::fs::write(&file, "").expect("a file");
        let wrong = RigChoice::Real("dirct".to_owned());
        let error = wrong.board(|| RigFile::read(Some(&file))).expect_err("no such board");
        assert!(error.message.contains("unknown board 'dirct'"), "{}", error.message);
        assert!(error.message.ends_with(WORDS), "{}", error.message);
    }
}
