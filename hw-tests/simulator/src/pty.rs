//! A pseudo-terminal as the board's line: the host opens its path like any serial device.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{ControlModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::line::Line;

/// Characters of the board kept for a host that does not read; then the oldest are lost, as on a
/// real line.
const UNREAD_LIMIT: usize = 1 << 16;

/// Delivery of characters from an adapter to the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Packets {
    /// Each as it comes.
    #[default]
    None,
    /// In packets of 62, or what there is after 16 ms, as FTDI's USB adapters do.
    Usb,
}

/// Characters of a packet of USB: 64 bytes without two of status.
const PACKET: usize = 62;
/// The latency timer, after which a packet goes out that is not full.
const LATENCY: Duration = Duration::from_millis(16);

/// The master side of a pseudo-terminal.
pub struct PtyLine {
    master: OwnedFd,
    /// Kept open, so that a host that closes the line and comes back finds it as it was.
    _slave: OwnedFd,
    path: PathBuf,
    baud: u32,
    speed_matches: bool,
    arrived: VecDeque<u8>,
    unread: VecDeque<u8>,
    packets: Packets,
    /// When the last packet went out.
    handed: Instant,
}

impl PtyLine {
    /// Opens a pseudo-terminal in raw mode that runs at `baud`.
    ///
    /// # Errors
    /// What the system said, mostly that there are too many of them.
    pub fn open(baud: u32) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
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
        let arrived = VecDeque::new();
        let unread = VecDeque::new();
        Ok(Self {
            master,
            _slave: slave,
            path,
            baud,
            speed_matches: true,
            arrived,
            unread,
            packets: Packets::None,
            handed: Instant::now(),
        })
    }

    /// The same line behind an adapter that hands characters over like this.
    #[must_use]
    pub fn with_packets(self, packets: Packets) -> Self {
        Self { packets, ..self }
    }

    /// The path to open.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn read_some(&mut self) {
        let mut buffer = [0; 256];
        if let Ok(count) = rustix::io::read(&self.master, &mut buffer) {
            self.speed_matches =
                tcgetattr(&self.master).map_or(true, |modes| modes.output_speed() == self.baud);
            self.arrived.extend(&buffer[..count]);
        }
    }

    /// Hands over what the adapter would by now.
    fn write_some(&mut self) {
        while !self.unread.is_empty() {
            let is_due = self.handed.elapsed() >= LATENCY;
            let most = match self.packets {
                Packets::None => usize::MAX,
                Packets::Usb if self.unread.len() < PACKET && !is_due => return,
                Packets::Usb => PACKET,
            };
            let front = self.unread.as_slices().0;
            let front = &front[..front.len().min(most)];
            match rustix::io::write(&self.master, front) {
                Ok(count) if count > 0 => drop(self.unread.drain(..count)),
                _ => return,
            }
            self.handed = Instant::now();
        }
        if self.packets == Packets::Usb && self.handed.elapsed() >= LATENCY {
            // The timer runs on while nothing is there.
            self.handed = Instant::now();
        }
    }
}

impl Line for PtyLine {
    fn receive(&mut self) -> Option<u8> {
        if self.arrived.is_empty() {
            self.read_some();
        }
        self.arrived.pop_front()
    }

    fn transmit(&mut self, value: u8) {
        if self.unread.len() == UNREAD_LIMIT {
            self.unread.pop_front();
        }
        self.unread.push_back(value);
    }

    fn speed_matches(&self) -> bool {
        self.speed_matches
    }

    fn obeys_rts(&self) -> bool {
        let obeys = |modes: Termios| modes.control_modes.contains(ControlModes::CRTSCTS);
        tcgetattr(&self.master).map_or(true, obeys)
    }

    fn flush(&mut self, wait: Option<Duration>) {
        self.write_some();
        if let Some(wait) = wait
            && self.arrived.is_empty()
            && let Ok(wait) = Timespec::try_from(wait)
        {
            // Errors mean that nobody is there; the board goes on alone.
            let _ = poll(&mut [PollFd::new(&self.master, PollFlags::IN)], Some(&wait));
        }
    }
}
