//! The hits of breakpoints and watchpoints. They go back with time: the count at a step is that of
//! the hits up to it.

/// When a hit occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// At this step of a timeline.
    Step(u64),
    /// Now, on a target, which does not go back.
    Live,
}

/// Maximum number of steps recorded for a breakpoint; beyond it the older half is only counted.
const MAX_RECORDED_HITS: usize = 1 << 20;

/// The hits of a breakpoint or watchpoint.
#[derive(Debug, Default)]
pub(super) struct HitLog {
    /// Hits on a target.
    live: u32,
    /// Hits before those in `steps`.
    forgotten: u32,
    /// The steps of hits on a timeline, in ascending order.
    steps: Vec<u64>,
}

impl HitLog {
    /// Records a hit, unless it was recorded before the board went back; returns its number.
    pub(super) fn record(&mut self, moment: Moment) -> u32 {
        match moment {
            Moment::Live => self.live = self.live.saturating_add(1),
            Moment::Step(step) => {
                let index = self.steps.partition_point(|recorded| *recorded < step);
                if self.steps.get(index) != Some(&step) {
                    self.steps.insert(index, step);
                }
                if self.steps.len() > MAX_RECORDED_HITS {
                    self.steps.drain(..MAX_RECORDED_HITS / 2);
                    self.forgotten = self.forgotten.saturating_add(MAX_RECORDED_HITS as u32 / 2);
                }
            }
        }
        self.count(moment)
    }

    /// The number of hits up to a moment.
    pub(super) fn count(&self, moment: Moment) -> u32 {
        match moment {
            Moment::Live => self.live,
            Moment::Step(step) => {
                let recorded = self.steps.partition_point(|recorded| *recorded <= step);
                self.forgotten.saturating_add(recorded as u32)
            }
        }
    }

    /// Forgets the hits after a step.
    pub(super) fn forget_after(&mut self, step: u64) {
        self.steps.truncate(self.steps.partition_point(|recorded| *recorded <= step));
    }
}
