//! Options of a command line that choose a board and the evaluator to load.

mod files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use board_simulator::Pace;
use clap::builder::ArgPredicate;
use clap::{Arg, Args};
use cli_support::exit::{CommandError, USAGE};
use cli_support::file_roles::{ArgumentRole, FileRole};
use cli_support::text::{Escape, eprint_message};
use cli_support::time::parse_time;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use hil_harness::board::RecordOptions;
use hil_harness::board::{BoardKind, read_header};
use hil_harness::report::FollowUpOptions;
use rcflash_link::rig::{DEFAULT_BOARD, RigFile, RigFileError};
use rcflash_monitors::{Via, ViaArgs};

use crate::BoardConfig;
use cli_support::files::read_input as read;

pub use files::read_program;

/// Values of --rig that name a simulated board; each may be given more than once.
const BUILTIN_RIGS: [&str; 3] = ["direct", "simulated", "real-time"];

// Headings of the help.
const BOARD: &str = "Board";
const SIMULATED: &str = "Simulated board";
const EVALUATOR: &str = "Evaluator";
/// The heading of options that choose what is written.
pub const OUTPUT: &str = "Output";
const LINE: &str = "Recording and fault injection";

/// Options that choose a board and the evaluator to load.
///
/// Every command that needs a board has them, so rare ones appear in `--help` only.
#[derive(Debug, Args)]
pub struct BoardArgs {
    /// Board profile; overrides that of the rig file [default: rc2014-classic]
    #[arg(long, value_name = "PROFILE", env = "RCFLASH_BOARD", help_heading = BOARD)]
    pub board: Option<String>,
    /// Real board: rig name, serial device or address
    ///
    /// Without this option and --rig the board is simulated. Addresses are tcp://host:port,
    /// rfc2217://host:port and ws://host:port/path (docs/NETWORK.md).
    #[arg(long, group = "board_source", value_name = "NAME|DEVICE|ADDRESS", help_heading = BOARD)]
    port: Option<String>,
    /// Like --port, or one of direct, simulated, real-time
    ///
    /// `run` and `test` accept several and distribute the cases over them (docs/LAB.md).
    #[arg(long, value_name = "RIG", help_heading = BOARD)]
    pub rig: Vec<String>,
    /// Rig file [default: RCFLASH_RIG, or rcflash/rig.toml in the user's configuration folder]
    #[arg(long, value_name = "FILE", help_heading = BOARD, hide_short_help = true)]
    rig_file: Option<PathBuf>,
    /// Treatment of the bugs of the original program, on the board and in the reference
    #[arg(
        long,
        value_name = "corrected|original|fast",
        default_value_t,
        default_value_if("listing", ArgPredicate::IsPresent, "original"),
        help_heading = EVALUATOR
    )]
    pub behaviour: Behaviour,
    /// Build the evaluator with the routines in this folder instead of the built-in ones
    ///
    /// The routines that can be replaced are described in sargon-src/README.md.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "app",
        help_heading = EVALUATOR,
        hide_short_help = true
    )]
    sargon_dir: Option<PathBuf>,
    /// Build the evaluator with the routines in this one file, as typed in from print
    ///
    /// The behaviour is original unless --behaviour is given. Equates, data and origins that the
    /// built-in evaluator has, too, are ignored (sargon-src/README.md).
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["app", "sargon_dir"],
        help_heading = EVALUATOR,
        hide_short_help = true
    )]
    listing: Option<PathBuf>,
    /// Load this application (.hex or .bin) instead of the built-in one
    ///
    /// A .bin file is loaded at the address of the built-in application.
    #[arg(long, value_name = "FILE", help_heading = EVALUATOR)]
    app: Option<PathBuf>,
    /// Store the application in the board's flash and run it from there
    ///
    /// Flash that already contains it is not written again.
    #[arg(
        long,
        conflicts_with_all = ["app", "replay", "via"],
        help_heading = EVALUATOR,
        hide_short_help = true
    )]
    flash: bool,
    /// ROM image of the simulated board, instead of the built-in monitor
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["port", "via"],
        help_heading = SIMULATED,
        hide_short_help = true
    )]
    rom: Option<PathBuf>,
    /// Accept a monitor of another build in the ROM
    #[arg(long, conflicts_with = "via", help_heading = BOARD, hide_short_help = true)]
    any_monitor: bool,
    #[command(flatten, next_help_heading = BOARD)]
    receiver: ViaArgs,
    /// Wait while somebody else uses the board, a day if no TIME is given, as in --wait=30m
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1d",
        value_parser = parse_time,
        help_heading = BOARD,
        hide_short_help = true
    )]
    wait: Option<Duration>,
    /// How long to wait for a disconnected port before giving up
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        help_heading = BOARD,
        hide_short_help = true
    )]
    reconnect: u64,
    /// Run the simulated board at the speed of the real one
    #[arg(
        long,
        conflicts_with = "board_source",
        help_heading = SIMULATED,
        hide_short_help = true
    )]
    real_time: bool,
    /// Simulate the board in this process, in simulated time: fast and deterministic
    #[arg(long, group = "board_source", help_heading = SIMULATED)]
    direct: bool,
    /// Use a board emulated by MAME: rc2014mini, rc2014, rc2014cl2, rc2014zedp
    #[arg(
        long,
        group = "board_source",
        value_name = "MACHINE",
        num_args = 0..=1,
        require_equals = true,
        help_heading = SIMULATED,
        hide_short_help = true
    )]
    mame: Option<Option<String>>,
    /// Record all line traffic to FILE
    #[arg(long, value_name = "FILE", help_heading = LINE, hide_short_help = true)]
    pub record: Option<PathBuf>,
    /// Overwrite existing files of any kind: transcript, results, report
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub force: bool,
    /// Inject line and board faults from this seed (docs/TESTING.md)
    #[arg(
        long,
        value_name = "SEED",
        conflicts_with_all = ["replay", "via"],
        help_heading = LINE,
        hide_short_help = true
    )]
    pub faults: Option<u64>,
    /// Replay a recorded transcript; needs no board
    #[arg(
        long,
        group = "board_source",
        value_name = "FILE",
        conflicts_with = "rom",
        help_heading = LINE,
        hide_short_help = true
    )]
    pub replay: Option<PathBuf>,
}

