//! The decisions of a seed.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use sargon_corpus::Case;

use super::Stage;
use super::operator::{Event, LineFault};
use crate::disk::DiskFault;

/// Most runs of a story before the last one, and most events of a run.
const EPISODES: u64 = 5;
const EVENTS: u64 = 4;
/// Calls on the port among which events happen: a run of a few cases has some hundreds.
const REACH: u64 = 900;
/// Cases of a story.
const CASES: u64 = 8;

/// The decisions of a seed: the world and what happens in it, run by run.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The seed.
    pub seed: u64,
    /// The board and what runs on it, by its place among those of the stage.
    pub program: usize,
    /// The cases.
    pub cases: Vec<Case>,
    /// The number of times each case is put.
    pub repeat: u32,
    /// Whether the first case that does not pass ends a run.
    pub fail_fast: bool,
    /// The seed of faults on the line.
    pub line: Option<u64>,
    /// Whether a transcript is made.
    pub record: bool,
    /// Whether a report is written.
    pub report: bool,
    /// The runs before the last one.
    pub episodes: Vec<Episode>,
}

/// The events of a run.
#[derive(Debug, Clone, Default)]
pub struct Episode {
    /// Events by the number of the call on the port at which they happen.
    pub events: Vec<(u64, Event)>,
    /// A fault of the disk: from which access, for how many, and how.
    pub disk: Option<(u64, u64, DiskFault)>,
    /// Whether the computer loses its power afterwards.
    pub power_cut: bool,
}

/// Numbers from a seed.
struct Dice(ChaCha8Rng);

impl Dice {
    /// A number from 0 to `limit` - 1.
    fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit.max(1)
    }

    fn one_in(&mut self, limit: u64) -> bool {
        self.below(limit) == 0
    }

    /// For how long something fails: often once, seldom for ever.
    fn length(&mut self) -> u64 {
        match self.below(4) {
            0 => 1,
            1 => 2 + self.below(10),
            2 => 10 + self.below(200),
            _ => u64::MAX,
        }
    }

    fn event(&mut self) -> Event {
        match self.below(10) {
            0..=3 => Event::Line(LineFault::ALL[self.below(5) as usize], self.length()),
            4 | 5 => Event::Reset,
            6 => Event::PowerCut,
            7 => Event::Stop,
            8 => Event::Kill,
            _ => Event::Disk(self.disk_fault(), self.length()),
        }
    }

    fn disk_fault(&mut self) -> DiskFault {
        if self.one_in(2) { DiskFault::Full } else { DiskFault::Broken }
    }

    fn episode(&mut self) -> Episode {
        let count = self.below(EVENTS + 1);
        let events = (0..count).map(|_| (self.below(REACH), self.event())).collect();
        let disk = self.one_in(4).then(|| (self.below(60), self.length(), self.disk_fault()));
        Episode { events, disk, power_cut: self.one_in(3) }
    }

    fn cases(&mut self, all: &[Case]) -> Vec<Case> {
        let count = 1 + self.below(CASES);
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
    /// Returns a scenario of these cases in which nothing happens: with results, transcript and
    /// report.
    #[must_use]
    pub fn quiet(cases: Vec<Case>) -> Self {
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

    /// Returns the same with one run in which this happens.
    #[must_use]
    pub fn with(&self, episode: Episode) -> Self {
        Self { episodes: vec![episode], ..self.clone() }
    }

    /// Returns the scenario of a seed.
    #[must_use]
    pub fn of(seed: u64, stage: &Stage) -> Self {
        let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
        let episodes = 1 + dice.below(EPISODES);
        Self {
            seed,
            program: dice.below(stage.programs().len() as u64) as usize,
            cases: dice.cases(stage.cases()),
            repeat: if dice.one_in(6) { 2 } else { 1 },
            fail_fast: dice.one_in(8),
            line: (!dice.one_in(4)).then(|| dice.below(u64::MAX)),
            record: dice.one_in(3),
            report: dice.one_in(2),
            episodes: (0..episodes).map(|_| dice.episode()).collect(),
        }
    }
}
