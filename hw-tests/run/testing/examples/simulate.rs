//! Simulates the scenarios of seeds: `simulate FIRST COUNT` prints statistics and violated
//! invariants, and exits with 1 if there are any. `simulate SEED 1` repeats one seed. With `damage`
//! after the numbers the evaluators damage their boards, and no case may pass.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hil_testing::simulation::{InvariantViolation, SimulationEnv, SimulationStats, simulate};

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let damages = words.iter().any(|word| word == "damage");
    let [first, count] = numbers[..] else {
        eprintln!("usage: simulate FIRST COUNT [damage]");
        return ExitCode::from(2);
    };
    let built = match damages {
        true => SimulationEnv::with_damaging_programs(),
        false => SimulationEnv::build(),
    };
    let env = match built {
        Ok(env) => env,
        Err(error) => {
            eprintln!("simulate: {error}");
            return ExitCode::from(3);
        }
    };
    let began = Instant::now();
    let (all, violations) = simulate_all(&env, first, count);
    show(&all);
    println!("{:.0} s of real time", began.elapsed().as_secs_f64());
    violations.iter().for_each(|violation| println!("VIOLATION {violation}"));
    println!("{} violations", violations.len());
    if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Simulates seeds on all cores.
fn simulate_all(
    env: &SimulationEnv,
    first: u64,
    count: u64,
) -> (SimulationStats, Vec<InvariantViolation>) {
    let next = AtomicU64::new(0);
    let total = Mutex::new((SimulationStats::default(), Vec::new()));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let result = simulate(env, first + number);
                    let mut total = total.lock().expect("no thread fails with it");
                    match result {
                        Ok(stats) => total.0.add(&stats),
                        Err(violation) => total.1.push(violation),
                    }
                }
            });
        }
    });
    total.into_inner().expect("no thread failed with it")
}

fn show(stats: &SimulationStats) {
    let hours = stats.time.as_secs_f64() / 3600.0;
    println!("{} seeds, {} runs, {hours:.1} simulated hours", stats.seeds, stats.episodes);
    println!("{} calls on the port, {} accesses to the disk", stats.calls, stats.accesses);
    for (name, count) in &stats.faults {
        println!("{count:>9} {name}");
    }
    for (verdict, count) in &stats.verdicts {
        println!("{count:>9} results: {verdict}");
    }
    println!("trace {:016X}", stats.trace);
}
