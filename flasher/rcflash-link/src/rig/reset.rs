//! Resets boards by the method of their rig.

use std::io;
use std::process::Stdio;

use crate::loader::{LoadError, enter_monitor};
use crate::{Link, LinkError};
use firmware_wire::Identity;
use rcflash_transport::platform::process::shell_command;
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{ControlLine, Transport};

use super::labgrid::LabgridPlace;
use super::method::{ActiveLevel, ResetConfig, ResetMethod};

/// How long the user's reset command may run.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a running command is checked.
const COMMAND_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long to receive before the deadline is checked.
const BANNER_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The outcome of a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetOutcome {
    /// The board was reset.
    Done,
    /// The user has to press the reset button.
    ManualResetNeeded,
}

/// Error returned by a reset.
#[derive(Debug, thiserror::Error)]
pub enum ResetError {
    /// The rig file excludes a reset.
    #[error(
        "the rig file has reset = \"none\" for this board; set another method, such as \"ask\""
    )]
    NotConfigured,
    /// The port has no such control line.
    #[error(
        "{port} has no {control_line}, so the board can't be reset by it; see reset in the rig file"
    )]
    LineUnsupported {
        /// The name of the port.
        port: String,
        /// The control line.
        control_line: &'static str,
    },
    /// The control line could not be set.
    #[error("{port}: can't set {control_line}: {source}")]
    Line {
        /// The name of the port.
        port: String,
        /// The control line.
        control_line: &'static str,
        /// The error that the system reported.
        source: io::Error,
    },
    /// The user's command failed.
    #[error("the reset command `{command}` {problem}")]
    Command {
        /// The command.
        command: String,
        /// The problem.
        problem: String,
    },
    /// labgrid or its reset driver failed.
    #[error("the board can't be reset: {0}")]
    Labgrid(io::Error),
    /// The monitor sent nothing in time.
    #[error(
        "received nothing from the board's monitor within {} s after the reset; was the right \
         board reset, and is the monitor in its ROM? Run `rcflash probe` to identify the program",
        .0.as_secs()
    )]
    NoMonitor(Duration),
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// Releases the reset line: opening a port activates DTR and RTS, which may keep the board in
/// reset.
///
/// # Errors
/// Returns the error of the device.
pub fn release(reset: &ResetConfig, transport: &mut dyn Transport) -> io::Result<()> {
    match control_line(reset.method) {
        Some((ControlLine::Break, _)) | None => Ok(()),
        Some(_) if !transport.capabilities().control_lines => Ok(()),
        Some((control_line, _)) => {
            transport.set_control_line(control_line, reset.active_level == ActiveLevel::Off)
        }
    }
}

/// Resets the board, if that can be done without the user.
///
/// # Errors
/// Returns [`ResetError`] if the rig file excludes a reset or the method failed.
pub fn trigger(
    reset: &ResetConfig,
    transport: &mut dyn Transport,
) -> Result<ResetOutcome, ResetError> {
    match reset.method {
        ResetMethod::Ask => return trigger_labgrid(reset),
        ResetMethod::None => return Err(ResetError::NotConfigured),
        ResetMethod::Command => run_command(reset.command.as_deref().unwrap_or_default())?,
        method => {
            if let Some((line_name, name)) = control_line(method) {
                pulse(reset, transport, line_name, name)?;
            }
        }
    }
    Ok(ResetOutcome::Done)
}

/// Resets the board by labgrid's driver if it has one.
fn trigger_labgrid(reset: &ResetConfig) -> Result<ResetOutcome, ResetError> {
    let was_reset = reset.labgrid.as_ref().map_or(Ok(false), LabgridPlace::reset);
    match was_reset.map_err(ResetError::Labgrid)? {
        true => Ok(ResetOutcome::Done),
        false => Ok(ResetOutcome::ManualResetNeeded),
    }
}

/// How long to discard characters sent before the reset.
const DISCARD_TIME: Duration = Duration::from_millis(50);

/// Resets the board, or lets the user do it, and waits until its monitor replies. `on_outcome` is
/// called before the wait.
///
/// # Errors
/// Returns [`ResetError`] if the reset failed, or [`ResetError::NoMonitor`] if the monitor sends
/// nothing within `timeout`.
pub fn reset(
    link: &mut Link,
    config: &ResetConfig,
    timeout: Duration,
    on_outcome: impl FnOnce(ResetOutcome),
) -> Result<Identity, ResetError> {
    link.drain_banner("listening before the reset", DISCARD_TIME)?;
    on_outcome(trigger(config, link.transport_mut())?);
    wait_for_monitor(link, timeout)
}

