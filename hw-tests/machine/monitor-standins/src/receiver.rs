//! A serial receiver with a finite buffer that is emptied slowly, and a host that may obey RTS.
//!
//! Characters are timed as on the line: those read at once arrive one character time apart. So
//! losses do not depend on the load of the machine that runs the test.

use std::collections::VecDeque;
use std::time::Duration;

/// The properties of a serial chip and its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiverSpec {
    /// The size of the buffer in characters.
    pub buffer: usize,
    /// RTS rises at the first number of buffered characters, and falls below the second; `None` if
    /// the driver does not use RTS.
    pub rts: Option<(usize, usize)>,
}

/// The state of a receiver. Times are relative to its start.
#[derive(Debug)]
pub struct Receiver {
    receiver_spec: ReceiverSpec,
    /// The duration of a character on the line.
    character: Duration,
    host_obeys_rts: bool,
    /// When the latest character was complete.
    arrived: Duration,
    /// When each buffered character will be removed.
    leaves: VecDeque<Duration>,
    /// When the monitor is free again.
    free: Duration,
    /// The number of lost characters.
    lost: u64,
}

impl Receiver {
    /// Creates a receiver at `baud`, with 10 bits per character.
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

    /// Returns the number of lost characters.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Sets whether the host obeys RTS from now on.
    pub fn set_host_obeys_rts(&mut self, obeys: bool) {
        self.host_obeys_rts = obeys;
    }

    /// Returns when the next character arrives that the host sends so that it would arrive at
    /// `now`: later if the line is in use, or while RTS suspends the host.
    pub fn arrival(&mut self, now: Duration) -> Duration {
        let at = now.max(self.arrived + self.character);
        let (true, Some((stop, go))) = (self.host_obeys_rts, self.receiver_spec.rts) else {
            return at;
        };
        self.remove_processed(at);
        if self.leaves.len() < stop {
            return at;
        }
        at.max(self.leaves[self.leaves.len() - go])
    }

    /// Receives a character at `now` for [`Self::process`]; returns `false` if it is lost.
    pub fn receive(&mut self, now: Duration) -> bool {
        let at = self.arrival(now);
        self.arrived = at;
        self.remove_processed(at);
        if self.leaves.len() >= self.receiver_spec.buffer {
            self.lost += 1;
            return false;
        }
        self.free = self.free.max(at);
        self.leaves.push_back(self.free);
        true
    }

    /// Processes the last character for `busy`; returns when `reply` characters begin.
    pub fn process(&mut self, busy: Duration, reply: usize) -> Duration {
        let begins = self.free + busy;
        self.free = begins + self.character * reply as u32;
        begins
    }

    /// Returns the duration of a character on the line.
    pub fn character_time(&self) -> Duration {
        self.character
    }

    /// Removes the characters that the monitor has processed by `at`.
    fn remove_processed(&mut self, at: Duration) {
        while self.leaves.front().is_some_and(|leaves| *leaves <= at) {
            self.leaves.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Duration = Duration::from_micros(300);

    /// Sends a burst to a receiver with a buffer of 32 characters, one of which is processed every
    /// 300 us. Returns the number lost.
    fn lost_of(count: usize, obeys: bool, pause: Duration) -> u64 {
        let receiver_spec = ReceiverSpec { buffer: 32, rts: Some((16, 8)) };
        let mut receiver = Receiver::new(receiver_spec, 115_200, obeys);
        for index in 0..count {
            if receiver.receive(pause * index as u32) {
                receiver.process(BUSY, 0);
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
