//! The whole harness in a simulated world: stories of seeds, and every access of a run that fails.

use std::path::Path;
use std::sync::OnceLock;

use hil_harness::disk::DiskFault;
use hil_harness::results::Record;
use hil_harness::results::line::open;
use hil_harness::simulation::operator::{Event, LineFault};
use hil_harness::simulation::{Episode, Once, Scenario, Stage, Story, simulate};

/// Stories of every run of the tests; `.ci/simulate` plays ten thousand.
const SEEDS: std::ops::Range<u64> = 0..40;
/// Seeds that have found something.
const FOUND: [u64; 11] = [125, 346, 477, 1024, 1687, 3869, 3924, 4680, 5645, 6690, 7258];
/// Places of a run at which each kind of fault is tried.
const PLACES: u64 = 7;

fn stage() -> &'static Stage {
    static STAGE: OnceLock<Stage> = OnceLock::new();
    STAGE.get_or_init(|| Stage::set().unwrap_or_else(|error| panic!("{error}")))
}

/// Two positions and an array, with results, transcript and report.
fn quiet() -> Scenario {
    let chosen = ["byte.figure4", "byte.figure1", "odd.overflow"];
    let cases = stage().cases().iter().filter(|case| chosen.contains(&case.id.as_str()));
    Scenario::quiet(cases.cloned().collect())
}

fn played(scenario: &Scenario) -> Once {
    stage().play_once(scenario).unwrap_or_else(|what| panic!("{scenario:?}: {what}"))
}

#[test]
fn no_story_breaks_an_invariant_and_all_kinds_of_faults_are_met() {
    let mut all = Story::default();
    for seed in SEEDS.chain(FOUND) {
        all.add(&simulate(stage(), seed).unwrap_or_else(|finding| panic!("{finding}")));
    }
    let met = |words: &str| all.faults.keys().any(|name| name.starts_with(words));
    for kind in ["line ", "port ", "disk ", "operator reset", "operator powercut", "operator kill"]
    {
        assert!(met(kind), "{kind}: {:?}", all.faults);
    }
    assert!(all.verdicts["pass"] > 50 && all.verdicts.contains_key("fail"), "{:?}", all.verdicts);
}

#[test]
fn a_seed_is_the_same_story_each_time() {
    for seed in [3, 11] {
        let [one, two] =
            [(); 2].map(|()| simulate(stage(), seed).unwrap_or_else(|f| panic!("{f}")));
        assert_eq!(one, two);
    }
    assert_ne!(simulate(stage(), 3), simulate(stage(), 11));
}

#[test]
fn a_quiet_run_passes() {
    let run = played(&quiet());
    assert_eq!((run.exit_code(), run.why().as_str()), (0, ""));
}

#[test]
fn a_port_that_fails_at_any_call_ends_the_run_and_is_named() {
    let calls = played(&quiet()).story.calls;
    for fault in LineFault::ALL {
        for place in 0..PLACES {
            for count in [1, u64::MAX] {
                let first = place * calls / PLACES;
                let events = vec![(first, Event::Line(fault, count))];
                let run = played(&quiet().with(Episode { events, ..Episode::default() }));
                let code = run.exit_code();
                let why = run.why();
                let case = format!("{fault:?} at {first} of {calls} for {count}: {code}, {why}");
                // A part of a write may be enough for the whole of what the board needs.
                let can_be_survived = count == 1 || fault == LineFault::Empty;
                assert!(code == 3 || (can_be_survived && matches!(code, 0 | 5)), "{case}");
                let is_named = why.contains("simulated rc2014-classic");
                assert!(code == 0 || code == 5 || why.is_empty() || is_named, "{case}");
                assert!(code != 3 || !why.is_empty(), "{case}");
            }
        }
    }
}

#[test]
fn a_flaky_case_ends_a_run_that_is_to_end_at_the_first_that_does_not_pass() {
    let cases = stage().cases().iter().take(16).cloned().collect();
    let quiet = Scenario { fail_fast: true, ..Scenario::quiet(cases) };
    let calls = played(&quiet).story.calls;
    let ended = (calls / 2..calls).step_by(3).find_map(|at| {
        let events = vec![(at, Event::Reset)];
        let run = played(&quiet.with(Episode { events, ..Episode::default() }));
        let counts = run.outcome.as_ref().ok()?.overview.counts();
        (counts.flaky > 0).then(|| (run.exit_code(), run.why(), counts))
    });
    let (code, why, counts) = ended.expect("a reset in the midst of a case");
    assert_eq!((code, counts.fail), (5, 0), "{counts:?}");
    assert!(why.contains("first case that does not pass"), "{why}");
}

/// Checks that a file has whole lines only, each with its sum.
fn has_whole_lines(run: &Once) {
    let content = run.disk.content(Path::new("run/results")).unwrap_or_default();
    let text = String::from_utf8(content).expect("text");
    let mut sum = 0;
    for line in text.split_inclusive('\n') {
        assert!(line.ends_with('\n'), "a torn line: {line}");
        (_, sum) = open::<Record>(line.trim_end(), sum).unwrap_or_else(|e| panic!("{line}: {e}"));
    }
}

#[test]
fn a_disk_that_is_full_at_any_access_ends_the_run_with_the_file_named_and_whole_lines_kept() {
    let accesses = played(&quiet()).story.accesses;
    // The head of the run and its end have the rarest accesses: all of them are tried.
    let places: Vec<u64> = (0..14)
        .chain((1..PLACES).map(|at| at * accesses / PLACES))
        .chain(accesses - 6..accesses)
        .collect();
    for first in places {
        for count in [1, u64::MAX] {
            let disk = Some((first, count, DiskFault::Full));
            let run = played(&quiet().with(Episode { disk, ..Episode::default() }));
            let code = run.exit_code();
            let why = run.why();
            let case = format!("full at {first} of {accesses} for {count}: {code}, {why}");
            assert_eq!(code, 3, "{case}");
            assert!(why.contains("run/") && !why.contains("plugged in"), "{case}");
            has_whole_lines(&run);
        }
    }
}

#[test]
fn a_disk_that_is_broken_for_ever_ends_the_run_with_the_file_named() {
    let accesses = played(&quiet()).story.accesses;
    for place in 0..PLACES {
        let disk = Some((place * accesses / PLACES, u64::MAX, DiskFault::Broken));
        let run = played(&quiet().with(Episode { disk, ..Episode::default() }));
        assert_eq!(run.exit_code(), 3, "{place}: {}", run.why());
        assert!(run.why().contains("run/"), "{}", run.why());
    }
}
