//! A simulated fleet: the real scheduler with boards that only take time, on a simulated clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use hil_harness::fleet::{Assignment, CaseOutcome, Scheduler, SchedulerStats, SchedulerUpdate};

/// How often an idle board requests work.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The configuration of a simulated fleet.
#[derive(Debug, Clone, Copy)]
pub struct FleetScenario {
    /// Number of boards.
    pub boards: usize,
    /// Number of cases.
    pub cases: usize,
    /// The seed of all random choices.
    pub seed: u64,
    /// Cases that a board runs at a time.
    pub window: usize,
    /// The mean time of a case on a board of normal speed.
    pub mean: Duration,
    /// Boards per 1,000 that are ten times slower.
    pub slow: u64,
    /// Boards per 1,000 that are lost during the run.
    pub lost: u64,
    /// Boards per 1,000 that give a wrong answer to every case.
    pub always_wrong: u64,
    /// Cases per 1,000,000 to which every board gives the same wrong answer.
    pub wrong: u64,
}

/// Statistics of a simulated run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FleetStats {
    /// The time from the first case to the last verdict.
    pub took: Duration,
    /// The time if all boards were busy until the end, each at its own speed.
    pub ideal: Duration,
    /// The time that one board of normal speed would take.
    pub alone: Duration,
    /// Statistics on the work besides running each case once.
    pub scheduler_stats: SchedulerStats,
    /// How often each case was settled; all are 1 if the scheduler is correct.
    pub settled: Vec<u8>,
    /// Cases in which a board was at fault, and in which the code was.
    pub at_fault: [u64; 2],
    /// Quarantined boards.
    pub quarantined: u64,
    /// Calls to the scheduler.
    pub calls: u64,
}

impl FleetStats {
    /// Returns the throughput, in boards of normal speed.
    pub fn throughput_in_boards(&self) -> f64 {
        self.alone.as_secs_f64() / self.took.as_secs_f64().max(1e-9)
    }

    /// Returns the share of the ideal throughput.
    pub fn efficiency(&self) -> f64 {
        self.ideal.as_secs_f64() / self.took.as_secs_f64().max(1e-9)
    }
}

/// A pseudo-random number generator (SplitMix64).
struct SplitMix64(u64);

impl SplitMix64 {
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
struct SimulatedBoard {
    factor: u32,
    is_always_wrong: bool,
    lost_at: Option<Duration>,
    is_finished: bool,
    assigned: VecDeque<usize>,
    /// The number of the event that is due next; earlier ones are out of date.
    awaited: u64,
}

struct SimulatedRun {
    scenario: FleetScenario,
    scheduler: Scheduler,
    boards: Vec<SimulatedBoard>,
    random: SplitMix64,
    /// Events by time, with board and number.
    events: BinaryHeap<Reverse<(Duration, usize, u64)>>,
    is_wrong: Vec<bool>,
    problems: Vec<Vec<usize>>,
    stats: FleetStats,
    last_event: u64,
}

/// Simulates a run.
pub fn simulate(scenario: FleetScenario) -> FleetStats {
    let mut run = SimulatedRun::new(scenario);
    let mut now = Duration::ZERO;
    for board in 0..scenario.boards {
        run.take_work(board, now);
    }
    while let Some(Reverse((time, board, number))) = run.events.pop() {
        if run.boards[board].awaited != number || run.boards[board].is_finished {
            continue;
        }
        now = time;
        run.handle_event(board, now);
    }
    run.stats.took = run.stats.took.max(Duration::from_nanos(1));
    run.stats.scheduler_stats = run.scheduler.stats();
    let boards = 0..scenario.boards;
    run.stats.quarantined =
        boards.filter(|board| run.scheduler.is_quarantined(*board)).count() as u64;
    run.stats
}

impl SimulatedRun {
    fn new(scenario: FleetScenario) -> Self {
        let mut random = SplitMix64(scenario.seed);
        let whole = scenario.mean * scenario.cases as u32 / scenario.boards.max(1) as u32;
        let mut board = || SimulatedBoard {
            factor: if random.is_one_of(scenario.slow, 1000) { 10 } else { 1 },
            is_always_wrong: random.is_one_of(scenario.always_wrong, 1000),
            lost_at: random
                .is_one_of(scenario.lost, 1000)
                .then(|| whole * (random.next() % 100) as u32 / 100),
            ..SimulatedBoard::default()
        };
        let boards: Vec<_> = (0..scenario.boards).map(|_| board()).collect();
        let is_wrong = (0..scenario.cases).map(|_| random.is_one_of(scenario.wrong, 1_000_000));
        let is_wrong = is_wrong.collect();
        let stats = FleetStats {
            settled: vec![0; scenario.cases],
            alone: scenario.mean * scenario.cases as u32,
            ideal: ideal(scenario, &boards),
            ..FleetStats::default()
        };
        Self {
            scheduler: Scheduler::new(scenario.cases, scenario.boards),
            boards,
            random,
            events: BinaryHeap::new(),
            is_wrong,
            problems: vec![Vec::new(); scenario.cases],
            stats,
            last_event: 0,
            scenario,
        }
    }

