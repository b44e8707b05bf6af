//! Any bytes as a transcript: its replay ends, and no case fails by it.
#![no_main]

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use firmware::profile::BoardProfile;
use hil_harness::board::BoardKind;
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::{BoardConfig, Programs};
use hil_harness::runner::{RunOptions, Verdict};
use libfuzzer_sys::fuzz_target;
use sargon_corpus::{Case, builtin_corpus};
use sargon_suite::{SargonBoard, SargonConfig, run_cases};

mod scratch;

static PROGRAMS: LazyLock<Arc<Programs>> = LazyLock::new(|| {
    let plan = plan(BoardKind::InProcess);
    Arc::new(plan.programs().unwrap_or_else(|error| panic!("{error}")))
});
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let all = builtin_corpus().expect("the corpus");
    all.into_iter().filter(|case| case.id == "byte.figure4" || case.id == "odd.overflow").collect()
});

fn plan(board: BoardKind) -> SargonConfig {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    BoardConfig { board, ..BoardConfig::simulated(profile) }.into()
}

fuzz_target!(|bytes: &[u8]| {
    let path = scratch::file("tape", bytes);
    let programs = Arc::clone(&PROGRAMS);
    let plan = plan(BoardKind::Replay(path));
    let Ok(mut live) = SargonBoard::prepare_with(&plan, programs, &OsFileSystem, |board| board)
    else {
        return;
    };
    let never = AtomicBool::new(false);
    let options = RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &never };
    run_cases(&mut live, CASES.iter().cloned(), options, |result| {
        assert_ne!(result.verdict, Verdict::Fail);
    });
});