/// What commands do with the files that [`BoardArgs`] name.
pub const FILE_ROLES: [ArgumentRole; 9] = [
    ("", "rig_file", FileRole::Read),
    ("", "rig", FileRole::Read),
    ("", "sargon_dir", FileRole::ReadFolder(".asm")),
    ("", "listing", FileRole::Read),
    ("", "app", FileRole::Read),
    ("", "rom", FileRole::Read),
    ("", "via", FileRole::Read),
    ("", "replay", FileRole::Read),
    ("", "record", FileRole::Write),
];

/// Hides an option that works with Sargon's evaluator only.
pub fn hide_evaluator(option: Arg) -> Arg {
    let is_hidden = option.get_help_heading() == Some(EVALUATOR) || option.get_id() == "faults";
    option.hide(is_hidden)
}

impl BoardArgs {
    /// Returns `true` if an option asks for a board, real or simulated.
    pub fn names_board(&self) -> bool {
        let is_simulated = self.direct || self.real_time || self.mame.is_some();
        let is_recorded = self.record.is_some() || self.replay.is_some();
        self.board.is_some() || self.target().is_some() || is_simulated || is_recorded
    }

    /// Returns an error if an option is given that works with Sargon's evaluator only.
    pub fn refuse_evaluator(&self) -> Result<(), CommandError> {
        let given = [
            ("--sargon-dir", self.sargon_dir.is_some()),
            ("--listing", self.listing.is_some()),
            ("--app", self.app.is_some()),
            ("--faults", self.faults.is_some()),
            ("--behaviour", self.behaviour != Behaviour::default()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                let why = format!("{name} works with `hw-tests run` only; omit it");
                Err(CommandError::new(USAGE, why))
            }
            None => Ok(()),
        }
    }

    /// Returns the name of the board before it is connected.
    pub fn display_name(&self) -> String {
        match (self.target(), &self.replay, &self.mame) {
            (Some(port), _, _) => port.escaped(),
            (_, Some(file), _) => format!("replay of {}", file.escaped()),
            (_, _, Some(_)) => "MAME".to_owned(),
            _ => "simulated".to_owned(),
        }
    }

