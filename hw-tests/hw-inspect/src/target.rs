//! Arguments for a board at the end of a line: a real one, MAME's, or one that was recorded.

mod link_kernel;

use std::path::PathBuf;
use std::time::Duration;

use board_debugger::{DebugKernel, TargetError};
use clap::Args;
use cli_support::exit::{Failure, RIG, USAGE};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::Profile;
use hil_harness::board::{Choice, Recording};
use hil_harness::live::Plan;
use rcflash_rig::{DEFAULT_BOARD, RigFile};

use link_kernel::LinkKernel;

/// Which board, and whether its line is written down.
#[derive(Args, Default, Clone)]
pub(super) struct TargetArgs {
    /// A real board, by the debug kernel: its name in the rig file, its serial device, or its
    /// address, tcp://host:port, rfc2217://host:port or ws://host:port/path
    #[arg(long, group = "way", value_name = "NAME|DEVICE|ADDRESS")]
    pub(super) port: Option<String>,
    /// The rig file; if not given, that of RCFLASH_RIG, else rcflash/rig.toml in your folder for
    /// settings
    #[arg(long, value_name = "FILE", requires = "port")]
    pub(super) rig: Option<PathBuf>,
    /// A board that MAME emulates, by the debug kernel
    #[arg(long, group = "way", value_name = "MACHINE", num_args = 0..=1, require_equals = true)]
    pub(super) mame: Option<Option<String>>,
    /// The simulated board, but by the debug kernel, as if it were a real one
    #[arg(long, group = "way")]
    pub(super) kernel: bool,
    /// Write down all that passes over the line, to be replayed without the board
    #[arg(long, value_name = "FILE", requires = "way")]
    pub(super) record: Option<PathBuf>,
    /// Replace a file that is in the transcript's way, whatever it is
    #[arg(long, requires = "record")]
    pub(super) force: bool,
    /// Go through a session that was recorded, with the same commands; no board is needed
    #[arg(long, group = "way", value_name = "FILE")]
    pub(super) replay: Option<PathBuf>,
}

/// A board, and the way to its kernel.
pub(super) struct TargetConnection {
    pub(super) profile: Profile,
    pub(super) kernel: Box<dyn DebugKernel>,
}

impl TargetArgs {
    /// Whether the board is reached over a line.
    pub(super) fn has_line(&self) -> bool {
        self.port.is_some() || self.mame.is_some() || self.kernel || self.replay.is_some()
    }

    /// The profile of the board: the one named, or that of the rig file, or the usual one.
    pub(super) fn profile(&self, board: Option<&str>) -> Result<Profile, Failure> {
        let rig = self.rig()?;
        let of_rig = rig.as_ref().map_or(DEFAULT_BOARD, |rig| &rig.board);
        Ok(Profile::named(board.unwrap_or(of_rig))?)
    }

    fn rig(&self) -> Result<Option<rcflash_rig::Rig>, Failure> {
        let find = |port: &String| RigFile::read(self.rig.as_deref())?.find(port);
        Ok(self.port.as_ref().map(find).transpose()?)
    }

    /// Opens the line.
    pub(super) fn reach(&self, board: Option<&str>) -> Result<TargetConnection, Failure> {
        let profile = self.profile(board)?;
        let mut plan = Plan::simulated(profile.clone());
        plan.board = match (self.rig()?, &self.replay, &self.mame) {
            (Some(rig), _, _) => Choice::Serial(rig),
            (_, Some(file), _) => Choice::Replay(file.clone()),
            (_, _, Some(machine)) => Choice::Mame { machine: machine.clone(), rom: None },
            _ => Choice::Direct { rom: None },
        };
        let (force, cases) = (self.force, vec!["debug".to_owned()]);
        plan.recording = self.record.clone().map(|file| Recording { file, cases, force });
        plan.reconnect = Duration::ZERO;
        let monitor = build(&profile, ProgramKind::Monitor)?;
        let reached = plan.reach(&monitor.bytes);
        let (board, link) = reached.map_err(|error| Failure::new(RIG, error))?;
        Ok(TargetConnection { profile, kernel: Box::new(LinkKernel::new(link, board)) })
    }
}

/// An error of a board with the kernel, with its exit code.
pub(super) fn board_failure(error: TargetError) -> Failure {
    match error {
        TargetError::Build(error) => error.into(),
        TargetError::NoRoom(_) => Failure::new(USAGE, error),
        TargetError::Kernel(_) | TargetError::OldMonitor => Failure::new(RIG, error),
    }
}
