//! Resets boards, by whatever way the rig has. No stock board has one, so most are reset by a
//! person.

use std::io;
use std::process::Stdio;

use firmware_wire::Identity;
use rcflash_transport::time::{Duration, Instant};

use host_platform::process::shell;

use crate::labgrid::Place;
use crate::method::{ActiveLevel, Reset, ResetBy};
use rcflash_link::loader::{LoadError, enter_monitor};
use rcflash_link::{Link, LinkError};
use rcflash_transport::{ControlLine, Transport};

/// The time the user's own command may take.
const COMMAND: Duration = Duration::from_secs(30);
/// The time between two looks at a running command.
const LOOK: Duration = Duration::from_millis(20);
/// The time the line is listened to before the time is looked at.
const LISTEN: Duration = Duration::from_millis(500);

/// The outcome of a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressed {
    /// It was done.
    Done,
    /// A person has to press the button.
    AskPerson,
}

/// Error returned by a reset.
#[derive(Debug, thiserror::Error)]
pub enum ResetError {
    /// The rig has no way.
    #[error("the rig file says reset = \"none\" for this board; put in a way, such as \"ask\"")]
    NoWay,
    /// The line has no such wire.
    #[error("{port} has no {wire}, so the board can't be reset by it; see reset in the rig file")]
    NoWire {
        /// The line.
        port: String,
        /// The wire.
        wire: &'static str,
    },
    /// The line failed.
    #[error("{port}: can't set {wire}: {source}")]
    Wire {
        /// The line.
        port: String,
        /// The wire.
        wire: &'static str,
        /// The error that the system reported.
        source: io::Error,
    },
    /// The user's command did not work.
    #[error("the reset command `{command}` {problem}")]
    Command {
        /// The command.
        command: String,
        /// The problem.
        problem: String,
    },
    /// The driver of labgrid did not work.
    #[error("the board can't be reset: {0}")]
    Place(io::Error),
    /// Nothing was heard of the monitor.
    #[error(
        "nothing was heard from the board's monitor within {} s after the reset was asked for; \
         was the right board reset, and is the monitor in its ROM? `rcflash probe` tells what \
         answers",
        .0.as_secs()
    )]
    NoMonitor(Duration),
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// Lets the board out of reset: opening a port sets DTR and RTS, which may hold it there.
///
/// # Errors
/// The device refused.
pub fn release(reset: &Reset, line: &mut dyn Transport) -> io::Result<()> {
    match wire(reset.by) {
        Some((ControlLine::Break, _)) | None => Ok(()),
        Some(_) if !line.capabilities().control_lines => Ok(()),
        Some((wire, _)) => line.set_line(wire, reset.level == ActiveLevel::Off),
    }
}

/// Resets the board, if that takes no person.
///
/// # Errors
/// The rig has no way, or it did not work.
pub fn press(reset: &Reset, line: &mut dyn Transport) -> Result<Pressed, ResetError> {
    match reset.by {
        ResetBy::Ask => return by_place(reset),
        ResetBy::None => return Err(ResetError::NoWay),
        ResetBy::Command => run(reset.command.as_deref().unwrap_or_default())?,
        by => {
            if let Some((line_name, name)) = wire(by) {
                pulse(reset, line, line_name, name)?;
            }
        }
    }
    Ok(Pressed::Done)
}

/// Resets a board by labgrid's driver, if it is a place that has one; else a person has to.
fn by_place(reset: &Reset) -> Result<Pressed, ResetError> {
    let pressed = reset.place.as_ref().map_or(Ok(false), Place::reset);
    match pressed.map_err(ResetError::Place)? {
        true => Ok(Pressed::Done),
        false => Ok(Pressed::AskPerson),
    }
}

/// The time characters are listened for that were said before the reset.
const BEFORE: Duration = Duration::from_millis(50);

/// Resets the board, or has a person do it, and waits until its monitor answers. `say` hears which
/// of the two it is before the wait begins.
///
/// # Errors
/// There is no way, it did not work, or the monitor is not heard within `patience`.
pub fn reset(
    link: &mut Link,
    how: &Reset,
    patience: Duration,
    say: impl FnOnce(Pressed),
) -> Result<Identity, ResetError> {
    link.drain_banner("listening before the reset", BEFORE)?;
    say(press(how, link.transport_mut())?);
    await_monitor(link, patience)
}

/// Waits until the monitor answers after a reset that somebody else does. Its first words are
/// waited for rather than asked for, so that a program which still runs is not disturbed.
///
/// # Errors
/// It does not within `patience`, or the line failed.
pub fn await_monitor(link: &mut Link, patience: Duration) -> Result<Identity, ResetError> {
    let deadline = link.now() + patience;
    while link.now() < deadline {
        let before = link.stats().bytes.1;
        link.drain_banner("waiting for the board to be reset", LISTEN)?;
        if link.stats().bytes.1 == before {
            continue;
        }
        // A program in flash may have been started already.
        match enter_monitor(link) {
            Ok(monitor) => return Ok(monitor),
            Err(LoadError::Link(
                error @ (LinkError::Io { .. } | LinkError::Interrupted { .. }),
            )) => return Err(error.into()),
            Err(_) => {} // noise of the reset, or a program of the user's
        }
    }
    Err(ResetError::NoMonitor(patience))
}

fn wire(by: ResetBy) -> Option<(ControlLine, &'static str)> {
    match by {
        ResetBy::Dtr => Some((ControlLine::Dtr, "DTR")),
        ResetBy::Rts => Some((ControlLine::Rts, "RTS")),
        ResetBy::Break => Some((ControlLine::Break, "break")),
        ResetBy::Ask | ResetBy::None | ResetBy::Command => None,
    }
}

fn pulse(
    reset: &Reset,
    line: &mut dyn Transport,
    which: ControlLine,
    wire: &'static str,
) -> Result<(), ResetError> {
    let port = line.name().to_owned();
    let active = which == ControlLine::Break || reset.level == ActiveLevel::On;
    let mut set = |on| {
        line.set_line(which, on).map_err(|source| match source.kind() {
            io::ErrorKind::Unsupported => ResetError::NoWire { port: port.clone(), wire },
            _ => ResetError::Wire { port: port.clone(), wire, source },
        })
    };
    set(active)?;
    rcflash_transport::time::sleep(reset.pulse);
    set(!active)
}

/// Runs the user's own command, through the shell as they would.
fn run(command: &str) -> Result<(), ResetError> {
    let failed = |problem: String| ResetError::Command { command: command.to_owned(), problem };
    let mut child = shell(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("can't be started: {error}")))?;
    let deadline = Instant::now() + COMMAND;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(format!("failed: {status}"))),
            Ok(None) if Instant::now() < deadline => rcflash_transport::time::sleep(LOOK),
            Ok(None) => {
                // It may have ended just now; either way it is over.
                let _ = child.kill().and_then(|()| child.wait().map(drop));
                return Err(failed(format!("did not end within {} s", COMMAND.as_secs())));
            }
            Err(error) => return Err(failed(format!("can't be watched: {error}"))),
        }
    }
}
