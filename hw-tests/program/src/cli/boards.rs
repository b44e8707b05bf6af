//! The arguments that choose a board, and what goes onto it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use board_simulator::Pace;
use clap::Args;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use hil_harness::board::Recording;
use hil_harness::board::{Choice, heading};
use hil_harness::live::{Host, Plan};
use hil_harness::report::Options;
use program_kit::exit::{Failure, USAGE};
use program_kit::text::{Show, tell};
use rcflash_rig::{DEFAULT_BOARD, RigFile, RigFileError};

use super::read_program;
use hw_console::read;

/// The names for --rig of boards that are simulated here; they may be given again.
const WITHIN: [&str; 3] = ["direct", "simulated", "real-time"];

/// Which board, and what goes onto it.
#[derive(Args)]
pub(super) struct BoardArgs {
    /// The board's profile; rc2014-classic if nothing names another
    #[arg(long, value_name = "PROFILE", env = "RCFLASH_BOARD")]
    pub(super) board: Option<String>,
    /// A real board: its name in the rig file, its serial device, or its address, tcp://host:port,
    /// rfc2217://host:port or ws://host:port/path (docs/NETWORK.md); without it the board is
    /// simulated
    #[arg(long, group = "way", value_name = "NAME|DEVICE|ADDRESS")]
    port: Option<String>,
    /// The same as --port, or direct, simulated, real-time; `run` takes several, and spreads the
    /// cases over them (docs/LAB.md). With --port: the rig file
    #[arg(long, value_name = "RIG|FILE")]
    pub(super) rig: Vec<String>,
    /// The rig file; if not given, that of RCFLASH_RIG, else rcflash/rig.toml in your folder for
    /// settings
    #[arg(long, value_name = "FILE")]
    rig_file: Option<PathBuf>,
    /// The way the evaluator treats the faults of the program of 1978, on the board and in the
    /// reference
    #[arg(long, value_name = "mended|1978|fast", default_value_t)]
    pub(super) behaviour: Behaviour,
    /// Build the evaluator with the routines in this folder in place of ours (sargon-src/README.md)
    #[arg(long, value_name = "DIR", conflicts_with = "app")]
    sargon_dir: Option<PathBuf>,
    /// Load this application instead of the built-in one (.hex, or .bin for the built-in one's
    /// address)
    #[arg(long, value_name = "FILE")]
    app: Option<PathBuf>,
    /// Put the application into the board's flash and run it from there; what is there already is
    /// not written again
    #[arg(long, conflicts_with_all = ["app", "replay"])]
    flash: bool,
    /// The content of the simulated board's ROM socket instead of the built-in monitor
    #[arg(long, value_name = "FILE", conflicts_with = "port")]
    rom: Option<PathBuf>,
    /// Accept a monitor of another build in the ROM
    #[arg(long)]
    any_monitor: bool,
    /// The board keeps the monitor that it came with: load the application through that, and go
    /// back to it in the end
    #[arg(
        long,
        value_name = "scm|romwbw|basic|cpm",
        value_parser = host,
        conflicts_with_all = ["flash", "rom", "any_monitor", "faults"]
    )]
    via: Option<Host>,
    /// The time to wait for a port that has gone, as when its adapter was unplugged, and then to go
    /// on
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    reconnect: u64,
    /// Hold the simulated board to its own clock
    #[arg(long, conflicts_with = "way")]
    real_time: bool,
    /// Run the simulated board within this program: no wait takes time, and each run is like the
    /// one before
    #[arg(long, group = "way")]
    direct: bool,
    /// Take a board that MAME emulates: rc2014mini, rc2014, rc2014cl2, rc2014zedp
    #[arg(long, group = "way", value_name = "MACHINE", num_args = 0..=1, require_equals = true)]
    mame: Option<Option<String>>,
    /// Write down all that passes over the line, to be replayed without the board
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Replace files that are in the way, whatever they are: transcript, results, report
    #[arg(long)]
    pub(super) force: bool,
    /// Make faults on the line and on the board, which this number decides (docs/TESTING.md)
    #[arg(long, value_name = "SEED", conflicts_with = "replay")]
    pub(super) faults: Option<u64>,
    /// Replay what was recorded; no board is needed
    #[arg(long, group = "way", value_name = "FILE", conflicts_with = "rom")]
    pub(super) replay: Option<PathBuf>,
}

/// The monitor of this name.
fn host(name: &str) -> Result<Host, String> {
    let names = || Host::ALL.map(Host::name).join(", ");
    Host::named(name).ok_or_else(|| format!("the monitors are {}", names()))
}

impl BoardArgs {
    /// Returns the name of the board until it is reached.
    pub(super) fn described(&self) -> String {
        match (self.target(), &self.replay, &self.mame) {
            (Some(port), _, _) => port.shown(),
            (_, Some(file), _) => format!("replay of {}", file.shown()),
            (_, _, Some(_)) => "MAME".to_owned(),
            _ => "simulated".to_owned(),
        }
    }

