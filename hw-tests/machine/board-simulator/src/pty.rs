//! A pseudo-terminal as the board's serial line. The host opens its path like a serial device.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use rcflash_transport::platform::pty::Pty;
use rcflash_transport::time::{Duration, Instant};

use super::line::SerialLine;
use super::packets::{PacketTimer, UsbPacketing};

/// The characters buffered for the host; the oldest are lost beyond, as on a real line.
const MAX_UNREAD: usize = 1 << 16;

/// The master side of a pseudo-terminal.
pub struct PtyLine {
    pty: Pty,
    baud: u32,
    speed_matches: bool,
    arrived: VecDeque<u8>,
    unread: VecDeque<u8>,
    packets: PacketTimer,
    began: Instant,
}

impl PtyLine {
    /// Opens a pseudo-terminal in raw mode that runs at `baud`.
    ///
    /// # Errors
    /// Returns the error of the operating system, for example if no more pseudo-terminals are
    /// available.
    pub fn open(baud: u32) -> io::Result<Self> {
        Ok(Self {
            pty: Pty::open(baud)?,
            baud,
            speed_matches: true,
            arrived: VecDeque::new(),
            unread: VecDeque::new(),
            packets: PacketTimer::default(),
            began: Instant::now(),
        })
    }

    /// Sets how the simulated adapter delivers characters.
    #[must_use]
    pub fn with_packets(self, packets: UsbPacketing) -> Self {
        Self { packets: PacketTimer::new(packets), ..self }
    }

    /// Returns the path that the host opens.
    pub fn path(&self) -> &Path {
        self.pty.path()
    }

    fn read_some(&mut self) {
        let mut buffer = [0; 256];
        if let Some(count) = self.pty.read(&mut buffer) {
            self.speed_matches = self.pty.baud().is_none_or(|speed| speed == self.baud);
            self.arrived.extend(&buffer[..count]);
        }
    }

    /// Delivers the characters that the adapter would have delivered by now.
    fn write_some(&mut self) {
        let now = self.began.elapsed();
        while !self.unread.is_empty() {
            let limit = self.packets.packet_length(self.unread.len(), now);
            let front = self.unread.as_slices().0;
            let front = &front[..front.len().min(limit)];
            let count = if front.is_empty() { 0 } else { self.pty.write(front) };
            if count == 0 {
                return;
            }
            self.unread.drain(..count);
            self.packets.restart(now);
        }
        self.packets.expire(now);
    }
}

impl SerialLine for PtyLine {
    fn receive(&mut self) -> Option<u8> {
        if self.arrived.is_empty() {
            self.read_some();
        }
        self.arrived.pop_front()
    }

    fn transmit(&mut self, value: u8) {
        if self.unread.len() == MAX_UNREAD {
            self.unread.pop_front();
        }
        self.unread.push_back(value);
    }

    fn speed_matches(&self) -> bool {
        self.speed_matches
    }

    fn obeys_rts(&self) -> bool {
        self.pty.uses_rts_cts().unwrap_or(true)
    }

    fn flush(&mut self, wait: Option<Duration>) {
        self.write_some();
        if let Some(wait) = wait
            && self.arrived.is_empty()
        {
            self.pty.wait_readable(wait);
        }
    }
}
