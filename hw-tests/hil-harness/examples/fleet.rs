//! Runs fleets under a simulated clock by the scheduler of `hw-tests run`, and prints their
//! figures: `cargo run --release -p hil-harness --example fleet -- 1000 1000000`, with the numbers
//! of boards and of cases.

use std::time::{Duration, Instant};

use hil_harness::fleet::simulated::{Figures, World, simulate};

/// The mean time of a position by its check, at 115,200 baud (docs/BENCHMARKS.md).
const MEAN: Duration = Duration::from_millis(17);
/// Cases under way in the window of a board.
const WINDOW: usize = 14;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<usize>().ok());
    let boards = numbers.next().unwrap_or(1000);
    let cases = numbers.next().unwrap_or(boards * 1000);
    let good = World {
        boards,
        cases,
        seed: 1,
        window: WINDOW,
        mean: MEAN,
        slow: 0,
        lost: 0,
        lying: 0,
        wrong: 0,
    };
    let worlds = [
        ("one board", World { boards: 1, cases: cases.min(10_000), ..good }),
        ("4 boards", World { boards: 4, cases: cases.min(40_000), ..good }),
        ("all are well", good),
        ("100 of 1,000 are ten times slower", World { slow: 100, ..good }),
        ("100 of 1,000 are lost on the way", World { lost: 100, ..good }),
        ("10 of 1,000 lie", World { lying: 10, ..good }),
        ("1 case of 1,000 is wrong everywhere", World { wrong: 1000, ..good }),
        ("all of these", World { slow: 100, lost: 100, lying: 10, wrong: 1000, ..good }),
    ];
    let columns = "fleet | time | boards' worth | of the ideal | repeated | passed on | copied";
    println!("| {columns} | set aside | scheduler |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, world) in worlds {
        let began = Instant::now();
        let figures = simulate(world);
        let settled = figures.settled.iter().filter(|times| **times == 1).count();
        assert_eq!(settled, world.cases, "{name}: each case has one verdict");
        row(name, &figures, began.elapsed());
    }
}

fn row(name: &str, figures: &Figures, took: Duration) {
    let each = took.as_secs_f64() * 1e9 / figures.calls.max(1) as f64;
    println!(
        "| {name} | {:.1} s | {:.1} | {:.1} % | {} | {} | {} | {} | {each:.0} ns a call |",
        figures.took.as_secs_f64(),
        figures.boards_worth(),
        figures.efficiency() * 100.0,
        figures.tally.repeated,
        figures.tally.returned,
        figures.tally.copied,
        figures.set_aside,
    );
}
