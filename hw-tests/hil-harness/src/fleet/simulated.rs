//! A fleet under a simulated clock: the scheduler is the real one, the boards are waits.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use super::scheduler::{Changes, Next, Outcome, Scheduler, Tally};

/// The time between two looks of a board that has nothing to do.
const LOOK: Duration = Duration::from_millis(50);

/// A fleet and its work.
#[derive(Debug, Clone, Copy)]
pub struct World {
    /// Boards.
    pub boards: usize,
    /// Cases.
    pub cases: usize,
    /// The number that decides everything else.
    pub seed: u64,
    /// Cases that a board has under way at a time.
    pub window: usize,
    /// The mean time of a case on a usual board.
    pub mean: Duration,
    /// Boards of 1,000 that take ten times as long.
    pub slow: u64,
    /// Boards of 1,000 that are lost in the midst of the run.
    pub lost: u64,
    /// Boards of 1,000 that give a wrong answer to every case.
    pub lying: u64,
    /// Cases of 1,000,000 to which every board gives the same wrong answer.
    pub wrong: u64,
}

/// The outcome of a simulated run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// From the first case to the last verdict.
    pub took: Duration,
    /// The time of a fleet whose boards are all at work until the end, each at its own speed.
    pub ideal: Duration,
    /// The time that one usual board would take.
    pub alone: Duration,
    /// The work besides giving out each case once.
    pub tally: Tally,
    /// The number of times each case was settled: all are 1 where all is well.
    pub settled: Vec<u8>,
    /// Cases whose troubles were put down to boards, and to the code.
    pub at_fault: [u64; 2],
    /// Boards that were set aside.
    pub set_aside: u64,
    /// Calls of the scheduler.
    pub calls: u64,
}

impl Figures {
    /// Returns the throughput in usual boards.
    #[must_use]
    pub fn boards_worth(&self) -> f64 {
        self.alone.as_secs_f64() / self.took.as_secs_f64().max(1e-9)
    }

    /// Returns the share of the ideal throughput.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        self.ideal.as_secs_f64() / self.took.as_secs_f64().max(1e-9)
    }
}

/// Numbers that follow from a seed (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    fn is_one_of(&mut self, wanted: u64, all: u64) -> bool {
        self.next() % all < wanted
    }
}

#[derive(Debug, Clone, Default)]
struct Board {
    factor: u32,
    is_lying: bool,
    lost_at: Option<Duration>,
    is_over: bool,
    holds: VecDeque<usize>,
    /// The number of the event that is waited for: others are out of date.
    awaited: u64,
}

/// The state of a simulated run.
struct Run {
    world: World,
    scheduler: Scheduler,
    boards: Vec<Board>,
    numbers: Numbers,
    /// Times with the board and the number of the event.
    events: BinaryHeap<Reverse<(Duration, usize, u64)>>,
    is_wrong: Vec<bool>,
    troubles: Vec<Vec<usize>>,
    figures: Figures,
    numbered: u64,
}

/// Simulates a run.
#[must_use]
pub fn simulate(world: World) -> Figures {
    let mut run = Run::new(world);
    let mut now = Duration::ZERO;
    for board in 0..world.boards {
        run.go_on(board, now);
    }
    while let Some(Reverse((time, board, number))) = run.events.pop() {
        if run.boards[board].awaited != number || run.boards[board].is_over {
            continue;
        }
        now = time;
        run.happens(board, now);
    }
    run.figures.took = run.figures.took.max(Duration::from_nanos(1));
    run.figures.tally = run.scheduler.tally();
    let boards = 0..world.boards;
    run.figures.set_aside =
        boards.filter(|board| run.scheduler.is_set_aside(*board)).count() as u64;
    run.figures
}

impl Run {
    fn new(world: World) -> Self {
        let mut numbers = Numbers(world.seed);
        let whole = world.mean * world.cases as u32 / world.boards.max(1) as u32;
        let mut board = || Board {
            factor: if numbers.is_one_of(world.slow, 1000) { 10 } else { 1 },
            is_lying: numbers.is_one_of(world.lying, 1000),
            lost_at: numbers
                .is_one_of(world.lost, 1000)
                .then(|| whole * (numbers.next() % 100) as u32 / 100),
            ..Board::default()
        };
        let boards: Vec<_> = (0..world.boards).map(|_| board()).collect();
        let is_wrong = (0..world.cases).map(|_| numbers.is_one_of(world.wrong, 1_000_000));
        let is_wrong = is_wrong.collect();
        let figures = Figures {
            settled: vec![0; world.cases],
            alone: world.mean * world.cases as u32,
            ideal: ideal(world, &boards),
            ..Figures::default()
        };
        Self {
            scheduler: Scheduler::new(world.cases, world.boards),
            boards,
            numbers,
            events: BinaryHeap::new(),
            is_wrong,
            troubles: vec![Vec::new(); world.cases],
            figures,
            numbered: 0,
            world,
        }
    }

