//! Options of a command line that choose a board.

mod rig_choice;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use cli_support::exit::{CommandError, USAGE};
use cli_support::file_roles::{ArgumentRole, FileRole};
use cli_support::files::read_input as read;
use cli_support::text::{Escape, eprint_message};
use cli_support::time::parse_time;
use firmware::ProgramKind;
use firmware::profile::BoardProfile;
use rcflash_link::rig::{RigFile, RigFileError};
use rcflash_monitors::{Via, ViaArgs};

use crate::board::{RecordOptions, read_header};
use crate::live::{BoardConfig, choose_kind};

use rig_choice::REPLAY;
pub use rig_choice::RigChoice;

// Headings of the help.
const BOARD: &str = "Board";
/// The heading of options that choose what is written.
pub const OUTPUT: &str = "Output";
/// The heading of options for the line.
pub const LINE: &str = "Recording and fault injection";

/// Options that choose a board.
///
/// Every command that needs a board has them, so rare ones appear in `--help` only.
#[derive(Debug, Args)]
#[command(next_help_heading = BOARD)]
pub struct BoardArgs {
    /// Board profile; overrides that of the rig file [default: rc2014-classic]
    #[arg(long, value_name = "PROFILE", env = "RCFLASH_BOARD")]
    pub board: Option<String>,
    /// Real board: rig name, serial device or address
    ///
    /// Without this option and --rig the board is simulated. Addresses are tcp://host:port,
    /// rfc2217://host:port and ws://host:port/path (docs/NETWORK.md).
    #[arg(long, value_name = "NAME|DEVICE|ADDRESS", conflicts_with = "rig")]
    port: Option<String>,
    /// Like --port, or direct, simulated, real-time, mame[:MACHINE] or replay:FILE
    ///
    /// `direct` is a board simulated in this process, fast and deterministic; `simulated` one on a
    /// pseudo-terminal, `real-time` the same at the speed of the real one; `mame` one that MAME
    /// emulates; `replay:FILE` a transcript of --record. `run` and `test` accept several and
    /// distribute the cases over them (docs/LAB.md).
    #[arg(long, value_name = "RIG")]
    rig: Vec<RigChoice>,
    /// Rig file [default: RCFLASH_RIG, or rcflash/rig.toml in the user's configuration folder]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    rig_file: Option<PathBuf>,
    /// Store the program in the board's flash and run it from there
    ///
    /// Flash that already contains it is not written again.
    #[arg(long, hide_short_help = true)]
    flash: bool,
    /// ROM image of the simulated board, instead of the built-in monitor
    #[arg(long, value_name = "FILE", conflicts_with = "via", hide_short_help = true)]
    rom: Option<PathBuf>,
    /// Accept a monitor of another build in the ROM
    #[arg(long, conflicts_with = "via", hide_short_help = true)]
    any_monitor: bool,
    #[command(flatten)]
    receiver: ViaArgs,
    /// Wait while somebody else uses the board, a day if no TIME is given, as in --wait=30m
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1d",
        value_parser = parse_time,
        hide_short_help = true
    )]
    wait: Option<Duration>,
    /// How long to wait for a disconnected port before giving up
    #[arg(
        long,
        value_name = "TIME",
        default_value = "60s",
        value_parser = parse_time,
        hide_short_help = true
    )]
    reconnect: Duration,
    /// Record all line traffic to FILE
    #[arg(long, value_name = "FILE", help_heading = LINE, hide_short_help = true)]
    pub record: Option<PathBuf>,
    /// Overwrite existing files of any kind: transcript, results, report
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub force: bool,
}

/// Returns an error if a transcript would replace a file without --force.
///
/// # Errors
/// Returns an error of usage that names the file.
pub fn refuse_recorded(record: Option<&Path>, force: bool) -> Result<(), CommandError> {
    let Some(file) = record.filter(|file| !force && file.is_file()) else { return Ok(()) };
    let file = file.escaped();
    let problem = format!("{file} exists: replace it with --force, or name another file");
    Err(CommandError::new(USAGE, problem))
}

/// Returns the options that have a value, each with it.
pub fn options<const N: usize>(given: [(&str, Option<String>); N]) -> Vec<String> {
    let given = given.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
    given.flatten().collect()
}

/// What commands do with the files that [`BoardArgs`] name.
pub const FILE_ROLES: [ArgumentRole; 5] = [
    ("", "rig_file", FileRole::Read),
    ("", "rig", FileRole::ReadAfter(REPLAY)),
    ("", "rom", FileRole::Read),
    ("", "via", FileRole::Read),
    ("", "record", FileRole::Write),
];

