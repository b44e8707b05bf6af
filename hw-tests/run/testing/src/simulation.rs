//! Deterministic simulation of the whole harness: line, board, disk, clock and operator follow from
//! one seed.
//!
//! [`simulate`] runs the scenario of a seed: runs that are interrupted, killed, cut off from power
//! and resumed, and a last run without faults, which must complete. After each run the invariants
//! are checked ([`invariants`]). The same seed gives the same scenario, so that a violation can be
//! reproduced.

mod environment;
pub mod invariants;
pub mod operator;
mod scenario;

pub use environment::{Program, SimulationEnv, SingleRun};
pub use invariants::InvariantViolation;
pub(crate) use scenario::SeededRng;
pub use scenario::{Episode, Scenario};

use std::collections::BTreeMap;
use std::time::Duration;

use hil_harness::runner::Verdict;
use operator::ScriptedEvent;

/// Statistics of one simulation or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimulationStats {
    /// Simulated scenarios.
    pub seeds: u64,
    /// Runs of the harness.
    pub episodes: u64,
    /// Simulated time.
    pub time: Duration,
    /// Calls on the port.
    pub calls: u64,
    /// Accesses to the disk.
    pub accesses: u64,
    /// Faults and actions of the operator, by name.
    pub faults: BTreeMap<String, u64>,
    /// Results in the results files, by verdict.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// A hash of everything that happened.
    pub trace: u64,
}

impl SimulationStats {
    /// Adds the statistics of another simulation.
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

    fn count_event(&mut self, event: ScriptedEvent) {
        let name = match event {
            ScriptedEvent::Line(fault, _) => format!("port {fault:?}"),
            ScriptedEvent::Disk(fault, _) => format!("disk {fault:?}"),
            other => format!("operator {other:?}"),
        };
        self.count(&name.to_lowercase(), 1);
    }

    fn count_line_faults(&mut self, faults: &hil_harness::board::FaultCounts) {
        for (fault, count) in faults.by_fault() {
            self.count(&format!("line {fault}"), count);
        }
    }

    fn count_verdict(&mut self, verdict: Verdict) {
        *self.verdicts.entry(verdict.as_str()).or_default() += 1;
    }
}

/// Runs the scenario of a seed.
pub fn simulate(env: &SimulationEnv, seed: u64) -> Result<SimulationStats, InvariantViolation> {
    let scenario = Scenario::from_seed(seed, env);
    env.run_scenario(&scenario).map_err(|what| InvariantViolation { seed, what })
}
