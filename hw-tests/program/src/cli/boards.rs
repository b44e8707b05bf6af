//! The arguments that choose a board, and what goes onto it.

use std::path::PathBuf;
use std::time::Duration;

use board_simulator::Pace;
use clap::Args;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use hil_harness::board::Recording;
use hil_harness::board::{Choice, heading};
use hil_harness::live::{Host, Plan};
use hil_harness::report::Options;
use program_kit::exit::Failure;
use program_kit::text::{Show, tell};
use rcflash_rig::{DEFAULT_BOARD, RigFile};

use super::read_program;
use hw_console::read;

/// Which board, and what goes onto it.
#[derive(Args)]
pub(super) struct BoardArgs {
    /// The board's profile; rc2014-classic if nothing names another
    #[arg(long, value_name = "PROFILE", env = "RCFLASH_BOARD")]
    pub(super) board: Option<String>,
    /// A real board: its name in the rig file, its serial device, or its address, tcp://host:port
    /// or rfc2217://host:port (docs/NETWORK.md); without it the board is simulated
    #[arg(long, group = "way", value_name = "NAME|DEVICE|ADDRESS")]
    port: Option<String>,
    /// The rig file; if not given, that of RCFLASH_RIG, else rcflash/rig.toml in your folder for
    /// settings
    #[arg(long, value_name = "FILE", requires = "port")]
    rig: Option<PathBuf>,
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
        requires = "port",
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
        match (&self.port, &self.replay, &self.mame) {
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
        let files = [("--rig", &self.rig), ("--app", &self.app), ("--rom", &self.rom)];
        for (name, file) in files {
            if let Some(file) = file {
                add(&mut board, name, file.to_string_lossy().into_owned());
            }
        }
        if let Some(port) = &self.port {
            add(&mut board, "--port", port.clone());
        }
        if let Some(via) = self.via {
            add(&mut board, "--via", via.name().to_owned());
        }
        board.extend(self.flash.then(|| "--flash".to_owned()));
        let simulated = self.app.is_none().then_some(built);
        Options { board, simulated }
    }

    /// Returns the profile that the rig file has for the port; a failure is reported by
    /// [`Self::plan`].
    fn rig_board(&self) -> Option<String> {
        let rig = RigFile::read(self.rig.as_deref()).ok()?.find(self.port.as_ref()?).ok()?;
        Some(rig.board)
    }

    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let find = |port: &String| RigFile::read(self.rig.as_deref())?.find(port);
        let rig = self.port.as_ref().map(find).transpose()?;
        let named = rig.as_ref().map_or(DEFAULT_BOARD, |rig| &rig.board);
        let profile = Profile::named(self.board.as_deref().unwrap_or(named))?;
        let rom = self.rom.as_deref().map(read).transpose()?;
        let application = self.app.as_deref().map(read_program).transpose()?;
        let pace = if self.real_time { Pace::RealTime } else { Pace::Free };
        let board = match (rig, &self.replay, &self.mame) {
            (Some(rig), _, _) => Choice::Serial(rig),
            (_, Some(file), _) => Choice::Replay(file.clone()),
            (_, _, Some(machine)) => Choice::Mame { machine: machine.clone(), rom },
            _ if self.direct => Choice::Direct { rom },
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
