//! A schedule of injected faults that follows from a seed.

use std::fmt;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// A fault that is injected into the line or the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InjectedFault {
    /// A character is lost.
    Drop,
    /// One bit of a character is flipped.
    Flip,
    /// A character arrives twice.
    Duplicate,
    /// The bytes in flight arrive late.
    Delay,
    /// Characters arrive that were not sent.
    Insert,
    /// Several characters in a row are lost, as in a receiver overrun.
    Overrun,
    /// The line to the board is held low.
    Break,
    /// The device disconnects, and is back after some attempts to open it.
    Disconnect,
    /// The board is reset.
    Reset,
    /// The board neither receives nor sends until it is reset.
    Stuck,
    /// Another application runs on the board: it reports other results and another build id.
    WrongFirmware,
}

/// Each fault, with its name.
const FAULTS: [(InjectedFault, &str); 11] = [
    (InjectedFault::Drop, "drop"),
    (InjectedFault::Flip, "flip"),
    (InjectedFault::Duplicate, "duplicate"),
    (InjectedFault::Delay, "delay"),
    (InjectedFault::Insert, "insert"),
    (InjectedFault::Overrun, "overrun"),
    (InjectedFault::Break, "break"),
    (InjectedFault::Disconnect, "disconnect"),
    (InjectedFault::Reset, "reset"),
    (InjectedFault::Stuck, "stuck"),
    (InjectedFault::WrongFirmware, "wrong firmware"),
];

impl fmt::Display for InjectedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(FAULTS[*self as usize].1)
    }
}

impl InjectedFault {
    /// The number of faults that disturb only the line, and need no recovery.
    const LINE_FAULTS: usize = 7;

    /// Returns `true` if the harness must recover the board after this fault.
    pub(super) fn needs_recovery(self) -> bool {
        self as usize >= Self::LINE_FAULTS
    }
}

/// How often each fault was injected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// The seed of the schedule.
    pub seed: u64,
    counts: [u64; FAULTS.len()],
}

impl FaultCounts {
    /// Returns how often each fault was injected.
    pub fn by_fault(&self) -> impl Iterator<Item = (InjectedFault, u64)> {
        FAULTS.into_iter().map(|(fault, _)| fault).zip(self.counts)
    }
}

impl fmt::Display for FaultCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<_> =
            self.by_fault().map(|(fault, count)| format!("{count} {fault}")).collect();
        let total: u64 = self.counts.iter().sum();
        write!(f, "{total} injected by seed {}: {}", self.seed, all.join(", "))
    }
}

/// Decides for each request whether and how it is disturbed.
pub(super) struct FaultSchedule {
    random: ChaCha8Rng,
    pub(super) counts: FaultCounts,
    pub(super) phase: Phase,
}

/// The phase of a run, which limits the faults that are injected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// No faults: the board has not been ready yet.
    Inactive,
    /// All faults.
    Active,
    /// The board is being recovered: few faults, which only corrupt characters.
    Recovering,
}

/// One request in this many is disturbed, while cases run and during recovery.
const ACTIVE_ODDS: u64 = 3;
const RECOVERY_ODDS: u64 = 20;
/// One fault in this many, while cases run, needs recovery.
const SEVERE_ODDS: u64 = 16;

impl FaultSchedule {
    pub(super) fn new(seed: u64) -> Self {
        let counts = FaultCounts { seed, ..FaultCounts::default() };
        Self { random: ChaCha8Rng::seed_from_u64(seed), counts, phase: Phase::Inactive }
    }

    /// Returns the fault that disturbs the next request, if any.
    pub(super) fn next_fault(&mut self, has_button: bool) -> Option<InjectedFault> {
        let one_of = match self.phase {
            Phase::Inactive => return None,
            Phase::Active => ACTIVE_ODDS,
            Phase::Recovering => RECOVERY_ODDS,
        };
        if self.random_below(one_of) != 0 {
            return None;
        }
        let needs_recovery = self.phase == Phase::Active && self.random_below(SEVERE_ODDS) == 0;
        let kinds = if needs_recovery {
            InjectedFault::LINE_FAULTS..FAULTS.len()
        } else {
            0..InjectedFault::LINE_FAULTS
        };
        let fault = FAULTS[kinds.start + self.random_below(kinds.len() as u64) as usize].0;
        let needs_button = matches!(fault, InjectedFault::Reset | InjectedFault::Stuck);
        let fault = if needs_button && !has_button { InjectedFault::Disconnect } else { fault };
        self.counts.counts[fault as usize] += 1;
        Some(fault)
    }

    /// Returns a random number from 0 to `limit` - 1.
    pub(super) fn random_below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit.max(1)
    }
}
