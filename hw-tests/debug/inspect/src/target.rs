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
use hil_harness::args::{RigChoice, refuse_recorded};
use hil_harness::board::{BoardKind, RecordOptions};
use hil_harness::live::BoardConfig;
use rcflash_link::rig::{DEFAULT_BOARD, RigFile};

use crate::ExitResult;
use link_kernel::LinkKernel;

#[derive(Debug, Args)]
pub(super) struct TargetArgs {
    /// The board's profile; the default is that of the rig file, or rc2014-classic
    #[arg(long, value_name = "PROFILE")]
    pub(super) board: Option<String>,
    /// Use a real board, by the debug kernel: its name in the rig file, its serial device, or an
    /// address: tcp://host:port, rfc2217://host:port or ws://host:port/path
    #[arg(long, group = "connection", value_name = "NAME|DEVICE|ADDRESS", help_heading = "Board")]
    pub(super) port: Option<String>,
    /// Like --port, or a board without hardware, by the debug kernel: direct, simulated, real-time,
    /// mame, mame:MACHINE or replay:FILE, a recording for the same commands
    #[arg(long, group = "connection", value_name = "RIG", help_heading = "Board")]
    pub(super) rig: Option<RigChoice>,
    /// The rig file; the default is that of RCFLASH_RIG, or rcflash/rig.toml in your configuration
    /// folder
    #[arg(long, value_name = "FILE", requires = "connection", help_heading = "Board")]
    pub(super) rig_file: Option<PathBuf>,
    /// Record all traffic of the session, for --rig replay:FILE
    #[arg(long, value_name = "FILE", requires = "connection", help_heading = "Board")]
    pub(super) record: Option<PathBuf>,
    /// Overwrite an existing file with the recording
    #[arg(long, requires = "record", help_heading = "Board")]
    pub(super) force: bool,
}

impl TargetArgs {
    /// Returns `true` if the debug kernel is used.
    pub(super) fn uses_kernel(&self) -> bool {
        self.choice().is_some()
    }

    /// Returns the profile of the board: the named one, that of the rig file, or the default.
    pub(super) fn profile(&self) -> Result<BoardProfile, CommandError> {
        let of_rig =
            self.choose_board()?.map_or_else(|| DEFAULT_BOARD.to_owned(), |(_, name)| name);
        Ok(BoardProfile::named(self.board.as_ref().unwrap_or(&of_rig))?)
    }

    fn choice(&self) -> Option<RigChoice> {
        self.port.clone().map(RigChoice::Real).or_else(|| self.rig.clone())
    }

    /// Returns the board that is used by the debug kernel, and the name of its profile.
    fn choose_board(&self) -> Result<Option<(BoardKind, String)>, CommandError> {
        let read = || RigFile::read(self.rig_file.as_deref());
        self.choice().map(|choice| choice.board(read)).transpose()
    }

    /// Returns a connection to the board on which the debug kernel is used; `None` for a simulated
    /// board.
    pub(super) fn connect(
        &self,
        profile: &BoardProfile,
    ) -> ExitResult<Option<Box<dyn DebugKernel>>> {
        let Some((board, _)) = self.choose_board()? else { return Ok(None) };
        refuse_recorded(self.record.as_deref(), self.force)?;
        let mut plan = BoardConfig::simulated(profile.clone());
        plan.board = board;
        let (force, cases) = (self.force, vec!["debug".to_owned()]);
        plan.recording = self.record.clone().map(|file| RecordOptions { file, cases, force });
        plan.reconnect_timeout = Duration::ZERO;
        let reached = plan.connect(&build(profile, ProgramKind::Monitor)?.bytes);
        let (board, link) = reached.map_err(|error| CommandError::new(ENVIRONMENT, error))?;
        Ok(Some(Box::new(LinkKernel::new(link, board))))
    }
}

pub(super) fn target_error(error: TargetError) -> CommandError {
    match error {
        TargetError::Build(error) => error.into(),
        TargetError::NotFreeRam(_) => CommandError::new(USAGE, error),
        TargetError::Kernel(_) | TargetError::OldMonitor => CommandError::new(ENVIRONMENT, error),
    }
}