/// Returns the board of this name in the rig file.
fn real_board(name: String) -> Result<RigChoice, CommandError> {
    match name.parse() {
        Ok(choice @ RigChoice::Real(_)) => Ok(choice),
        _ => {
            let name = name.escaped();
            let why = format!("'{name}' is a board without hardware: rename it in the rig file");
            Err(CommandError::new(USAGE, why))
        }
    }
}

impl BoardArgs {
    /// Returns `true` if an option asks for a board, real or simulated.
    pub fn names_board(&self) -> bool {
        self.board.is_some() || self.target().is_some() || self.record.is_some()
    }

    /// Returns the name of the board before it is connected.
    pub fn display_name(&self) -> String {
        self.target().unwrap_or(RigChoice::Simulated).display_name()
    }

    /// Returns the transcript that is replayed.
    pub fn transcript(&self) -> Option<&Path> {
        match self.rig.first() {
            Some(RigChoice::Replay(file)) => Some(file),
            _ => None,
        }
    }

    /// Returns the options with which another command connects to the same board, except for its
    /// profile.
    pub fn connection_options(&self) -> Vec<String> {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        // A replay accepts the recorded requests only, and without the option a board is simulated.
        let is_other = |rig: &&RigChoice| matches!(rig, RigChoice::Mame(_) | RigChoice::Real(_));
        let rig = self.rig.first().filter(is_other).map(ToString::to_string);
        let given = [
            ("--rig-file", self.rig_file.as_deref().map(path)),
            ("--rom", self.rom.as_deref().map(path)),
            ("--port", self.port.clone()),
            ("--rig", rig),
            ("--via", self.via()),
        ];
        let flash = self.flash.then(|| "--flash".to_owned());
        options(given).into_iter().chain(flash).collect()
    }

    /// Returns `true` if an option names a board by its port or rig.
    pub fn names_target(&self) -> bool {
        self.target().is_some()
    }

    /// Returns the configuration of a simulated board, whose monitor may be a stock monitor.
    ///
    /// # Errors
    /// As [`Self::plan`].
    pub fn plan_simulated(&self) -> Result<BoardConfig, CommandError> {
        self.plan_of(&RigChoice::Simulated)
    }

    /// Returns the profile that is given, or that the rig file has for the board.
    pub fn profile_name(&self) -> Option<String> {
        self.board.clone().or_else(|| self.rig_board())
    }

    /// Returns the board named by --port or --rig.
    fn target(&self) -> Option<RigChoice> {
        let real = self.port.clone().map(RigChoice::Real);
        real.or_else(|| self.rig.first().cloned())
    }

    /// Returns the profile that the rig file has for the board; a failure is reported by
    /// [`Self::plan`].
    fn rig_board(&self) -> Option<String> {
        let RigChoice::Real(name) = self.target()? else { return None };
        Some(self.rigs().ok()?.resolve(&name).ok()?.board)
    }

    fn rigs(&self) -> Result<RigFile, RigFileError> {
        RigFile::read(self.rig_file.as_deref())
    }

    /// Returns the names of the boards of a run on several boards: those given by --rig, or those
    /// in the rig file with this tag. Empty for a run on a single board.
    pub fn fleet_names(&self, tag: Option<&str>) -> Result<Vec<String>, CommandError> {
        let rigs = match tag {
            Some(tag) => {
                let names = self.rigs()?.boards_tagged(tag)?;
                names.into_iter().map(real_board).collect::<Result<_, _>>()?
            }
            None if self.rig.len() > 1 => self.rig.clone(),
            None => return Ok(Vec::new()),
        };
        let mut seen = BTreeMap::<String, usize>::new();
        let mut numbered = Vec::new();
        for rig in &rigs {
            let name = rig.to_string();
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            let is_repeated = *count > 1;
            if is_repeated && !rig.is_simulated() {
                let why = format!("board '{}' is given twice", name.escaped());
                return Err(CommandError::new(USAGE, why));
            }
            numbered.push(if is_repeated { format!("{name} {count}") } else { name });
        }
        self.refuse_single_board_options()?;
        self.refuse_same_board(&rigs)?;
        Ok(numbered)
    }

