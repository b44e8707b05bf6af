//! Deterministic simulation of the whole harness: seeds, and single failing accesses.

use std::path::Path;
use std::sync::OnceLock;

use hil_harness::results::line::decode_line;
use hil_testing::simulated_disk::DiskFault;
use hil_testing::simulation::operator::{PortFault, ScriptedEvent};
use hil_testing::simulation::{
    Episode, Scenario, SimulationEnv, SimulationStats, SingleRun, simulate,
};
use sargon_suite::Record;

/// The seeds of every test run; `.ci/simulate` runs ten thousand.
const SEEDS: std::ops::Range<u64> = 0..40;
/// Seeds that have violated an invariant before.
const REGRESSION_SEEDS: [u64; 11] = [125, 346, 477, 1024, 1687, 3869, 3924, 4680, 5645, 6690, 7258];
/// Points of a run at which each kind of fault is injected.
const FAULT_POINTS: u64 = 7;

fn env() -> &'static SimulationEnv {
    static ENV: OnceLock<SimulationEnv> = OnceLock::new();
    ENV.get_or_init(|| SimulationEnv::build().unwrap_or_else(|error| panic!("{error}")))
}

/// Returns a scenario without faults: two positions and an array, with all files.
fn without_faults() -> Scenario {
    let chosen = ["byte.figure4", "byte.figure1", "odd.overflow"];
    let cases = env().cases().iter().filter(|case| chosen.contains(&case.id.as_str()));
    Scenario::without_faults(cases.cloned().collect())
}

fn run_once(scenario: &Scenario) -> SingleRun {
    env().run_once(scenario).unwrap_or_else(|what| panic!("{scenario:?}: {what}"))
}

#[test]
fn no_seed_violates_an_invariant_and_all_kinds_of_faults_occur() {
    let mut all = SimulationStats::default();
    for seed in SEEDS.chain(REGRESSION_SEEDS) {
        all.add(&simulate(env(), seed).unwrap_or_else(|violation| panic!("{violation}")));
    }
    let has_fault = |words: &str| all.faults.keys().any(|name| name.starts_with(words));
    for kind in ["line ", "port ", "disk ", "operator reset", "operator powercut", "operator kill"]
    {
        assert!(has_fault(kind), "{kind}: {:?}", all.faults);
    }
    assert!(all.verdicts["pass"] > 50 && all.verdicts.contains_key("fail"), "{:?}", all.verdicts);
}

#[test]
fn no_evaluator_passes_that_damages_its_board_whatever_else_happens() {
    let env = SimulationEnv::with_damaging_programs().unwrap_or_else(|error| panic!("{error}"));
    let mut all = SimulationStats::default();
    for seed in SEEDS {
        all.add(&simulate(&env, seed).unwrap_or_else(|violation| panic!("{violation}")));
    }
    assert!(all.verdicts["fail"] > 50 && !all.verdicts.contains_key("pass"), "{:?}", all.verdicts);
}

#[test]
fn a_seed_gives_the_same_simulation_each_time() {
    for seed in [3, 11] {
        let [one, two] = [(); 2].map(|()| simulate(env(), seed).unwrap_or_else(|f| panic!("{f}")));
        assert_eq!(one, two);
    }
    assert_ne!(simulate(env(), 3), simulate(env(), 11));
}

#[test]
fn a_run_without_faults_passes() {
    let run = run_once(&without_faults());
    assert_eq!((run.exit_code(), run.reason().as_str()), (0, ""));
}

#[test]
fn a_port_that_fails_at_any_call_ends_the_run_and_is_named() {
    let calls = run_once(&without_faults()).stats.calls;
    for fault in PortFault::ALL {
        for place in 0..FAULT_POINTS {
            for count in [1, u64::MAX] {
                let first = place * calls / FAULT_POINTS;
                let events = vec![(first, ScriptedEvent::Line(fault, count))];
                let run = run_once(
                    &without_faults().with_episode(Episode { events, ..Episode::default() }),
                );
                let code = run.exit_code();
                let reason = run.reason();
                let case = format!("{fault:?} at {first} of {calls} for {count}: {code}, {reason}");
                // The board may need only a part of what is written.
                let can_be_survived = count == 1 || fault == PortFault::Empty;
                assert!(code == 3 || (can_be_survived && matches!(code, 0 | 5)), "{case}");
                let is_named = reason.contains("simulated rc2014-classic");
                assert!(code == 0 || code == 5 || reason.is_empty() || is_named, "{case}");
                assert!(code != 3 || !reason.is_empty(), "{case}");
            }
        }
    }
}

#[test]
fn a_flaky_case_ends_a_run_with_fail_fast() {
    let cases = env().cases().iter().take(16).cloned().collect();
    let without_faults = Scenario { fail_fast: true, ..Scenario::without_faults(cases) };
    let calls = run_once(&without_faults).stats.calls;
    let ended = (calls / 2..calls).step_by(3).find_map(|at| {
        let events = vec![(at, ScriptedEvent::Reset)];
        let run = run_once(&without_faults.with_episode(Episode { events, ..Episode::default() }));
        let counts = run.outcome.as_ref().ok()?.totals.counts;
        (counts.flaky > 0).then(|| (run.exit_code(), run.reason(), counts))
    });
    let (code, reason, counts) = ended.expect("a reset in the midst of a case");
    assert_eq!((code, counts.fail), (5, 0), "{counts:?}");
    assert!(reason.contains("first case that does not pass"), "{reason}");
}

/// Checks that the results file has only complete lines with correct checksums.
fn check_complete_lines(run: &SingleRun) {
    let content = run.disk.content(Path::new("run/results")).unwrap_or_default();
    let text = String::from_utf8(content).expect("text");
    let mut sum = 0;
    for line in text.split_inclusive('\n') {
        assert!(line.ends_with('\n'), "a torn line: {line}");
        (_, sum) =
            decode_line::<Record>(line.trim_end(), sum).unwrap_or_else(|e| panic!("{line}: {e}"));
    }
}

#[test]
fn a_disk_that_is_full_at_any_access_ends_the_run_with_the_file_named_and_complete_lines() {
    let accesses = run_once(&without_faults()).stats.accesses;
    // The first and the last accesses differ from the others, so all of them are tried.
    let places: Vec<u64> = (0..14)
        .chain((1..FAULT_POINTS).map(|at| at * accesses / FAULT_POINTS))
        .chain(accesses - 6..accesses)
        .collect();
    for first in places {
        for count in [1, u64::MAX] {
            let disk = Some((first, count, DiskFault::Full));
            let run =
                run_once(&without_faults().with_episode(Episode { disk, ..Episode::default() }));
            let code = run.exit_code();
            let reason = run.reason();
            let case = format!("full at {first} of {accesses} for {count}: {code}, {reason}");
            assert_eq!(code, 3, "{case}");
            assert!(reason.contains("run/") && !reason.contains("plugged in"), "{case}");
            check_complete_lines(&run);
        }
    }
}

#[test]
fn a_disk_that_is_broken_for_ever_ends_the_run_with_the_file_named() {
    let accesses = run_once(&without_faults()).stats.accesses;
    for place in 0..FAULT_POINTS {
        let disk = Some((place * accesses / FAULT_POINTS, u64::MAX, DiskFault::Broken));
        let run = run_once(&without_faults().with_episode(Episode { disk, ..Episode::default() }));
        assert_eq!(run.exit_code(), 3, "{place}: {}", run.reason());
        assert!(run.reason().contains("run/"), "{}", run.reason());
    }
}
