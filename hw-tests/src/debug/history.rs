//! The past of a board: copies of it at some moments, from which any other is reached by going forward again.

use crate::sim::{QueueLine, SimBoard};

/// Turns between two copies at first.
const FIRST_INTERVAL: u64 = 2_000;
/// Most copies; then every other one goes, and the interval doubles.
const MOST: usize = 64;

/// A board at a moment.
pub(super) struct Moment {
    /// How many turns it has made.
    pub(super) turn: u64,
    pub(super) board: SimBoard<QueueLine>,
}

/// Copies of a board, in the order of time.
pub(super) struct History {
    moments: Vec<Moment>,
    interval: u64,
}

impl History {
    pub(super) fn new() -> Self {
        Self { moments: Vec::new(), interval: FIRST_INTERVAL }
    }

    /// Whether it is time for another copy.
    pub(super) fn wants(&self, turn: u64) -> bool {
        self.moments.last().is_none_or(|last| turn >= last.turn + self.interval)
    }

    pub(super) fn keep(&mut self, turn: u64, board: SimBoard<QueueLine>) {
        self.moments.push(Moment { turn, board });
        if self.moments.len() > MOST {
            let mut at = 0;
            self.moments.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.interval *= 2;
        }
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

    /// What was changed by hand did not come about by itself: nothing before it can be reached by going forward.
    pub(super) fn forget(&mut self) {
        *self = Self::new();
    }
}