    /// Returns the folder or listing of the user's own routines.
    fn own(&self) -> Option<&PathBuf> {
        self.sargon_dir.as_ref().or(self.listing.as_ref())
    }

    /// Returns the options with which another command loads the same program on the same board.
    pub fn options(&self) -> FollowUpOptions {
        let mut built = Vec::new();
        let add = |options: &mut Vec<String>, name: &str, value: String| {
            options.extend([name.to_owned(), value]);
        };
        if let Some(board) = self.board.clone().or_else(|| self.rig_board()) {
            add(&mut built, "--board", board);
        }
        if self.behaviour != Behaviour::default() {
            add(&mut built, "--behaviour", self.behaviour.to_string());
        }
        // Other commands take a listing in place of the folder.
        if let Some(folder) = self.own() {
            add(&mut built, "--sargon-dir", folder.to_string_lossy().into_owned());
        }
        let mut board = built.clone();
        let rig_file = self.rig_file();
        let files = [("--rig-file", rig_file), ("--app", self.app.as_deref())];
        for (name, file) in files.into_iter().chain([("--rom", self.rom.as_deref())]) {
            if let Some(file) = file {
                add(&mut board, name, file.to_string_lossy().into_owned());
            }
        }
        if let Some(port) = &self.port {
            add(&mut board, "--port", port.clone());
        } else if let Some(rig) = self.rig.first() {
            add(&mut board, "--rig", rig.clone());
        }
        if self.receiver.via != Via::BootMonitor {
            add(&mut board, "--via", self.receiver.via.to_string());
        }
        board.extend(self.flash.then(|| "--flash".to_owned()));
        let simulated = self.app.is_none().then_some(built);
        FollowUpOptions { board, simulated }
    }

    /// Returns the path of the rig file, which --rig names if --port is given.
    fn rig_file(&self) -> Option<&Path> {
        let by_rig = self.port.as_ref().and(self.rig.first()).map(Path::new);
        self.rig_file.as_deref().or(by_rig)
    }

    /// Returns the board named by --port or --rig.
    fn target(&self) -> Option<&str> {
        self.port.as_deref().or(self.rig.first().map(String::as_str))
    }

    /// Returns the profile that the rig file has for the port; a failure is reported by
    /// [`Self::plan`].
    fn rig_board(&self) -> Option<String> {
        let rig = self.rigs().ok()?.resolve(self.target()?).ok()?;
        Some(rig.board)
    }

    fn rigs(&self) -> Result<RigFile, RigFileError> {
        RigFile::read(self.rig_file())
    }

    /// Returns the names of the boards of a run on several boards: those given by --rig, or those
    /// in the rig file with the tag `all`. Empty for a run on a single board.
    pub fn fleet_names(&self, all: Option<&str>) -> Result<Vec<String>, CommandError> {
        let names = match all {
            Some(tag) => self.rigs()?.boards_tagged(tag)?,
            None if self.port.is_none() && self.rig.len() > 1 => self.rig.clone(),
            None => return Ok(Vec::new()),
        };
        let mut seen = BTreeMap::<&String, usize>::new();
        let mut numbered = Vec::new();
        for name in &names {
            let count = seen.entry(name).or_default();
            *count += 1;
            let is_repeated = *count > 1;
            if is_repeated && !BUILTIN_RIGS.contains(&name.as_str()) {
                let why = format!("board '{}' is given twice", name.escaped());
                return Err(CommandError::new(USAGE, why));
            }
            numbered.push(if is_repeated { format!("{name} {count}") } else { name.clone() });
        }
        self.refuse_single_board_options()?;
        self.refuse_same_board(&names)?;
        Ok(numbered)
    }