    /// Returns an error if two names lead to the same port.
    fn refuse_same_board(&self, rigs: &[RigChoice]) -> Result<(), CommandError> {
        let mut known = BTreeMap::new();
        for rig in rigs {
            let RigChoice::Real(name) = rig else { continue };
            // A name that leads nowhere is reported when its board is prepared.
            let Ok(rig) = self.rigs().and_then(|rigs| rigs.resolve(name)) else { continue };
            if let Some(other) = known.insert(rig.port_identity(), name) {
                let (other, name) = (other.escaped(), name.escaped());
                let why = format!("'{other}' and '{name}' are the same board: omit one of them");
                return Err(CommandError::new(USAGE, why));
            }
        }
        Ok(())
    }

    /// Returns the word or file of --via; `None` for this project's monitor.
    fn via(&self) -> Option<String> {
        (self.receiver.via != Via::BootMonitor).then(|| self.receiver.via.to_string())
    }

    /// Returns the kind of program that the board needs: in RAM, in flash, or beside a stock monitor.
    pub fn choose_kind(&self, kinds: [ProgramKind; 3]) -> ProgramKind {
        choose_kind(kinds, self.flash, self.via().is_some())
    }

    /// Returns an error if an option is given that works with a single board only.
    fn refuse_single_board_options(&self) -> Result<(), CommandError> {
        let given = [
            ("--record", self.record.is_some()),
            ("--rig replay:FILE", self.rig.iter().any(|rig| matches!(rig, RigChoice::Replay(_)))),
            ("--rig mame", self.rig.iter().any(|rig| matches!(rig, RigChoice::Mame(_)))),
            ("--rom", self.rom.is_some()),
        ];
        let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let why = format!("{name} works with a single board only; omit it, or give one board");
        Err(CommandError::new(USAGE, why))
    }

    /// Returns the configuration of one of several boards.
    pub fn config_for(&self, name: &str) -> Result<BoardConfig, CommandError> {
        let simulated = name.split(' ').next().and_then(|word| word.parse().ok());
        let simulated = simulated.filter(RigChoice::is_simulated);
        self.plan_for(&simulated.unwrap_or_else(|| RigChoice::Real(name.to_owned())))
    }

    /// Returns the configuration of the board that the options choose.
    ///
    /// # Errors
    /// Returns an error of usage for options that exclude each other, and one of the environment
    /// for files that can't be read.
    pub fn plan(&self) -> Result<BoardConfig, CommandError> {
        if self.rig.len() > 1 {
            let why =
                "this command needs a single board; only `run` and `test` accept several --rig";
            return Err(CommandError::new(USAGE, why));
        }
        self.plan_for(&self.target().unwrap_or(RigChoice::Simulated))
    }

    /// Returns an error if an option is given that does not work with this board.
    fn refuse_other_board(&self, rig: &RigChoice) -> Result<(), CommandError> {
        let is_real = matches!(rig, RigChoice::Real(_));
        let is_replay = matches!(rig, RigChoice::Replay(_));
        let why = match () {
            () if self.via().is_some() && !is_real => {
                "--via needs a real board: name it with --port or --rig"
            }
            () if self.rom.is_some() && (is_real || is_replay) => {
                "--rom needs a simulated board or MAME's: omit it, or the board"
            }
            () if self.flash && is_replay => {
                "--flash does not work with a replay, which loads nothing: omit it"
            }
            () => return Ok(()),
        };
        Err(CommandError::new(USAGE, why))
    }

    fn plan_for(&self, rig: &RigChoice) -> Result<BoardConfig, CommandError> {
        self.refuse_other_board(rig)?;
        refuse_recorded(self.record.as_deref(), self.force)?;
        self.plan_of(rig)
    }

    fn plan_of(&self, rig: &RigChoice) -> Result<BoardConfig, CommandError> {
        let rom = self.rom.as_deref().map(read).transpose()?;
        let (board, of_rig) = rig.board(|| self.rigs())?;
        let profile = BoardProfile::named(self.board.as_deref().unwrap_or(&of_rig))?;
        // A transcript contains replies only to the requests that were recorded.
        let full_responses = matches!(rig, RigChoice::Replay(file)
            if read_header(file).is_ok_and(|header| header.full));
        let force = self.force;
        let record = |file| RecordOptions { file, cases: Vec::new(), force };
        Ok(BoardConfig {
            board,
            rom,
            in_flash: self.flash,
            any_monitor: self.any_monitor,
            stock_monitor: self.receiver.via.stock_monitor()?,
            wait_timeout: self.wait.unwrap_or_default(),
            reconnect_timeout: self.reconnect,
            on_notice: |text| eprint_message(text),
            recording: self.record.clone().map(record),
            full_responses,
            ..BoardConfig::simulated(profile)
        })
    }
}
