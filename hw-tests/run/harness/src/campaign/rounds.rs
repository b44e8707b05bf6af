//! The rounds of a run: one, or as many as the time or the number of cases of a soak run allows.

use rcflash_transport::time::Instant;

use super::RunConfig;
use crate::results::Clock;
use crate::select::shuffle;

/// The rounds of a run, in each of which every case has one verdict.
pub(super) struct Rounds {
    clock: Clock,
    /// No case starts from this time on.
    deadline: Option<Instant>,
    /// The number of cases that are left to run in all rounds; `None` if only time limits them.
    remaining: Option<u64>,
    /// Shuffles the cases again for each round.
    seed: Option<u64>,
}

impl Rounds {
    /// Returns the rounds of a run that starts now.
    pub(super) fn new(config: &RunConfig, clock: Clock) -> Self {
        let deadline = config.time.map(|time| clock() + time);
        Self { clock, deadline, remaining: config.count, seed: config.seed }
    }

    /// Returns `true` if no more cases may start.
    pub(super) fn is_past_deadline(&self) -> bool {
        self.deadline.is_some_and(|deadline| (self.clock)() >= deadline)
    }

    /// Returns how many of `cases` the next round runs.
    pub(super) fn next_len(&self, cases: usize) -> usize {
        let remaining = self.remaining.and_then(|remaining| usize::try_from(remaining).ok());
        remaining.map_or(cases, |remaining| remaining.min(cases))
    }

    /// Ends a round in which `started` cases were started. Returns `true` if another follows.
    pub(super) fn has_next(&mut self, started: usize) -> bool {
        let is_soak = self.remaining.is_some() || self.deadline.is_some();
        self.remaining = self.remaining.map(|remaining| remaining - started as u64);
        is_soak && started > 0 && self.remaining != Some(0) && !self.is_past_deadline()
    }

    /// Puts the cases into the order of the next round.
    pub(super) fn reorder(&mut self, order: &mut [usize]) {
        if let Some(seed) = &mut self.seed {
            *seed = seed.wrapping_add(1);
            shuffle(order, *seed);
        }
    }
}