    /// Handles an event of a board: it is lost, has a result, or requests work.
    fn handle_event(&mut self, board: usize, now: Duration) {
        if self.boards[board].lost_at.is_some_and(|at| at <= now) {
            let update = self.scheduler.board_lost(board, now);
            (self.boards[board].is_finished, self.stats.calls) = (true, self.stats.calls + 1);
            self.boards[board].assigned.clear();
            return self.apply(update, now);
        }
        if let Some(case) = self.boards[board].assigned.pop_front() {
            let is_wrong = self.is_wrong[case];
            let outcome = match () {
                () if is_wrong => CaseOutcome::Problem(Some("the same everywhere".to_owned())),
                () if self.boards[board].is_always_wrong => {
                    CaseOutcome::Problem(Some(format!("of {board}")))
                }
                () => CaseOutcome::Pass,
            };
            if outcome != CaseOutcome::Pass {
                self.problems[case].push(board);
            }
            self.end(board, case, outcome, now);
        }
        self.take_work(board, now);
    }

    fn end(&mut self, board: usize, case: usize, outcome: CaseOutcome, now: Duration) {
        self.stats.calls += 1;
        let update = self.scheduler.record_outcome(board, case, outcome, now);
        self.apply(update, now);
    }

    fn apply(&mut self, update: SchedulerUpdate, now: Duration) {
        for case in update.settled {
            self.stats.settled[case] += 1;
            self.stats.took = now;
            if !self.problems[case].is_empty() {
                self.stats.at_fault[usize::from(self.is_wrong[case])] += 1;
            }
        }
        for board in update.redundant {
            for case in std::mem::take(&mut self.boards[board].assigned) {
                self.end(board, case, CaseOutcome::None, now);
            }
            self.take_work(board, now);
        }
    }

    /// Assigns cases up to the window, and schedules the next event of the board.
    fn take_work(&mut self, board: usize, now: Duration) {
        while self.boards[board].assigned.len() < self.scenario.window {
            self.stats.calls += 1;
            match self.scheduler.assign_next(board, now) {
                Assignment::Case(case) => self.boards[board].assigned.push_back(case),
                Assignment::Wait => break,
                Assignment::Done => {
                    self.boards[board].is_finished = self.boards[board].assigned.is_empty();
                    break;
                }
            }
        }
        let state = &self.boards[board];
        if state.is_finished {
            return;
        }
        let wait = if state.assigned.is_empty() {
            POLL_INTERVAL
        } else {
            // From one half to three halves of the mean.
            let share = 500 + self.random.next() % 1001;
            self.scenario.mean * state.factor * share as u32 / 1000
        };
        let due = state.lost_at.map_or(now + wait, |at| (now + wait).min(at.max(now)));
        self.last_event += 1;
        self.boards[board].awaited = self.last_event;
        self.events.push(Reverse((due, board, self.last_event)));
    }
}

/// Returns the time in which these boards complete all cases if none ever waits. Boards that are
/// always wrong don't count, and lost boards count until they are lost.
fn ideal(scenario: FleetScenario, boards: &[SimulatedBoard]) -> Duration {
    let cases = |time: f64| -> f64 {
        let of = |board: &SimulatedBoard| {
            let until = board.lost_at.map_or(time, |at| at.as_secs_f64().min(time));
            until / (scenario.mean.as_secs_f64() * f64::from(board.factor))
        };
        boards.iter().filter(|board| !board.is_always_wrong).map(of).sum()
    };
    let (mut low, mut high) = (0.0, (scenario.mean * 10 * scenario.cases as u32).as_secs_f64());
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        let bound = if cases(middle) < scenario.cases as f64 { &mut low } else { &mut high };
        *bound = middle;
    }
    Duration::from_secs_f64(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(boards: usize, cases: usize, seed: u64) -> FleetScenario {
        let mean = Duration::from_millis(17);
        FleetScenario {
            boards,
            cases,
            seed,
            window: 14,
            mean,
            slow: 0,
            lost: 0,
            always_wrong: 0,
            wrong: 0,
        }
    }

    #[test]
    fn every_case_of_a_bad_fleet_is_settled_once_whatever_the_seed() {
        for seed in 0..200 {
            let bad = FleetScenario {
                slow: 100,
                lost: 200,
                always_wrong: 100,
                wrong: 20_000,
                ..scenario(20, 600, seed)
            };
            let stats = simulate(bad);
            assert!(stats.settled.iter().all(|times| *times == 1), "seed {seed}: {stats:?}");
            assert_eq!(simulate(bad), stats, "seed {seed}: the same again");
        }
    }

    #[test]
    fn four_boards_have_the_throughput_of_four_and_a_thousand_nearly_that() {
        assert!(simulate(scenario(4, 4_000, 1)).throughput_in_boards() > 3.9);
        let stats = simulate(scenario(1_000, 100_000, 1));
        assert!(stats.throughput_in_boards() > 850.0, "{}", stats.throughput_in_boards());
        assert_eq!(stats.scheduler_stats.rerun, 0);
    }

    #[test]
    fn slow_boards_do_not_hold_the_others_up() {
        let stats = simulate(FleetScenario { slow: 200, ..scenario(50, 20_000, 3) });
        assert!(stats.efficiency() > 0.85, "{}", stats.efficiency());
    }

    #[test]
    fn a_board_that_is_always_wrong_is_at_fault_and_quarantined() {
        let stats = simulate(FleetScenario { always_wrong: 100, ..scenario(40, 4_000, 5) });
        assert!(stats.quarantined > 0 && stats.quarantined < 12, "{}", stats.quarantined);
        assert_eq!(stats.at_fault[1], 0);
        // A board completes its running cases while others rerun its first problems.
        assert!(stats.at_fault[0] <= stats.quarantined * 18, "{:?}", stats.at_fault);
        let wrong = simulate(FleetScenario { wrong: 50_000, ..scenario(40, 4_000, 5) });
        assert_eq!((wrong.quarantined, wrong.at_fault[0]), (0, 0));
        assert_eq!(wrong.scheduler_stats.rerun, wrong.at_fault[1], "each on one board more");
    }
}
