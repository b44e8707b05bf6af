//! The whole harness in a simulated world: line, board, disk, clock and an operator, all decided by
//! a seed, with every fault at once, at full speed.
//!
//! [`simulate`] plays a seed's story: a run that is stopped, killed, cut off from power and resumed
//! until it has ended, and a last one without any fault, which must come to its end. After every
//! episode the invariants are checked ([`invariants`]). The same seed is the same story each time,
//! so that a finding is replayed by its number.

pub mod invariants;
pub mod operator;
mod scenario;
mod stage;

pub use invariants::Finding;
pub use scenario::{Episode, Scenario};
pub use stage::{Once, Program, Stage};

use std::collections::BTreeMap;
use std::time::Duration;

use crate::board::Fault;
use crate::runner::Verdict;
use operator::Event;

/// Figures of one story or of many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Story {
    /// Stories.
    pub seeds: u64,
    /// Runs of the harness.
    pub episodes: u64,
    /// Time by the simulated clock.
    pub time: Duration,
    /// Calls on the port.
    pub calls: u64,
    /// Accesses to the disk.
    pub accesses: u64,
    /// Faults and deeds of the operator by their names.
    pub faults: BTreeMap<String, u64>,
    /// Results in files, by verdict.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// A number in which everything that happened takes part.
    pub trace: u64,
}

impl Story {
    /// Adds the figures of another one.
    pub fn add(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.episodes += other.episodes;
        self.time += other.time;
        self.calls += other.calls;
        self.accesses += other.accesses;
        for (name, count) in &other.faults {
            *self.faults.entry(name.clone()).or_default() += count;
        }
        for (verdict, count) in &other.verdicts {
            *self.verdicts.entry(verdict).or_default() += count;
        }
        self.trace ^= other.trace;
    }

    fn count(&mut self, name: &str, times: u64) {
        if times > 0 {
            *self.faults.entry(name.to_owned()).or_default() += times;
        }
    }

    fn count_event(&mut self, event: Event) {
        let name = match event {
            Event::Line(fault, _) => format!("port {fault:?}"),
            Event::Disk(fault, _) => format!("disk {fault:?}"),
            other => format!("operator {other:?}"),
        };
        self.count(&name.to_lowercase(), 1);
    }

    fn count_line_faults(&mut self, faults: &crate::board::FaultCounts) {
        for fault in Fault::ALL {
            self.count(&format!("line {}", fault.word()), faults.of(fault));
        }
    }

    fn count_verdict(&mut self, verdict: Verdict) {
        *self.verdicts.entry(verdict.word()).or_default() += 1;
    }
}

/// Plays the story of a seed on a stage.
///
/// # Errors
/// The first invariant that did not hold.
pub fn simulate(stage: &Stage, seed: u64) -> Result<Story, Finding> {
    let scenario = Scenario::of(seed, stage);
    stage.play(&scenario).map_err(|what| Finding { seed, what })
}
