//! Resuming a results file and writing the report need memory for the numbers of the cases, not for
//! their results, and a list of cases few bytes for each. Measured by counting what is allocated,
//! in a program without other tests.

// A global allocator is unsafe to implement; this one only counts, and calls the system's.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use firmware::profile::BoardProfile;
use hil_harness::board::BoardKind;
use hil_harness::campaign::{self, Observer, RunConfig};
use hil_harness::case_list::CaseList;
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::{BoardConfig, SetupError};
use hil_testing::many_results::ManyResults;
use sargon_corpus::{CORPUS_SEED, Case, generate, parse_line, to_epd};
use sargon_suite::{CompactCases, FleetBoard, RunContext, SargonConfig};

/// Bytes that are allocated, and the most since [`peak_during`] began.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Locked by each test, since bytes are counted for the whole program.
static MEASURING: Mutex<()> = Mutex::new(());

struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// SAFETY: all calls are passed on to the system's allocator as they are.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Returns the most bytes that `action` had allocated at a time.
fn peak_during(action: impl FnOnce()) -> usize {
    let before = ALLOCATED.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    action();
    PEAK.load(Ordering::Relaxed) - before
}

struct Silent;

impl<T: campaign::Executor> Observer<T> for Silent {}

/// Returns the most bytes that a run allocates which resumes a file of `count` results and writes
/// the report; its cases are allocated before. All of them are done, and no board is needed.
fn peak_of_resumed_run(count: usize) -> usize {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("results");
    let many = ManyResults::with_squares(64);
    let cases: Vec<_> = (0..count).map(|number| many.case(number)).collect();
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let head = ManyResults::header(count, &profile.name, &cases);
    many.write(&file, &head, count).expect("it is written");
    let config = RunConfig {
        behaviour: head.behaviour.clone(),
        repeat: 1,
        results: Some(file),
        resume: true,
        report: Some(folder.path().join("report")),
        ..RunConfig::default()
    };
    let board = BoardKind::InProcess { rom: None };
    let plan = SargonConfig::from(BoardConfig { board, ..BoardConfig::simulated(profile) });
    let peak = peak_during(|| {
        let observer = &mut Silent;
        let context = without_board(observer);
        let error =
            campaign::run(&config, &cases, Ok(plan), context).expect_err("there is no board");
        assert!(error.message.contains("does not reply"), "{error:?}");
    });
    assert_is_whole(&folder.path().join("report"), count);
    peak
}

fn assert_is_whole(report: &Path, count: usize) {
    let read = |name: &str| std::fs::read_to_string(report.join(name)).expect("it is written");
    assert_eq!(read("report.json").matches("{\"id\":\"many.").count(), count);
    assert_eq!(read("junit.xml").matches("<testcase name=\"many.").count(), count);
}

/// The context of a run of which no board becomes ready.
fn without_board(observer: &mut Silent) -> RunContext<'_> {
    RunContext {
        file_system: &OsFileSystem,
        clock: Arc::new(Instant::now),
        stop: Arc::new(AtomicBool::new(false)),
        prepare: &|_| Err(SetupError::NoReply),
        observer,
    }
}

/// So many cases, made when they are read.
struct Generated(ManyResults, usize);

impl CaseList<Case> for Generated {
    fn len(&self) -> usize {
        self.1
    }

    fn case(&self, index: usize) -> Case {
        self.0.case(index)
    }
}

/// Returns the most bytes that a run of `count` cases on four boards allocates, none of which is
/// ready.
fn peak_of_fleet(count: usize) -> usize {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let board = BoardKind::InProcess { rom: None };
    let plan = SargonConfig::from(BoardConfig { board, ..BoardConfig::simulated(profile) });
    let member = |number| FleetBoard { name: format!("{number}"), plan: Ok(plan.clone()) };
    let members = [0, 1, 2, 3].map(member);
    let cases = Generated(ManyResults::with_squares(1), count);
    let config = RunConfig { repeat: 1, ..RunConfig::default() };
    peak_during(|| {
        let observer = &mut Silent;
        let context = without_board(observer);
        let error = campaign::run_on_fleet(&config, &cases, &members, context)
            .expect_err("there is no board");
        assert!(error.message.contains("no board is ready"), "{error:?}");
    })
}

#[test]
fn a_case_of_a_run_on_several_boards_takes_few_bytes() {
    const CASES: usize = 1 << 15;
    let _alone = MEASURING.lock().expect("the other tests pass");
    let [few, many] = [CASES, 2 * CASES].map(peak_of_fleet);
    let growth = many.saturating_sub(few) / CASES;
    // Which cases have a result: 17 bytes. The selection and the order of the round: 4 each.
    assert!(growth < 28, "{growth} bytes for each case: {few} and {many} bytes");
}

#[test]
fn memory_of_a_resumed_run_does_not_depend_on_the_size_of_its_results() {
    let _alone = MEASURING.lock().expect("the other tests pass");
    // More than the buffered 1 MiB of results in both, so that these are not counted as growth.
    let [few, many] = [300, 600].map(peak_of_resumed_run);
    let growth = many.saturating_sub(few) / 300;
    // A key and an offset of each case, and slack of growing lists. A result has 9,000 bytes.
    assert!(growth < 250, "{growth} bytes for each case: {few} and {many} bytes");
}

#[test]
fn a_case_of_a_file_takes_few_bytes() {
    const CASES: usize = 40_000;
    let _alone = MEASURING.lock().expect("the other tests pass");
    let positions = to_epd(&generate(CORPUS_SEED, 100));
    let unnamed: Vec<_> =
        positions.lines().filter_map(|line| Some(line.split_once(" id ")?.0)).collect();
    let before = ALLOCATED.load(Ordering::Relaxed);
    let mut cases = CompactCases::default();
    let peak = peak_during(|| {
        for (line, text) in (1..=CASES).zip(unnamed.iter().cycle()) {
            let case = parse_line("cases.epd", line, text).expect("a position");
            cases.push("cases.epd", case.expect("no comment"));
        }
    });
    let size = (ALLOCATED.load(Ordering::Relaxed) - before) / CASES;
    assert_eq!(cases.len(), CASES);
    // The end 4, the template 1, the squares 8, 32 pieces 16, the clocks 1, the line 6: at most 36,
    // and twice that while a list grows. A parsed case has 500 bytes.
    assert!(size <= 72 && peak / CASES <= 108, "{size} bytes, {peak} at most for all");
}
