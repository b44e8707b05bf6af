//! Options for a board on a serial line: a real one, one emulated by MAME, or a recording.

mod link_kernel;

use std::path::PathBuf;
use std::time::Duration;

use board_debugger::{DebugKernel, TargetError};
use clap::Args;
use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use hil_harness::board::{BoardKind, RecordOptions};
use rcflash_link::rig::{DEFAULT_BOARD, RigFile};
use sargon_suite::BoardConfig;

use link_kernel::LinkKernel;

#[derive(Args, Default, Clone)]
pub(super) struct TargetArgs {
    /// Use a real board, by the debug kernel: its name in the rig file, its serial device, or an
    /// address: tcp://host:port, rfc2217://host:port or ws://host:port/path
    #[arg(long, group = "connection", value_name = "NAME|DEVICE|ADDRESS", help_heading = "Board")]
    pub(super) port: Option<String>,
    /// The rig file; the default is that of RCFLASH_RIG, or rcflash/rig.toml in your configuration
    /// folder
    #[arg(long, value_name = "FILE", requires = "port", help_heading = "Board")]
    pub(super) rig: Option<PathBuf>,
    /// Use a board emulated by MAME, by the debug kernel
    #[arg(
        long,
        group = "connection",
        value_name = "MACHINE",
        num_args = 0..=1,
        require_equals = true,
        help_heading = "Board"
    )]
    pub(super) mame: Option<Option<String>>,
    /// Use the simulated board by the debug kernel, as if it were a real one
    #[arg(long, group = "connection", help_heading = "Board")]
    pub(super) kernel: bool,
    /// Record all traffic of the session, for --replay
    #[arg(long, value_name = "FILE", requires = "connection", help_heading = "Board")]
    pub(super) record: Option<PathBuf>,
    /// Overwrite an existing file with the recording
    #[arg(long, requires = "record", help_heading = "Board")]
    pub(super) force: bool,
    /// Replay a recorded session, without a board; the commands must be the same
    #[arg(long, group = "connection", value_name = "FILE", help_heading = "Board")]
    pub(super) replay: Option<PathBuf>,
}

pub(super) struct TargetConnection {
    pub(super) profile: BoardProfile,
    pub(super) kernel: Box<dyn DebugKernel>,
}

impl TargetArgs {
    /// Returns `true` if the debug kernel is used.
    pub(super) fn uses_kernel(&self) -> bool {
        self.port.is_some() || self.mame.is_some() || self.kernel || self.replay.is_some()
    }

    /// Returns the profile of the board: the named one, that of the rig file, or the default.
    pub(super) fn profile(&self, board: Option<&str>) -> Result<BoardProfile, CommandError> {
        let rig = self.rig()?;
        let of_rig = rig.as_ref().map_or(DEFAULT_BOARD, |rig| &rig.board);
        Ok(BoardProfile::named(board.unwrap_or(of_rig))?)
    }

    fn rig(&self) -> Result<Option<rcflash_link::rig::Rig>, CommandError> {
        let find = |port: &String| RigFile::read(self.rig.as_deref())?.resolve(port);
        Ok(self.port.as_ref().map(find).transpose()?)
    }

    pub(super) fn connect(&self, board: Option<&str>) -> Result<TargetConnection, CommandError> {
        let profile = self.profile(board)?;
        let mut plan = BoardConfig::simulated(profile.clone());
        plan.board = match (self.rig()?, &self.replay, &self.mame) {
            (Some(rig), _, _) => BoardKind::Serial(rig),
            (_, Some(file), _) => BoardKind::Replay(file.clone()),
            (_, _, Some(machine)) => BoardKind::Mame { machine: machine.clone(), rom: None },
            _ => BoardKind::InProcess { rom: None },
        };
        let (force, cases) = (self.force, vec!["debug".to_owned()]);
        plan.recording = self.record.clone().map(|file| RecordOptions { file, cases, force });
        plan.reconnect_timeout = Duration::ZERO;
        let monitor = build(&profile, ProgramKind::Monitor)?;
        let reached = plan.connect(&monitor.bytes);
        let (board, link) = reached.map_err(|error| CommandError::new(ENVIRONMENT, error))?;
        Ok(TargetConnection { profile, kernel: Box::new(LinkKernel::new(link, board)) })
    }
}

pub(super) fn target_error(error: TargetError) -> CommandError {
    match error {
        TargetError::Build(error) => error.into(),
        TargetError::NotFreeRam(_) => CommandError::new(USAGE, error),
        TargetError::Kernel(_) | TargetError::OldMonitor => CommandError::new(ENVIRONMENT, error),
    }
}
