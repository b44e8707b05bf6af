//! The rounds of a run: one, or as many as the time or the number of cases of a soak run allows.

use rcflash_transport::time::Instant;

use crate::results::Clock;
use crate::select::shuffle;

/// The rounds of a run, in each of which every case has one verdict.
#[derive(Clone)]
pub struct Rounds {
    pub(crate) clock: Clock,
    /// No case starts from this time on.
    pub(crate) deadline: Option<Instant>,
    /// The number of cases that are left to run in all rounds; `None` if only time limits them.
    pub(crate) remaining: Option<u64>,
    /// Shuffles the cases again for each round.
    pub(crate) seed: Option<u64>,
}

impl Rounds {
    /// Returns `true` if no more cases may start.
    #[must_use]
    pub(crate) fn is_past_deadline(&self) -> bool {
        self.deadline.is_some_and(|deadline| (self.clock)() >= deadline)
    }

    /// Returns how many of `cases` the next round runs.
    #[must_use]
    pub(crate) fn next_len(&self, cases: usize) -> usize {
        let remaining = self.remaining.and_then(|remaining| usize::try_from(remaining).ok());
        remaining.map_or(cases, |remaining| remaining.min(cases))
    }

    /// Ends a round in which `started` cases were started. Returns `true` if another follows.
    pub(crate) fn has_next(&mut self, started: usize) -> bool {
        let is_soak = self.remaining.is_some() || self.deadline.is_some();
        self.remaining = self.remaining.map(|remaining| remaining - started as u64);
        is_soak && self.remaining != Some(0) && !self.is_past_deadline()
    }

    /// Puts the cases into the order of the next round.
    pub(crate) fn reorder<T>(&mut self, order: &mut [T]) {
        if let Some(seed) = &mut self.seed {
            *seed = seed.wrapping_add(1);
            shuffle(order, *seed);
        }
    }
}