    /// Returns an error if two names lead to the same port.
    fn refuse_same_board(&self, names: &[String]) -> Result<(), CommandError> {
        let real = names.iter().filter(|name| !BUILTIN_RIGS.contains(&name.as_str()));
        let mut known = BTreeMap::new();
        for name in real {
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

    /// Returns an error if an option is given that works with a single board only.
    fn refuse_single_board_options(&self) -> Result<(), CommandError> {
        let given = [
            ("--record", self.record.is_some()),
            ("--replay", self.replay.is_some()),
            ("--mame", self.mame.is_some()),
            ("--direct", self.direct),
            ("--real-time", self.real_time),
            ("--faults", self.faults.is_some()),
            ("--rom", self.rom.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                let why =
                    format!("{name} works with a single board only; omit it, or give one board");
                Err(CommandError::new(USAGE, why))
            }
            None => Ok(()),
        }
    }

    /// Returns the configuration of one of several boards.
    pub fn config_for(&self, name: &str) -> Result<BoardConfig, CommandError> {
        let builtin = name.split(' ').next().filter(|rig| BUILTIN_RIGS.contains(rig));
        self.plan_for(Some(builtin.unwrap_or(name)))
    }

    /// Returns the configuration of the board that the options choose.
    ///
    /// # Errors
    /// Returns an error of usage for options that exclude each other, and one of the environment
    /// for files that can't be read.
    pub fn plan(&self) -> Result<BoardConfig, CommandError> {
        if self.port.is_none() && self.rig.len() > 1 {
            let why =
                "this command needs a single board; only `run` and `test` accept several --rig";
            return Err(CommandError::new(USAGE, why));
        }
        if self.receiver.via != Via::BootMonitor && self.target().is_none() {
            return Err(CommandError::new(USAGE, "--via needs a real board: name it with --port"));
        }
        if self.rig.len() > 1 {
            return Err(CommandError::new(USAGE, "--port and --rig each select a board: omit one"));
        }
        if self.port.is_some() && !self.rig.is_empty() {
            eprint_message("warning: --rig selects a board; name the rig file with --rig-file");
        }
        if self.port.is_none() && !self.rig.is_empty() {
            let others = self.direct || self.mame.is_some() || self.replay.is_some();
            if others || self.real_time {
                let why = "--rig already selects a board; omit --direct, --mame, --replay and --real-time";
                return Err(CommandError::new(USAGE, why));
            }
        }
        self.plan_for(self.target())
    }

    /// Returns the configuration of the board with this name, or of the one that the other options
    /// choose.
    fn plan_for(&self, target: Option<&str>) -> Result<BoardConfig, CommandError> {
        let builtin = target.filter(|name| self.port.is_none() && BUILTIN_RIGS.contains(name));
        let real = target.filter(|_| builtin.is_none());
        let rig = real.map(|name| self.rigs()?.resolve(name)).transpose()?;
        let named = rig.as_ref().map_or(DEFAULT_BOARD, |rig| &rig.board);
        let profile = BoardProfile::named(self.board.as_deref().unwrap_or(named))?;
        let rom = self.rom.as_deref().map(read).transpose()?;
        let application = self.app.as_deref().map(read_program).transpose()?;
        let is_paced = self.real_time || builtin == Some("real-time");
        let pace = if is_paced { Pace::RealTime } else { Pace::Free };
        let board = match (rig, &self.replay, &self.mame) {
            (Some(rig), _, _) => BoardKind::Serial(rig),
            (_, Some(file), _) => BoardKind::Replay(file.clone()),
            (_, _, Some(machine)) => BoardKind::Mame { machine: machine.clone(), rom },
            _ if self.direct || builtin == Some("direct") => BoardKind::InProcess { rom },
            _ => BoardKind::Simulated { rom, pace },
        };
        // A missing listing must not be taken for a folder.
        self.listing.as_deref().map(read).transpose()?;
        let evaluator = Evaluator { behaviour: self.behaviour, own: self.own().cloned() };
        let force = self.force;
        let recording = self.record.clone();
        // A transcript contains replies only to the requests that were recorded.
        let full = self
            .replay
            .as_deref()
            .is_some_and(|file| read_header(file).is_ok_and(|heading| heading.full));
        let recording = recording.map(|file| RecordOptions { file, cases: Vec::new(), force });
        Ok(BoardConfig {
            suite: evaluator.into(),
            profile,
            board,
            application,
            in_flash: self.flash,
            any_monitor: self.any_monitor,
            stock_monitor: self.receiver.via.stock_monitor()?,
            wait_timeout: self.wait.unwrap_or_default(),
            reconnect_timeout: Duration::from_secs(self.reconnect),
            on_notice: |text| eprint_message(text),
            recording,
            fault_seed: self.faults,
            full_responses: full,
            cancel: None,
        })
    }
}
