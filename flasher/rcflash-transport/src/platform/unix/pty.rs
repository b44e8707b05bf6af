//! Pseudo-terminals, by which a simulated board appears as a serial device.

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
    /// Kept open, so that the settings survive when the host closes and reopens the device.
    _slave: OwnedFd,
    path: PathBuf,
}

impl Pty {
    /// Opens a pseudo-terminal in raw mode at `baud`, with RTS/CTS flow control.
    ///
    /// # Errors
    /// Returns the system's error, usually that there are too many pseudo-terminals.
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

    /// Returns the path of the slave side.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads received bytes without waiting; `None` if there are none or no process has it open.
    pub fn read(&self, buffer: &mut [u8]) -> Option<usize> {
        rustix::io::read(&self.master, buffer).ok()
    }

    /// Writes without waiting; returns the number of bytes accepted.
    pub fn write(&self, bytes: &[u8]) -> usize {
        rustix::io::write(&self.master, bytes).unwrap_or(0)
    }

    /// Returns the baud rate set by the other side.
    pub fn baud(&self) -> Option<u32> {
        tcgetattr(&self.master).ok().map(|modes| modes.output_speed())
    }

    /// Returns `true` if the other side has RTS/CTS flow control enabled.
    pub fn uses_rts_cts(&self) -> Option<bool> {
        let modes = tcgetattr(&self.master).ok()?;
        Some(modes.control_modes.contains(ControlModes::CRTSCTS))
    }

    /// Waits up to `timeout` for input.
    pub fn wait_readable(&self, timeout: Duration) {
        if let Ok(timeout) = Timespec::try_from(timeout) {
            // An error means that no process has the other side open.
            let _ = poll(&mut [PollFd::new(&self.master, PollFlags::IN)], Some(&timeout));
        }
    }
}
