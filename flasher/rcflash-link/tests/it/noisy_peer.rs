//! A transport that sends bytes regardless of requests, and then nothing.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use rcflash_transport::Transport;

/// Duration of a character at 115,200 baud.
const CHARACTER: Duration = Duration::from_micros(87);

/// Sends bytes regardless of requests, and then nothing.
pub(crate) struct NoisyPeer {
    pub(crate) heard: VecDeque<u8>,
    pub(crate) now: Instant,
}

impl Transport for NoisyPeer {
    fn name(&self) -> &str {
        "a noisy peer"
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let count = self.heard.len().min(buffer.len()).min(50);
        self.now += if count == 0 { timeout } else { CHARACTER * count as u32 };
        for (place, byte) in buffer.iter_mut().zip(self.heard.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        Ok(())
    }
}
