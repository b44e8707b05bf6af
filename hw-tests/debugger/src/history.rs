//! The past of a board: copies of it at some moments, from which any other is reached by going
//! forward again, and what it was sent meanwhile.

use super::calls::CallStack;
use board_simulator::{QueueLine, SimBoard};

/// Turns between two copies at first.
const FIRST_INTERVAL: u64 = 2_000;
/// Turns between two copies at most, so that a step back never takes long.
const LONGEST_INTERVAL: u64 = 128_000;
/// Most copies.
const MOST: usize = 64;

/// A board at a moment, with what the debugger keeps beside it.
pub(super) struct Moment {
    /// The number of turns that it has made.
    pub(super) turn: u64,
    pub(super) board: SimBoard<QueueLine>,
    pub(super) calls: CallStack,
    pub(super) interrupted: Option<u16>,
    pub(super) resumed: bool,
    /// The number of parcels that it had been sent.
    pub(super) delivered: usize,
}

/// A parcel of bytes that the board was sent before a turn.
struct Sent {
    turn: u64,
    bytes: Vec<u8>,
}

/// Copies of a board in the order of time, and what it was sent.
pub(super) struct History {
    moments: Vec<Moment>,
    interval: u64,
    sent: Vec<Sent>,
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl History {
    pub(super) fn new() -> Self {
        Self { moments: Vec::new(), interval: FIRST_INTERVAL, sent: Vec::new() }
    }

    /// Whether it is time for another copy.
    pub(super) fn wants(&self, turn: u64) -> bool {
        self.moments.last().is_none_or(|last| turn >= last.turn + self.interval)
    }

    /// Keeps a copy. When there are too many, the one goes whose absence lengthens the way to a
    /// turn least in relation to its age: the near past stays dense, since that is where people go
    /// back to.
    pub(super) fn keep(&mut self, moment: Moment) {
        let now = moment.turn;
        self.moments.push(moment);
        if self.moments.len() <= MOST {
            return;
        }
        let cost = |at: &usize| {
            let gap = self.moments[at + 1].turn - self.moments[at - 1].turn;
            let age = now - self.moments[*at].turn;
            gap.saturating_mul(1024) / age.max(1)
        };
        // The first copy is where the known past begins, the last one where it ends: both stay.
        if let Some(at) = (1..self.moments.len() - 1).min_by_key(cost) {
            self.moments.remove(at);
        }
        self.interval = (self.interval + self.interval / 8).min(LONGEST_INTERVAL);
    }

    /// The last copy that is not younger than `turn`.
    pub(super) fn before(&self, turn: u64) -> Option<&Moment> {
        let after = self.moments.partition_point(|moment| moment.turn <= turn);
        self.moments.get(after.checked_sub(1)?)
    }

    /// The first turn that can be gone back to.
    pub(super) fn start(&self) -> Option<u64> {
        self.moments.first().map(|moment| moment.turn)
    }

    /// Forgets the past: what was changed by hand did not come about by itself, and nothing before
    /// it can be reached by going forward.
    pub(super) fn forget(&mut self) {
        *self = Self::new();
    }

    /// Takes note of bytes that the board gets before its next turn, of which it has had
    /// `delivered` parcels. What it had later, before a way back, belongs to another future, and so
    /// do the copies of that.
    pub(super) fn send(&mut self, turn: u64, delivered: usize, bytes: &[u8]) {
        self.sent.truncate(delivered);
        self.moments.retain(|moment| moment.turn <= turn && moment.delivered <= delivered);
        self.sent.push(Sent { turn, bytes: bytes.to_vec() });
    }

    /// The next parcel if it is due at a turn, for a board that has had `delivered` of them.
    pub(super) fn due(&self, turn: u64, delivered: usize) -> Option<&[u8]> {
        let next = self.sent.get(delivered).filter(|sent| sent.turn <= turn)?;
        Some(&next.bytes)
    }
}