/// Waits for the monitor after a reset by the user. It waits for the banner before it sends
/// anything, so that a program which still runs is not disturbed.
///
/// # Errors
/// Returns [`ResetError::NoMonitor`] after `timeout`, or the link's error.
pub fn wait_for_monitor(link: &mut Link, timeout: Duration) -> Result<Identity, ResetError> {
    let deadline = link.now() + timeout;
    while link.now() < deadline {
        let before = link.stats().bytes.1;
        link.drain_banner("waiting for the board to be reset", BANNER_POLL_INTERVAL)?;
        if link.stats().bytes.1 == before {
            continue;
        }
        // A program in flash may have been started already.
        match enter_monitor(link) {
            Ok(monitor) => return Ok(monitor),
            Err(LoadError::Link(
                error @ (LinkError::Io { .. } | LinkError::Interrupted { .. }),
            )) => return Err(error.into()),
            Err(_) => {} // noise of the reset, or a user's program
        }
    }
    Err(ResetError::NoMonitor(timeout))
}

/// How long a board may take after a reset until its monitor sends text: RomWBW takes seconds.
const BOOT_TIME: Duration = Duration::from_secs(4);
/// How long a board that opening the port has reset may take to be at its prompt.
const SETTLE_TIME: Duration = Duration::from_millis(500);
/// The least length of a monitor's first text. A prompt or the echo of a break's noise is shorter.
const MIN_BANNER_BYTES: u64 = 12;

/// Resets a board that is silent, and returns whether that works: its monitor sends the first text
/// then. `None` if only a person can reset it.
///
/// # Errors
/// Returns [`ResetError`] if the rig file excludes a reset, or the method or the link failed.
pub fn works(link: &mut Link, config: &ResetConfig) -> Result<Option<bool>, ResetError> {
    link.drain_banner("listening before the reset", SETTLE_TIME)?;
    let before = link.stats().bytes.1;
    if trigger(config, link.transport_mut())? == ResetOutcome::ManualResetNeeded {
        return Ok(None);
    }
    let deadline = link.now() + BOOT_TIME;
    loop {
        let left = deadline.saturating_duration_since(link.now());
        link.drain_banner("waiting for the monitor's first text", left)?;
        let is_text = link.stats().bytes.1 - before >= MIN_BANNER_BYTES;
        if is_text || link.now() >= deadline {
            return Ok(Some(is_text));
        }
    }
}

fn control_line(method: ResetMethod) -> Option<(ControlLine, &'static str)> {
    match method {
        ResetMethod::Dtr => Some((ControlLine::Dtr, "DTR")),
        ResetMethod::Rts => Some((ControlLine::Rts, "RTS")),
        ResetMethod::Break => Some((ControlLine::Break, "break")),
        ResetMethod::Ask | ResetMethod::None | ResetMethod::Command => None,
    }
}

fn pulse(
    reset: &ResetConfig,
    transport: &mut dyn Transport,
    line: ControlLine,
    control_line: &'static str,
) -> Result<(), ResetError> {
    let port = transport.name().to_owned();
    let active = line == ControlLine::Break || reset.active_level == ActiveLevel::On;
    let mut set = |on| {
        transport.set_control_line(line, on).map_err(|source| match source.kind() {
            io::ErrorKind::Unsupported => {
                ResetError::LineUnsupported { port: port.clone(), control_line }
            }
            _ => ResetError::Line { port: port.clone(), control_line, source },
        })
    };
    set(active)?;
    rcflash_transport::time::sleep(reset.pulse);
    set(!active)
}

fn run_command(command: &str) -> Result<(), ResetError> {
    let command_error =
        |problem: String| ResetError::Command { command: command.to_owned(), problem };
    let mut child = shell_command(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| command_error(format!("can't be started: {error}")))?;
    let deadline = Instant::now() + COMMAND_TIMEOUT;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(command_error(format!("failed: {status}"))),
            Ok(None) if Instant::now() < deadline => {
                rcflash_transport::time::sleep(COMMAND_POLL_INTERVAL)
            }
            Ok(None) => {
                // It may have exited in the meantime, so an error of `kill` is ignored.
                let _ = child.kill().and_then(|()| child.wait().map(drop));
                return Err(command_error(format!(
                    "did not end within {} s",
                    COMMAND_TIMEOUT.as_secs()
                )));
            }
            Err(error) => return Err(command_error(format!("can't be waited for: {error}"))),
        }
    }
}
