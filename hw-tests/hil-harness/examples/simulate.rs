//! Plays the stories of seeds: `simulate FIRST COUNT` prints figures and findings, and ends with 1
//! if there is a finding. `simulate SEED 1` replays one.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hil_harness::simulation::{Finding, Stage, Story, simulate};

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [first, count] = numbers[..] else {
        eprintln!("usage: simulate FIRST COUNT");
        return ExitCode::from(2);
    };
    let stage = match Stage::set() {
        Ok(stage) => stage,
        Err(error) => {
            eprintln!("simulate: {error}");
            return ExitCode::from(3);
        }
    };
    let began = Instant::now();
    let (all, findings) = play(&stage, first, count);
    show(&all);
    println!("{:.0} s of this computer", began.elapsed().as_secs_f64());
    findings.iter().for_each(|finding| println!("FINDING {finding}"));
    println!("{} findings", findings.len());
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays seeds on all cores.
fn play(stage: &Stage, first: u64, count: u64) -> (Story, Vec<Finding>) {
    let next = AtomicU64::new(0);
    let total = Mutex::new((Story::default(), Vec::new()));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let told = simulate(stage, first + number);
                    let mut total = total.lock().expect("no thread fails with it");
                    match told {
                        Ok(story) => total.0.add(&story),
                        Err(finding) => total.1.push(finding),
                    }
                }
            });
        }
    });
    total.into_inner().expect("no thread failed with it")
}

fn show(story: &Story) {
    let hours = story.time.as_secs_f64() / 3600.0;
    println!("{} seeds, {} runs, {hours:.1} simulated hours", story.seeds, story.episodes);
    println!("{} calls on the port, {} accesses to the disk", story.calls, story.accesses);
    for (name, count) in &story.faults {
        println!("{count:>9} {name}");
    }
    for (verdict, count) in &story.verdicts {
        println!("{count:>9} results: {verdict}");
    }
    println!("trace {:016X}", story.trace);
}
