//! Which board is meant, where it is, and opening the line to it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use cli_support::exit::{Failure, INTERRUPTED, RIG, USAGE};
use firmware::profile::Profile;
use firmware_wire::Identity;
use rcflash_link::loader::{self, LoadError};
use rcflash_link::{Link, LinkError};
use rcflash_monitors::{LoaderError, Peer, Talk, Who, probe};
use rcflash_rig::{DEFAULT_BOARD, Rig, RigFile};
use rcflash_transport::Transport;

use super::stop_on_interrupt;

/// Which board, and where.
#[derive(Args, Clone)]
pub(super) struct BoardArgs {
    /// The board: its name in the rig file, its serial device, or its address: tcp://host:port,
    /// rfc2217://host:port, ws://host:port/path (docs/NETWORK.md)
    #[arg(long, value_name = "NAME|DEVICE|ADDRESS", env = "RCFLASH_PORT")]
    port: Option<String>,
    /// The board's profile, if not the one that the rig file names; `rcflash boards` lists them
    #[arg(long, value_name = "PROFILE", env = "RCFLASH_BOARD")]
    board: Option<String>,
    /// The line's speed, if not the board's own
    #[arg(long, env = "RCFLASH_BAUD", value_parser = clap::value_parser!(u32).range(1..))]
    baud: Option<u32>,
    /// The rig file; if not given, that of RCFLASH_RIG, else rcflash/rig.toml in your folder for
    /// settings
    #[arg(long, value_name = "FILE")]
    rig: Option<PathBuf>,
}

/// State in which a command that only reads leaves a board.
pub(super) const UNCHANGED: &str = "nothing was changed on the board";

/// A board and the way to it.
pub(super) struct Target {
    pub(super) rig: Rig,
    pub(super) profile: Profile,
}

impl BoardArgs {
    /// The board that is meant.
    pub(super) fn target(&self) -> Result<Target, Failure> {
        let port = self.port.as_deref().ok_or_else(|| {
            let how = "say which board: --port with its device, or with its name in the rig file; \
                       `rcflash ports` lists the devices";
            Failure::new(USAGE, how)
        })?;
        let mut rig = RigFile::read(self.rig.as_deref())?.find(port)?;
        rig.baud = self.baud.or(rig.baud);
        let profile = Profile::named(self.board.as_deref().unwrap_or(&rig.board))?;
        Ok(Target { rig, profile })
    }

    /// Whether it is said where the board is.
    pub(super) fn has_port(&self) -> bool {
        self.port.is_some()
    }

    /// The profile, where no port is needed.
    pub(super) fn profile(&self) -> Result<Profile, Failure> {
        match (&self.board, &self.port) {
            (None, Some(_)) => Ok(self.target()?.profile),
            (board, _) => Ok(Profile::named(board.as_deref().unwrap_or(DEFAULT_BOARD))?),
        }
    }
}

impl Target {
    /// The line's speed.
    pub(super) fn baud(&self) -> u32 {
        self.rig.baud.unwrap_or(self.profile.uart.baud)
    }

    /// Opens the port, and sets its wires as the rig has them.
    pub(super) fn open(&self) -> Result<Box<dyn Transport + Send>, Failure> {
        let port = self.rig.open(self.profile.uart.baud)?;
        if let Some(holder) = port.left_by() {
            cli_support::tell!(
                "taking over from {holder}, which has ended without closing the port"
            );
        }
        Ok(port)
    }

    /// Opens the line and makes sure that the board's monitor listens. Ctrl-C ends every wait on
    /// this link.
    pub(super) fn reach(&self) -> Result<(Link, Identity), Failure> {
        let stop = stop_on_interrupt()?;
        let mut link = Link::new(self.open()?, self.baud());
        link.set_stop(Arc::clone(&stop));
        let reached = loader::enter_monitor(&mut link).map_err(|error| match &error {
            LoadError::Link(LinkError::Timeout { port, .. }) => {
                stranger(link.take_transport(), port, self.baud(), stop).unwrap_or(error.into())
            }
            _ => error.into(),
        });
        let monitor = or_interrupted(reached, UNCHANGED)?;
        link.set_window(monitor.window);
        cli_support::tell!("{monitor}");
        Ok((link, monitor))
    }
}

/// The failure for a board on which a stock monitor answers, or on which the user gave up waiting
/// for that; nothing if nobody known answers.
fn stranger(
    line: Box<dyn Transport + Send>,
    port: &str,
    baud: u32,
    stop: Arc<AtomicBool>,
) -> Option<Failure> {
    let found = match probe(&mut Talk::new(line, baud, stop), &[]) {
        Ok(found) => found,
        Err(error @ LoaderError::Interrupted { .. }) => return Some(error.into()),
        Err(_) => return None,
    };
    let Who::Known(peer, name) = found.who else { return None };
    let how = (peer != Peer::Ours).then(|| peer.advice())?;
    let problem = format!("{port}: {name} answers, not this project's monitor; {how}");
    Some(Failure::new(RIG, problem))
}

/// Adds to an interruption how the board is left.
pub(super) fn or_interrupted<T>(
    outcome: Result<T, impl Into<Failure>>,
    state: &str,
) -> Result<T, Failure> {
    outcome.map_err(|error| {
        let mut failure = error.into();
        if failure.code == INTERRUPTED {
            failure.message += "; ";
            failure.message += state;
        }
        failure
    })
}
