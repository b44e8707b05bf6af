//! How a serial adapter groups the characters that it delivers to the host. Times are relative to
//! the start of the line, so that real and virtual clocks work alike.

use std::time::Duration;

/// How the serial adapter delivers characters to the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UsbPacketing {
    /// Each character at once.
    #[default]
    None,
    /// In packets of 62 characters, or fewer after 16 ms, as FTDI's USB adapters do.
    Usb,
}

/// The characters in a full USB packet: 64 bytes, two of which are status.
const PACKET_CHARACTERS: usize = 62;
/// The adapter's periodic latency timer, after which a partial packet is sent.
const LATENCY_TIMER: Duration = Duration::from_millis(16);

/// Decides when an adapter delivers the characters that it has buffered.
#[derive(Debug, Clone, Default)]
pub struct PacketTimer {
    packets: UsbPacketing,
    last_packet: Duration,
}

impl PacketTimer {
    /// Creates a timer that was started at the start of the line.
    #[must_use]
    pub fn new(packets: UsbPacketing) -> Self {
        Self { packets, last_packet: Duration::ZERO }
    }

    /// Returns how many of `buffered` characters are delivered at `now` in one packet.
    #[must_use]
    pub fn packet_length(&self, buffered: usize, now: Duration) -> usize {
        match self.packets {
            UsbPacketing::None => buffered,
            UsbPacketing::Usb if buffered < PACKET_CHARACTERS && now < self.expiry() => 0,
            UsbPacketing::Usb => buffered.min(PACKET_CHARACTERS),
        }
    }

    /// Restarts the timer after a packet was sent at `now`.
    pub fn restart(&mut self, now: Duration) {
        self.last_packet = now;
    }

    /// Restarts the timer if it has expired by `now` without characters.
    pub fn expire(&mut self, now: Duration) {
        while self.packets == UsbPacketing::Usb && now >= self.expiry() {
            self.last_packet = self.expiry();
        }
    }

    /// Returns when a partial packet is delivered.
    #[must_use]
    pub fn expiry(&self) -> Duration {
        self.last_packet + LATENCY_TIMER
    }
}
