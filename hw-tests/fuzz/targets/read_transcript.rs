//! Any bytes as a transcript: its replay ends, and no case fails by it.
#![no_main]

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use firmware::profile::Profile;
use hil_harness::board::Choice;
use hil_harness::disk::SystemDisk;
use hil_harness::live::{LiveBoard, Plan, Programs};
use hil_harness::runner::{Options, Verdict, run_cases};
use libfuzzer_sys::fuzz_target;
use sargon_corpus::{Case, shipped};

mod scratch;

static PROGRAMS: LazyLock<Arc<Programs>> = LazyLock::new(|| {
    let plan = plan(Choice::Direct { rom: None });
    Arc::new(Programs::build(&plan).unwrap_or_else(|error| panic!("{error}")))
});
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let all = shipped().expect("the corpus");
    all.into_iter().filter(|case| case.id == "byte.figure4" || case.id == "odd.overflow").collect()
});

fn plan(board: Choice) -> Plan {
    let profile = Profile::named("rc2014-classic").expect("it ships");
    Plan { board, ..Plan::simulated(profile) }
}

fuzz_target!(|bytes: &[u8]| {
    let path = scratch::file("tape", bytes);
    let programs = Arc::clone(&PROGRAMS);
    let plan = plan(Choice::Replay(path));
    let Ok(mut live) = LiveBoard::prepare_with(&plan, programs, &SystemDisk, |board| board) else {
        return;
    };
    let never = AtomicBool::new(false);
    let options = Options { repeat: 1, fail_fast: false, baseline: None, interrupted: &never };
    run_cases(&mut live, CASES.iter().cloned(), options, |result| {
        assert_ne!(result.verdict, Verdict::Fail);
    });
});
