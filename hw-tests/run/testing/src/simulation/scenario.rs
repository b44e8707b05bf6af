//! The scenario that follows from a seed.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use sargon_corpus::Case;

use super::SimulationEnv;
use super::operator::{PortFault, ScriptedEvent};
use crate::simulated_disk::DiskFault;

/// Most runs of a scenario before the last one.
const MAX_EPISODES: u64 = 5;
/// Most events of a run.
const MAX_EVENTS: u64 = 4;
/// Events happen before this number of port calls; a run of a few cases has some hundreds.
const MAX_CALL_NUMBER: u64 = 900;
/// Most cases of a scenario.
const MAX_CASES: u64 = 8;

/// A scenario: the board, the options, and the events of each run.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The seed.
    pub seed: u64,
    /// The index of the program in [`SimulationEnv::programs`].
    pub program: usize,
    /// The cases.
    pub cases: Vec<Case>,
    /// The number of repetitions of each case.
    pub repeat: u32,
    /// Whether the first case that does not pass ends a run.
    pub fail_fast: bool,
    /// The seed of injected faults.
    pub line: Option<u64>,
    /// Whether a transcript is recorded.
    pub record: bool,
    /// Whether a report is written.
    pub report: bool,
    /// The runs before the last one.
    pub episodes: Vec<Episode>,
}

/// The events of a run.
#[derive(Debug, Clone, Default)]
pub struct Episode {
    /// Events by the number of the port call at which they happen.
    pub events: Vec<(u64, ScriptedEvent)>,
    /// A fault of the disk: the first access, how many, and how they fail.
    pub disk: Option<(u64, u64, DiskFault)>,
    /// Whether the host loses power afterwards.
    pub power_cut: bool,
}

/// Random choices from a seed.
pub(crate) struct SeededRng(pub(crate) ChaCha8Rng);

impl SeededRng {
    /// Returns a number from 0 to `limit` - 1.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit.max(1)
    }

    pub(crate) fn one_in(&mut self, limit: u64) -> bool {
        self.below(limit) == 0
    }

    /// Returns how many calls fail: once, some, or all from then on.
    fn length(&mut self) -> u64 {
        match self.below(4) {
            0 => 1,
            1 => 2 + self.below(10),
            2 => 10 + self.below(200),
            _ => u64::MAX,
        }
    }

    fn event(&mut self) -> ScriptedEvent {
        match self.below(10) {
            0..=3 => ScriptedEvent::Line(PortFault::ALL[self.below(5) as usize], self.length()),
            4 | 5 => ScriptedEvent::Reset,
            6 => ScriptedEvent::PowerCut,
            7 => ScriptedEvent::Stop,
            8 => ScriptedEvent::Kill,
            _ => ScriptedEvent::Disk(self.disk_fault(), self.length()),
        }
    }

    fn disk_fault(&mut self) -> DiskFault {
        if self.one_in(2) { DiskFault::Full } else { DiskFault::Broken }
    }

    fn episode(&mut self) -> Episode {
        let count = self.below(MAX_EVENTS + 1);
        let events = (0..count).map(|_| (self.below(MAX_CALL_NUMBER), self.event())).collect();
        let disk = self.one_in(4).then(|| (self.below(60), self.length(), self.disk_fault()));
        Episode { events, disk, power_cut: self.one_in(3) }
    }

    fn cases(&mut self, all: &[Case]) -> Vec<Case> {
        let count = 1 + self.below(MAX_CASES);
        let mut chosen: Vec<Case> = Vec::new();
        for _ in 0..count {
            let case = &all[self.below(all.len() as u64) as usize];
            if chosen.iter().all(|other| other.id != case.id) {
                chosen.push(case.clone());
            }
        }
        chosen
    }
}

impl Scenario {
    /// Returns a scenario of these cases without events, with results, transcript and report.
    pub fn without_faults(cases: Vec<Case>) -> Self {
        Self {
            seed: 0,
            program: 0,
            cases,
            repeat: 1,
            fail_fast: false,
            line: None,
            record: true,
            report: true,
            episodes: Vec::new(),
        }
    }

    /// Returns the scenario with this episode as its only run before the last one.
    pub fn with_episode(&self, episode: Episode) -> Self {
        Self { episodes: vec![episode], ..self.clone() }
    }

    /// Generates the scenario of a seed.
    pub fn from_seed(seed: u64, env: &SimulationEnv) -> Self {
        let mut random = SeededRng(ChaCha8Rng::seed_from_u64(seed));
        let episodes = 1 + random.below(MAX_EPISODES);
        Self {
            seed,
            program: random.below(env.programs().len() as u64) as usize,
            cases: random.cases(env.cases()),
            repeat: if random.one_in(6) { 2 } else { 1 },
            fail_fast: random.one_in(8),
            line: (!random.one_in(4)).then(|| random.below(u64::MAX)),
            record: random.one_in(3),
            report: random.one_in(2),
            episodes: (0..episodes).map(|_| random.episode()).collect(),
        }
    }
}
