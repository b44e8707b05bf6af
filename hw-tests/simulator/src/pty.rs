//! A pseudo-terminal as the board's line: the host opens its path like any serial device.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use host_platform::pty::Pty;
use rcflash_transport::time::{Duration, Instant};

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
    pty: Pty,
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
        Ok(Self {
            pty: Pty::open(baud)?,
            baud,
            speed_matches: true,
            arrived: VecDeque::new(),
            unread: VecDeque::new(),
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
        self.pty.path()
    }

    fn read_some(&mut self) {
        let mut buffer = [0; 256];
        if let Some(count) = self.pty.read(&mut buffer) {
            self.speed_matches = self.pty.speed().is_none_or(|speed| speed == self.baud);
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
            let count = self.pty.write(front);
            if count == 0 {
                return;
            }
            self.unread.drain(..count);
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
        self.pty.obeys_rts().unwrap_or(true)
    }

    fn flush(&mut self, wait: Option<Duration>) {
        self.write_some();
        if let Some(wait) = wait
            && self.arrived.is_empty()
        {
            self.pty.wait(wait);
        }
    }
}