    /// Returns the options that put the same program on the same board for other commands.
    pub(super) fn options(&self) -> Options {
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
        if let Some(folder) = &self.sargon_dir {
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
        if let Some(via) = self.via {
            add(&mut board, "--via", via.name().to_owned());
        }
        board.extend(self.flash.then(|| "--flash".to_owned()));
        let simulated = self.app.is_none().then_some(built);
        Options { board, simulated }
    }

    /// Returns the rig file that is named: with --port also by --rig.
    fn rig_file(&self) -> Option<&Path> {
        let by_rig = self.port.as_ref().and(self.rig.first()).map(Path::new);
        self.rig_file.as_deref().or(by_rig)
    }

    /// Returns the board that is named by --port, or by --rig where that is one.
    fn target(&self) -> Option<&str> {
        self.port.as_deref().or(self.rig.first().map(String::as_str))
    }

    /// Returns the profile that the rig file has for the port; a failure is reported by
    /// [`Self::plan`].
    fn rig_board(&self) -> Option<String> {
        let rig = self.rigs().ok()?.find(self.target()?).ok()?;
        Some(rig.board)
    }

    fn rigs(&self) -> Result<RigFile, RigFileError> {
        RigFile::read(self.rig_file())
    }

    /// Returns the boards of a run on several: those that are named, or those of the rig file with
    /// a tag; empty where one board is meant.
    pub(super) fn several(&self, all: Option<&str>) -> Result<Vec<String>, Failure> {
        let names = match all {
            Some(tag) => self.rigs()?.tagged(tag)?,
            None if self.port.is_none() && self.rig.len() > 1 => self.rig.clone(),
            None => return Ok(Vec::new()),
        };
        let mut seen = BTreeMap::<&String, usize>::new();
        let mut numbered = Vec::new();
        for name in &names {
            let count = seen.entry(name).or_default();
            *count += 1;
            let is_again = *count > 1;
            if is_again && !WITHIN.contains(&name.as_str()) {
                let why = format!("the board '{}' is named twice", name.shown());
                return Err(Failure::new(USAGE, why));
            }
            numbered.push(if is_again { format!("{name} {count}") } else { name.clone() });
        }
        self.refuse_for_several()?;
        Ok(numbered)
    }

    /// Refuses options that are for one board.
    fn refuse_for_several(&self) -> Result<(), Failure> {
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
                let why = format!("{name} is for one board; leave it out, or name one");
                Err(Failure::new(USAGE, why))
            }
            None => Ok(()),
        }
    }

    /// Returns the plan for one of several boards.
    pub(super) fn member(&self, name: &str) -> Result<Plan, Failure> {
        let way = name.split(' ').next().filter(|way| WITHIN.contains(way)).unwrap_or(name);
        self.plan_for(Some(way))
    }

    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        if self.port.is_none() && self.rig.len() > 1 {
            let why = "this command takes one board; only `hw-tests run` takes several by --rig";
            return Err(Failure::new(USAGE, why));
        }
        if self.via.is_some() && self.target().is_none() {
            return Err(Failure::new(USAGE, "--via is for a real board: name it by --port"));
        }
        if self.rig.len() > 1 {
            return Err(Failure::new(USAGE, "with --port, --rig is the rig file: give it once"));
        }
        if self.port.is_none() && !self.rig.is_empty() {
            let others = self.direct || self.mame.is_some() || self.replay.is_some();
            if others || self.real_time {
                let why = "--rig names a board; leave --direct, --mame, --replay, --real-time out";
                return Err(Failure::new(USAGE, why));
            }
        }
        self.plan_for(self.target())
    }

    /// The plan for the board with this name, or for the one that the other options choose.
    fn plan_for(&self, target: Option<&str>) -> Result<Plan, Failure> {
        let within = target.filter(|name| self.port.is_none() && WITHIN.contains(name));
        let real = target.filter(|_| within.is_none());
        let rig = real.map(|name| self.rigs()?.find(name)).transpose()?;
        let named = rig.as_ref().map_or(DEFAULT_BOARD, |rig| &rig.board);
        let profile = Profile::named(self.board.as_deref().unwrap_or(named))?;
        let rom = self.rom.as_deref().map(read).transpose()?;
        let application = self.app.as_deref().map(read_program).transpose()?;
        let is_paced = self.real_time || within == Some("real-time");
        let pace = if is_paced { Pace::RealTime } else { Pace::Free };
        let board = match (rig, &self.replay, &self.mame) {
            (Some(rig), _, _) => Choice::Serial(rig),
            (_, Some(file), _) => Choice::Replay(file.clone()),
            (_, _, Some(machine)) => Choice::Mame { machine: machine.clone(), rom },
            _ if self.direct || within == Some("direct") => Choice::Direct { rom },
            _ => Choice::Simulated { rom, pace },
        };
        let evaluator = Evaluator { behaviour: self.behaviour, own: self.sargon_dir.clone() };
        let force = self.force;
        let recording = self.record.clone();
        // A replay answers what was asked.
        let full = self.replay.as_deref().is_some_and(|file| heading(file).is_ok_and(|it| it.full));
        let recording = recording.map(|file| Recording { file, cases: Vec::new(), force });
        Ok(Plan {
            profile,
            board,
            evaluator,
            application,
            in_flash: self.flash,
            any_monitor: self.any_monitor,
            host: self.via,
            reconnect: Duration::from_secs(self.reconnect),
            note: |text| tell(text),
            recording,
            faults: self.faults,
            full,
            watch_exchanges: false,
            stop: None,
        })
    }
}
