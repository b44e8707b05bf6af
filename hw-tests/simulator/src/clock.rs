//! The board's clock while instructions run.

use std::cell::Cell;

/// A time, counted down to the one at which the board has to look up from its instructions: so an
/// instruction pays for one subtraction, and for the test of its result.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    end: Cell<u64>,
    left: Cell<i64>,
}

impl Clock {
    /// The start of the running instruction, in T-states.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        self.end.get().wrapping_sub(self.left.get() as u64)
    }

    /// Sets the time, and that the board has to look up after the next instruction.
    pub(super) fn set(&self, now: u64) {
        self.start(now, now);
    }

    /// Sets the time, and the one at which the board has to look up.
    pub(super) fn start(&self, now: u64, end: u64) {
        self.end.set(end);
        self.left.set(end.wrapping_sub(now) as i64);
    }

    /// Has the board look up after the running instruction.
    pub(super) fn stop(&self) {
        self.set(self.now());
    }

    /// Lets time pass; whether instructions go on.
    #[inline(always)]
    pub(super) fn tick(&self, t_states: u32) -> bool {
        let left = self.left.get() - i64::from(t_states);
        self.left.set(left);
        left > 0
    }
}
