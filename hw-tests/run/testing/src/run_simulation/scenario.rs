//! The scenario that follows from a seed.

use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use cli_support::exit::{ENVIRONMENT, FAILED, USAGE};

use crate::simulated_disk::DiskFault;
use crate::simulation::SeededRng;

/// Most cases of a scenario.
const MAX_CASES: u64 = 14;
/// Most boards of a scenario.
const MAX_BOARDS: u64 = 5;
/// Most accesses to the disk before a fault.
const MAX_ACCESSES: u64 = 40;

/// How the set-up of a board goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setup {
    /// It is ready after this many steps.
    Ready(u64),
    /// It fails after this many steps, with the exit code 3, or 2.
    Fails(u64, u8),
    /// There is no plan, for a reason with this exit code.
    NoPlan(u8),
}

/// What a board does. The numbers in lists are those of cases.
#[derive(Debug, Clone)]
pub struct BoardScript {
    /// Its set-up.
    pub setup: Setup,
    /// The cases in flight at a time.
    pub window: usize,
    /// The cases that it cannot run.
    pub skips: Vec<usize>,
    /// The cases to which it alone gives a wrong answer.
    pub wrong: Vec<usize>,
    /// The cases to which it alone gives no answer.
    pub silent: Vec<usize>,
    /// After how many cases it hangs, for how many steps, and whether it comes back.
    pub hang: Option<(usize, u64, bool)>,
    /// Whether it tells which cases were not run when it is lost.
    pub reports_lost_cases: bool,
}

impl BoardScript {
    fn faultless() -> Self {
        Self {
            setup: Setup::Ready(1),
            window: 2,
            skips: Vec::new(),
            wrong: Vec::new(),
            silent: Vec::new(),
            hang: None,
            reports_lost_cases: true,
        }
    }

    /// Returns `true` if the board has no fault, though it may skip cases.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        let has_problem = !self.wrong.is_empty() || !self.silent.is_empty();
        matches!(self.setup, Setup::Ready(_)) && !has_problem && !self.is_lost()
    }

    /// Returns `true` if the board is lost, should it run enough cases.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.hang.is_some_and(|(_, _, comes_back)| !comes_back)
    }
}

/// A run.
#[derive(Debug, Clone)]
pub struct RunScenario {
    /// The seed.
    pub seed: u64,
    /// The number of cases.
    pub cases: usize,
    /// The boards.
    pub boards: Vec<BoardScript>,
    /// The cases to which every board gives the same wrong answer.
    pub wrong: Vec<usize>,
    /// Whether results and reports name the boards.
    pub is_named: bool,
    /// The least number of boards that must be there to the end.
    pub min_boards: usize,
    /// Whether the first case that does not pass ends the run.
    pub fail_fast: bool,
    /// The duration of a soak run.
    pub time: Option<Duration>,
    /// The number of cases of a soak run.
    pub count: Option<u64>,
    /// Whether a results file is written.
    pub has_results: bool,
    /// The step at which a signal arrives.
    pub stop_at: Option<u64>,
    /// How often the observer lets others run at each result.
    pub stall: u64,
    /// A fault of the disk: the first access, how many, and how they fail.
    pub disk: Option<(u64, u64, DiskFault)>,
}

impl RunScenario {
    /// Returns a scenario without faults.
    #[must_use]
    pub fn faultless(cases: usize, boards: usize) -> Self {
        Self {
            seed: 0,
            cases,
            boards: vec![BoardScript::faultless(); boards],
            wrong: Vec::new(),
            is_named: boards > 1,
            min_boards: 0,
            fail_fast: false,
            time: None,
            count: None,
            has_results: true,
            stop_at: None,
            stall: 0,
            disk: None,
        }
    }

    /// Returns the same run on as many boards without faults, and without signals.
    #[must_use]
    pub fn without_faults(&self) -> Self {
        let wrong = self.wrong.clone();
        let is_named = self.is_named;
        let seed = self.seed;
        Self { seed, wrong, is_named, ..Self::faultless(self.cases, self.boards.len()) }
    }

    /// Generates the scenario of a seed.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        let mut random = SeededRng(ChaCha8Rng::seed_from_u64(seed));
        let cases = 1 + random.below(MAX_CASES) as usize;
        let boards = 1 + random.below(MAX_BOARDS) as usize;
        let is_named = boards > 1 || random.one_in(3);
        let is_soak = random.one_in(4);
        let by_time = is_soak && random.one_in(2);
        Self {
            seed,
            cases,
            boards: (0..boards).map(|_| random.board(cases)).collect(),
            wrong: random.some(cases, 3),
            is_named,
            min_boards: if is_named && random.one_in(4) { boards } else { 0 },
            fail_fast: random.one_in(8),
            time: by_time.then(|| Duration::from_millis(random.below(300))),
            count: (is_soak && !by_time).then(|| 1 + random.below(60)),
            has_results: random.one_in(2) && !is_soak,
            stop_at: random.one_in(4).then(|| random.below(150)),
            stall: if random.one_in(3) { random.below(300) } else { 0 },
            disk: random.one_in(6).then(|| {
                let fault = if random.one_in(2) { DiskFault::Full } else { DiskFault::Broken };
                let count = if random.one_in(2) { 1 } else { u64::MAX };
                (random.below(MAX_ACCESSES), count, fault)
            }),
        }
    }
}

impl SeededRng {
    /// Returns some cases, mostly none.
    fn some(&mut self, cases: usize, one_in: u64) -> Vec<usize> {
        if !self.one_in(one_in) {
            return Vec::new();
        }
        (0..cases).filter(|_| self.one_in(3)).collect()
    }

    fn board(&mut self, cases: usize) -> BoardScript {
        BoardScript {
            setup: match self.below(12) {
                0 => Setup::Fails(self.below(20), ENVIRONMENT),
                1 => Setup::Fails(self.below(20), USAGE),
                2 => Setup::NoPlan(FAILED),
                3 => Setup::Fails(2000, ENVIRONMENT),
                _ => Setup::Ready(self.below(20)),
            },
            window: 1 + self.below(5) as usize,
            skips: self.some(cases, 3),
            wrong: self.some(cases, 5),
            silent: self.some(cases, 5),
            hang: self.one_in(4).then(|| (self.below(10) as usize, self.below(60), self.one_in(2))),
            reports_lost_cases: self.one_in(2),
        }
    }
}
