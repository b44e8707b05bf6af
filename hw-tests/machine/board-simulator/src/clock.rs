//! The board's clock while a run of instructions is executed.

use std::cell::Cell;

/// The time in T-states, stored as a countdown to the time at which the board must update its
/// devices. So each instruction costs one subtraction and one test.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    end: Cell<u64>,
    left: Cell<i64>,
}

impl Clock {
    /// Returns the start of the running instruction, in T-states.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        self.end.get().wrapping_sub(self.left.get() as u64)
    }

    /// Sets the time, and stops after the next instruction.
    pub(super) fn set(&self, now: u64) {
        self.start(now, now);
    }

    /// Sets the time, and the time at which to stop.
    pub(super) fn start(&self, now: u64, end: u64) {
        self.end.set(end);
        self.left.set(end.wrapping_sub(now) as i64);
    }

    /// Stops after the running instruction.
    pub(super) fn stop(&self) {
        self.set(self.now());
    }

    /// Adds the duration of an instruction. Returns `true` if the run continues.
    #[inline(always)]
    pub(super) fn tick(&self, t_states: u32) -> bool {
        let left = self.left.get() - i64::from(t_states);
        self.left.set(left);
        left > 0
    }
}
