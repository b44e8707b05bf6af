//! Runs the scheduler of `hw-tests run` on simulated fleets, and prints statistics.
//!
//! `cargo run --release -p hil-testing --example fleet -- 1000 1000000` simulates 1,000 boards and
//! 1,000,000 cases.

use std::time::{Duration, Instant};

use hil_testing::fleet_simulation::{FleetScenario, FleetStats, simulate};

/// The mean time to check a position at 115,200 baud (docs/BENCHMARKS.md).
const MEAN_CASE_TIME: Duration = Duration::from_millis(17);
/// Cases in flight on a board.
const CASES_IN_FLIGHT: usize = 14;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<usize>().ok());
    let boards = numbers.next().unwrap_or(1000);
    let cases = numbers.next().unwrap_or(boards * 1000);
    let good = FleetScenario {
        boards,
        cases,
        seed: 1,
        window: CASES_IN_FLIGHT,
        mean: MEAN_CASE_TIME,
        slow: 0,
        lost: 0,
        always_wrong: 0,
        wrong: 0,
    };
    let scenarios = [
        ("one board", FleetScenario { boards: 1, cases: cases.min(10_000), ..good }),
        ("4 boards", FleetScenario { boards: 4, cases: cases.min(40_000), ..good }),
        ("no faults", good),
        ("100 of 1,000 are ten times slower", FleetScenario { slow: 100, ..good }),
        ("100 of 1,000 are lost during the run", FleetScenario { lost: 100, ..good }),
        ("10 of 1,000 are always wrong", FleetScenario { always_wrong: 10, ..good }),
        ("1 case of 1,000 is wrong everywhere", FleetScenario { wrong: 1000, ..good }),
        (
            "all of these",
            FleetScenario { slow: 100, lost: 100, always_wrong: 10, wrong: 1000, ..good },
        ),
    ];
    let columns = "fleet | time | boards' worth | of the ideal | rerun | requeued | speculative";
    println!("| {columns} | quarantined | scheduler |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, scenario) in scenarios {
        let began = Instant::now();
        let stats = simulate(scenario);
        let settled = stats.settled.iter().filter(|times| **times == 1).count();
        assert_eq!(settled, scenario.cases, "{name}: each case has one verdict");
        row(name, &stats, began.elapsed());
    }
}

fn row(name: &str, stats: &FleetStats, took: Duration) {
    let each = took.as_secs_f64() * 1e9 / stats.calls.max(1) as f64;
    println!(
        "| {name} | {:.1} s | {:.1} | {:.1} % | {} | {} | {} | {} | {each:.0} ns a call |",
        stats.took.as_secs_f64(),
        stats.throughput_in_boards(),
        stats.efficiency() * 100.0,
        stats.scheduler_stats.rerun,
        stats.scheduler_stats.requeued,
        stats.scheduler_stats.speculative,
        stats.quarantined,
    );
}
