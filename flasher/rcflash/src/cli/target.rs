//! Options that choose the board, and connecting to it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use cli_support::exit::{CommandError, ENVIRONMENT, INTERRUPTED, USAGE};
use firmware::profile::BoardProfile;
use firmware_wire::Identity;
use rcflash_link::loader::{self, LoadError};
use rcflash_link::rig::{DEFAULT_BOARD, Rig, RigFile};
use rcflash_link::{Link, LinkError};
use rcflash_monitors::{LoaderError, MonitorSession, Peer, ProbedPeer, probe};
use rcflash_transport::Transport;
use rcflash_transport::port::OpenError;

use super::stop_on_interrupt;

/// Heading of the help.
const BOARD: &str = "Board";

#[derive(Args, Clone)]
pub(super) struct BoardArgs {
    /// Board: its rig name, serial device or address
    ///
    /// Addresses are tcp://host:port, rfc2217://host:port and ws://host:port/path
    /// (docs/NETWORK.md).
    #[arg(
        long,
        value_name = "NAME|DEVICE|ADDRESS",
        env = "RCFLASH_PORT",
        help_heading = BOARD
    )]
    port: Option<String>,
    /// Board profile; overrides that of the rig file [default: rc2014-classic]
    ///
    /// `rcflash boards` lists the profiles.
    #[arg(long, value_name = "PROFILE", env = "RCFLASH_BOARD", help_heading = BOARD)]
    board: Option<String>,
    /// Speed of the line; overrides that of the rig file and the profile
    #[arg(
        long,
        env = "RCFLASH_BAUD",
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = BOARD
    )]
    baud: Option<u32>,
    /// Rig file [default: RCFLASH_RIG, or rcflash/rig.toml in the user's configuration folder]
    #[arg(long, value_name = "FILE", help_heading = BOARD, hide_short_help = true)]
    rig_file: Option<PathBuf>,
}

/// State of the board after a command that only reads.
pub(super) const BOARD_UNCHANGED: &str = "nothing was changed on the board";

pub(super) struct Target {
    pub(super) rig: Rig,
    pub(super) profile: BoardProfile,
}

impl BoardArgs {
    pub(super) fn target(&self) -> Result<Target, CommandError> {
        let port = self.port.as_deref().ok_or_else(|| {
            let how = "no board given: pass --port with its device or its name in the rig file; \
                       `rcflash ports` lists the devices";
            CommandError::new(USAGE, how)
        })?;
        let mut rig = RigFile::read(self.rig_file.as_deref())?.resolve(port)?;
        rig.baud = self.baud.or(rig.baud);
        let profile = BoardProfile::named(self.board.as_deref().unwrap_or(&rig.board))?;
        Ok(Target { rig, profile })
    }

    pub(super) fn has_port(&self) -> bool {
        self.port.is_some()
    }

    /// Returns the profile; the port may be missing.
    pub(super) fn profile(&self) -> Result<BoardProfile, CommandError> {
        match (&self.board, &self.port) {
            (None, Some(_)) => Ok(self.target()?.profile),
            (board, _) => Ok(BoardProfile::named(board.as_deref().unwrap_or(DEFAULT_BOARD))?),
        }
    }
}

impl Target {
    pub(super) fn baud(&self) -> u32 {
        self.rig.baud.unwrap_or(self.profile.uart.baud)
    }

    /// Opens the port, and sets its control lines as configured in the rig file.
    pub(super) fn open(&self) -> Result<Box<dyn Transport + Send>, OpenError> {
        let port = self.rig.open(self.profile.uart.baud)?;
        if let Some(holder) = port.previous_holder() {
            cli_support::eprint_message!(
                "taking over from {holder}, which has ended without closing the port"
            );
        }
        Ok(port)
    }

    /// Opens the port and enters the board's monitor. Ctrl-C ends every wait on the returned link.
    pub(super) fn connect_to_monitor(&self) -> Result<(Link, Identity), CommandError> {
        let stop = stop_on_interrupt()?;
        let mut link = Link::new(self.open()?, self.baud());
        link.set_stop(Arc::clone(&stop));
        let reached = loader::enter_monitor(&mut link).map_err(|error| match &error {
            LoadError::Link(LinkError::Timeout { port, .. }) => {
                stock_monitor_failure(link.take_transport(), port, self.baud(), stop)
                    .unwrap_or(error.into())
            }
            _ => error.into(),
        });
        let monitor = with_state_if_interrupted(reached, BOARD_UNCHANGED)?;
        link.set_window(monitor.window);
        cli_support::eprint_message!("{monitor}");
        Ok((link, monitor))
    }
}

/// Returns the error for a stock monitor that replies, or for Ctrl-C while probing it.
fn stock_monitor_failure(
    line: Box<dyn Transport + Send>,
    port: &str,
    baud: u32,
    stop: Arc<AtomicBool>,
) -> Option<CommandError> {
    let found = match probe(&mut MonitorSession::new(line, baud, stop), &[]) {
        Ok(found) => found,
        Err(error @ LoaderError::Interrupted { .. }) => return Some(error.into()),
        Err(_) => return None,
    };
    let ProbedPeer::Known(peer, name) = found.peer else { return None };
    let how = (peer != Peer::OwnFirmware).then(|| peer.load_hint())?;
    let problem = format!("{port}: found {name} instead of this project's monitor; {how}");
    Some(CommandError::new(ENVIRONMENT, problem))
}

/// Appends the state of the board to the message of an interruption.
pub(super) fn with_state_if_interrupted<T>(
    outcome: Result<T, impl Into<CommandError>>,
    state: &str,
) -> Result<T, CommandError> {
    outcome.map_err(|error| {
        let mut failure = error.into();
        if failure.code == INTERRUPTED {
            failure.message += "; ";
            failure.message += state;
        }
        failure
    })
}
