//! A receiver that loses characters as real ones do: a buffer that is emptied slowly, and a host
//! that may obey RTS.
//!
//! Characters are timed as the line would bring them, not as this computer does: what comes in one
//! go arrives one character time apart. So what is lost does not depend on the load of the machine
//! that runs the test.

use std::collections::VecDeque;
use std::time::Duration;

/// Reception of characters by a serial chip and its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiverSpec {
    /// Characters that can wait.
    pub buffer: usize,
    /// RTS rises when so many wait, and falls again when fewer than the second number do; `None`
    /// when the driver never touches it.
    pub rts: Option<(usize, usize)>,
}

/// The receiver's state. Times count from its start.
#[derive(Debug)]
pub struct Receiver {
    receiver_spec: ReceiverSpec,
    /// The time of a character on the line.
    character: Duration,
    host_obeys_rts: bool,
    /// When the latest character was complete.
    arrived: Duration,
    /// When each waiting character will be taken out.
    leaves: VecDeque<Duration>,
    /// When the monitor is free again.
    free: Duration,
    /// Characters lost so far.
    lost: u64,
}

impl Receiver {
    /// A receiver at `baud`, 10 bits a character.
    #[must_use]
    pub fn new(receiver_spec: ReceiverSpec, baud: u32, host_obeys_rts: bool) -> Self {
        Self {
            receiver_spec,
            character: Duration::from_secs(10) / baud.max(1),
            host_obeys_rts,
            arrived: Duration::ZERO,
            leaves: VecDeque::new(),
            free: Duration::ZERO,
            lost: 0,
        }
    }

    /// Characters lost so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// A character reaches this computer at `now`. Whether the monitor gets it; if so,
    /// [`Self::work`] has to follow.
    pub fn arrive(&mut self, now: Duration) -> bool {
        let mut at = now.max(self.arrived + self.character);
        if let (true, Some((stop, go))) = (self.host_obeys_rts, self.receiver_spec.rts) {
            self.forget(at);
            if self.leaves.len() >= stop {
                at = at.max(self.leaves[self.leaves.len() - go]);
            }
        }
        self.arrived = at;
        self.forget(at);
        if self.leaves.len() >= self.receiver_spec.buffer {
            self.lost += 1;
            return false;
        }
        self.free = self.free.max(at);
        self.leaves.push_back(self.free);
        true
    }

    /// Returns how long the monitor was busy with the character that has just arrived, and how much
    /// it then said to it. When it began to say that.
    pub fn work(&mut self, busy: Duration, said: usize) -> Duration {
        let begins = self.free + busy;
        self.free = begins + self.character * said as u32;
        begins
    }

    /// The time of a character on the line.
    #[must_use]
    pub fn character(&self) -> Duration {
        self.character
    }

    /// Forgets what the monitor had taken out by `at`.
    fn forget(&mut self, at: Duration) {
        while self.leaves.front().is_some_and(|leaves| *leaves <= at) {
            self.leaves.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Duration = Duration::from_micros(300);

    /// Sends a burst to a receiver with a buffer of 32 that is emptied every 300 us, and counts
    /// what is lost.
    fn lost_of(count: usize, obeys: bool, pause: Duration) -> u64 {
        let receiver_spec = ReceiverSpec { buffer: 32, rts: Some((16, 8)) };
        let mut receiver = Receiver::new(receiver_spec, 115_200, obeys);
        for index in 0..count {
            if receiver.arrive(pause * index as u32) {
                receiver.work(BUSY, 0);
            }
        }
        receiver.lost()
    }

    #[test]
    fn a_burst_beyond_the_buffer_is_lost_without_flow_control_only() {
        // While 44 characters arrive in 3.82 ms, 13 leave: 31 wait. While 60 do in 5.21 ms, 18
        // leave: 10 are lost.
        assert_eq!(lost_of(44, false, Duration::ZERO), 0);
        let lost = lost_of(60, false, Duration::ZERO);
        assert!((8..=12).contains(&lost), "{lost}");
        assert_eq!(lost_of(1000, true, Duration::ZERO), 0);
        assert_eq!(lost_of(1000, false, BUSY), 0);
    }
}