    /// Something is due on a board: it is lost, has an answer, or looks for work.
    fn happens(&mut self, board: usize, now: Duration) {
        if self.boards[board].lost_at.is_some_and(|at| at <= now) {
            let changes = self.scheduler.lost(board, now);
            (self.boards[board].is_over, self.figures.calls) = (true, self.figures.calls + 1);
            self.boards[board].holds.clear();
            return self.apply(changes, now);
        }
        if let Some(case) = self.boards[board].holds.pop_front() {
            let is_wrong = self.is_wrong[case];
            let outcome = match () {
                () if is_wrong => Outcome::Trouble("the same everywhere".to_owned()),
                () if self.boards[board].is_lying => Outcome::Trouble(format!("of {board}")),
                () => Outcome::Right,
            };
            if outcome != Outcome::Right {
                self.troubles[case].push(board);
            }
            self.end(board, case, outcome, now);
        }
        self.go_on(board, now);
    }

    fn end(&mut self, board: usize, case: usize, outcome: Outcome, now: Duration) {
        self.figures.calls += 1;
        let changes = self.scheduler.ended(board, case, outcome, now);
        self.apply(changes, now);
    }

    fn apply(&mut self, changes: Changes, now: Duration) {
        for case in changes.settled {
            self.figures.settled[case] += 1;
            self.figures.took = now;
            if !self.troubles[case].is_empty() {
                self.figures.at_fault[usize::from(self.is_wrong[case])] += 1;
            }
        }
        for board in changes.needless {
            for case in std::mem::take(&mut self.boards[board].holds) {
                self.end(board, case, Outcome::None, now);
            }
            self.go_on(board, now);
        }
    }

    /// Takes as many cases as there is room for, and waits for the first answer.
    fn go_on(&mut self, board: usize, now: Duration) {
        while self.boards[board].holds.len() < self.world.window {
            self.figures.calls += 1;
            match self.scheduler.next(board, now) {
                Next::Case(case) => self.boards[board].holds.push_back(case),
                Next::Wait => break,
                Next::Over => {
                    self.boards[board].is_over = self.boards[board].holds.is_empty();
                    break;
                }
            }
        }
        let state = &self.boards[board];
        if state.is_over {
            return;
        }
        let wait = if state.holds.is_empty() {
            LOOK
        } else {
            // From a half to three halves of the mean.
            let share = 500 + self.numbers.next() % 1001;
            self.world.mean * state.factor * share as u32 / 1000
        };
        let due = state.lost_at.map_or(now + wait, |at| (now + wait).min(at.max(now)));
        self.numbered += 1;
        self.boards[board].awaited = self.numbered;
        self.events.push(Reverse((due, board, self.numbered)));
    }
}

/// The time in which these boards come to all cases if none ever waits. A board that lies is no
/// help, and one that is lost is one until then.
fn ideal(world: World, boards: &[Board]) -> Duration {
    let cases = |time: f64| -> f64 {
        let of = |board: &Board| {
            let until = board.lost_at.map_or(time, |at| at.as_secs_f64().min(time));
            until / (world.mean.as_secs_f64() * f64::from(board.factor))
        };
        boards.iter().filter(|board| !board.is_lying).map(of).sum()
    };
    let (mut low, mut high) = (0.0, (world.mean * 10 * world.cases as u32).as_secs_f64());
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        let bound = if cases(middle) < world.cases as f64 { &mut low } else { &mut high };
        *bound = middle;
    }
    Duration::from_secs_f64(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(boards: usize, cases: usize, seed: u64) -> World {
        let mean = Duration::from_millis(17);
        World { boards, cases, seed, window: 14, mean, slow: 0, lost: 0, lying: 0, wrong: 0 }
    }

    #[test]
    fn every_case_of_a_bad_fleet_is_settled_once_whatever_the_seed() {
        for seed in 0..200 {
            let bad =
                World { slow: 100, lost: 200, lying: 100, wrong: 20_000, ..world(20, 600, seed) };
            let figures = simulate(bad);
            assert!(figures.settled.iter().all(|times| *times == 1), "seed {seed}: {figures:?}");
            assert_eq!(simulate(bad), figures, "seed {seed}: the same again");
        }
    }

    #[test]
    fn four_boards_have_the_throughput_of_four_and_a_thousand_nearly_that() {
        assert!(simulate(world(4, 4_000, 1)).boards_worth() > 3.9);
        let figures = simulate(world(1_000, 100_000, 1));
        assert!(figures.boards_worth() > 850.0, "{}", figures.boards_worth());
        assert_eq!(figures.tally.repeated, 0);
    }

    #[test]
    fn slow_boards_do_not_hold_the_others_up() {
        let figures = simulate(World { slow: 200, ..world(50, 20_000, 3) });
        assert!(figures.efficiency() > 0.85, "{}", figures.efficiency());
    }

    #[test]
    fn troubles_are_put_down_to_the_board_that_lies_and_it_is_set_aside() {
        let figures = simulate(World { lying: 100, ..world(40, 4_000, 5) });
        assert!(figures.set_aside > 0 && figures.set_aside < 12, "{}", figures.set_aside);
        assert_eq!(figures.at_fault[1], 0);
        // A board still ends what it has under way while others judge its first troubles.
        assert!(figures.at_fault[0] <= figures.set_aside * 18, "{:?}", figures.at_fault);
        let wrong = simulate(World { wrong: 50_000, ..world(40, 4_000, 5) });
        assert_eq!((wrong.set_aside, wrong.at_fault[0]), (0, 0));
        assert_eq!(wrong.tally.repeated, wrong.at_fault[1], "each on one board more");
    }
}
