//! The far end of the board's serial line, as a trait, and its in-process implementation.

use std::collections::VecDeque;
use std::time::Duration;

/// The far end of a board's serial line: the host with its adapter.
pub trait SerialLine {
    /// Returns the next character that the host has sent, if any.
    fn receive(&mut self) -> Option<u8>;

    /// Delivers a character that the board has sent.
    fn transmit(&mut self, value: u8);

    /// Returns `true` if the host uses the board's speed. If not, characters are corrupted.
    fn speed_matches(&self) -> bool {
        true
    }

    /// Returns `true` if the host stops sending while the board's /RTS is high.
    fn obeys_rts(&self) -> bool {
        true
    }

    /// Returns `true` if the host asserts DTR, which is /RESET on boards with that connection.
    fn holds_reset(&self) -> bool {
        false
    }

    /// Delivers buffered characters; waits up to `wait` for a character of the host.
    fn flush(&mut self, _wait: Option<Duration>) {}
}

/// Returns a character as it is received by the side that uses another speed. Applying it twice
/// does not restore the character.
pub fn corrupt_by_baud_mismatch(character: u8) -> u8 {
    character.rotate_left(3) ^ 0xA6
}

/// A line within the process: a queue for each direction.
#[derive(Debug, Clone, Default)]
pub struct QueueLine {
    /// The bytes sent by the host that the board has not yet begun to receive.
    pub to_board: VecDeque<u8>,
    /// The bytes sent by the board.
    pub from_board: Vec<u8>,
    /// Whether the host sends while the board's /RTS is high.
    pub ignores_rts: bool,
    /// Whether the host asserts DTR.
    pub dtr: bool,
    /// Whether the host sends a break, received as one character with a framing error.
    pub low: bool,
    break_delivered: bool,
    is_low: bool,
}

impl SerialLine for QueueLine {
    fn receive(&mut self) -> Option<u8> {
        self.is_low = self.low && !self.break_delivered;
        self.break_delivered = self.low;
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
        !self.ignores_rts
    }

    fn holds_reset(&self) -> bool {
        self.dtr
    }
}
