//! Simulates whole runs on scripted boards: `runs FIRST COUNT` prints statistics and violated
//! invariants of as many seeds, and exits with 1 if there are any. The threads of a run are
//! scheduled by the machine, so a violation may need several runs of its seed.

use std::process::ExitCode;
use std::time::Instant;

use cli_support::exit::{FAILED, USAGE};
use hil_testing::run_simulation::{RunStats, simulate};

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [first, count] = numbers[..] else {
        eprintln!("usage: runs FIRST COUNT");
        return ExitCode::from(USAGE);
    };
    let began = Instant::now();
    let mut all = RunStats::default();
    let mut violations = 0;
    for seed in first..first + count {
        match simulate(seed) {
            Ok(stats) => all.add(&stats),
            Err(violation) => {
                println!("VIOLATION {violation}");
                violations += 1;
            }
        }
    }
    println!("{count} seeds, {} runs, {:.0} s", all.runs, began.elapsed().as_secs_f64());
    all.verdicts.iter().for_each(|(verdict, count)| println!("{count:>9} cases {verdict}"));
    all.exit_codes
        .iter()
        .for_each(|(code, count)| println!("{count:>9} runs with exit code {code}"));
    println!("{violations} violations");
    if violations == 0 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}
