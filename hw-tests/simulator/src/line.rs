//! The far end of the board's serial line.

use std::collections::VecDeque;
use std::time::Duration;

/// The other end of the line.
pub trait Line {
    /// The next character that the host has sent, if there is one.
    fn receive(&mut self) -> Option<u8>;

    /// Takes a character that the board has sent.
    fn transmit(&mut self, value: u8);

    /// Whether the host's speed matches the board's; if not, what it sends arrives as garbage.
    fn speed_matches(&self) -> bool {
        true
    }

    /// Whether the host stops sending while the board holds it off.
    fn obeys_rts(&self) -> bool {
        true
    }

    /// Whether the host holds DTR, and so /RESET on a board where that is wired.
    fn holds_reset(&self) -> bool {
        false
    }

    /// Passes on what was held back. With `wait`, also waits up to that long for something to
    /// arrive.
    fn flush(&mut self, _wait: Option<Duration>) {}
}

/// Returns a character as it is received when the two sides differ in speed;
/// there and back it does not become right again.
#[must_use]
pub fn garble(character: u8) -> u8 {
    character.rotate_left(3) ^ 0xA6
}

/// A line within the process: queues in both directions.
#[derive(Debug, Clone, Default)]
pub struct QueueLine {
    /// The bytes that the host has sent and the board not yet begun to receive.
    pub to_board: VecDeque<u8>,
    /// The bytes that the board has sent.
    pub from_board: Vec<u8>,
    /// Whether the host sends though the board holds it off.
    pub disobeys_rts: bool,
    /// Whether the host holds DTR.
    pub dtr: bool,
    /// Whether the host holds the line low, which the board hears as one character without a stop
    /// bit.
    pub low: bool,
    low_heard: bool,
    is_low: bool,
}

impl Line for QueueLine {
    fn receive(&mut self) -> Option<u8> {
        self.is_low = self.low && !self.low_heard;
        self.low_heard = self.low;
        match (self.is_low, self.low) {
            (true, _) => Some(0),
            (false, true) => None,
            (false, false) => self.to_board.pop_front(),
        }
    }

    fn speed_matches(&self) -> bool {
        !self.is_low
    }

    fn transmit(&mut self, value: u8) {
        self.from_board.push(value);
    }

    fn obeys_rts(&self) -> bool {
        !self.disobeys_rts
    }

    fn holds_reset(&self) -> bool {
        self.dtr
    }
}
