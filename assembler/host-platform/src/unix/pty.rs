//! Pseudo-terminals, by which a program of ours is a serial device for others.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{ControlModes, OptionalActions, tcgetattr, tcsetattr};

/// The master side of a pseudo-terminal.
pub struct Pty {
    master: OwnedFd,
    /// Kept open, so that a host that closes the line and comes back finds it as it was.
    _slave: OwnedFd,
    path: PathBuf,
}

impl Pty {
    /// Opens a pseudo-terminal in raw mode that runs at `baud`, with flow control by RTS and CTS.
    ///
    /// # Errors
    /// What the system said, mostly that there are too many of them.
    pub fn open(baud: u32) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let path = PathBuf::from(name.to_string_lossy().into_owned());
        let slave = open(&path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        let mut modes = tcgetattr(&slave)?;
        modes.make_raw();
        modes.control_modes |= ControlModes::CRTSCTS;
        modes.set_speed(baud)?;
        tcsetattr(&slave, OptionalActions::Now, &modes)?;
        rustix::io::ioctl_fionbio(&master, true)?;
        Ok(Self { master, _slave: slave, path })
    }

    /// The path that others open.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes in what has come, without waiting; nothing if nobody is there.
    pub fn read(&self, buffer: &mut [u8]) -> Option<usize> {
        rustix::io::read(&self.master, buffer).ok()
    }

    /// Hands over what is taken, without waiting.
    #[must_use]
    pub fn write(&self, bytes: &[u8]) -> usize {
        rustix::io::write(&self.master, bytes).unwrap_or(0)
    }

    /// The speed that the other side has set.
    #[must_use]
    pub fn speed(&self) -> Option<u32> {
        tcgetattr(&self.master).ok().map(|modes| modes.output_speed())
    }

    /// Whether the other side stops sending when it is held off.
    #[must_use]
    pub fn obeys_rts(&self) -> Option<bool> {
        let modes = tcgetattr(&self.master).ok()?;
        Some(modes.control_modes.contains(ControlModes::CRTSCTS))
    }

    /// Waits up to a time for something to come.
    pub fn wait(&self, time: Duration) {
        if let Ok(time) = Timespec::try_from(time) {
            // Errors mean that nobody is there.
            let _ = poll(&mut [PollFd::new(&self.master, PollFlags::IN)], Some(&time));
        }
    }
}
