//! A run holds all its cases and results in memory. Measured by counting what is allocated, in a
//! program without other tests.

// A global allocator is unsafe to implement; this one only counts, and calls the system's.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use firmware::profile::{BoardProfile, UartKind};
use hil_harness::board::BoardKind;
use hil_harness::campaign::{self, Observer, RunConfig};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::{BoardConfig, SetupError};
use hil_harness::suite::Suite;
use hil_testing::many_results::ManyResults;
use sargon_suite::{Member, RunContext, SargonConfig};

/// Bytes that are allocated, and the most since [`peak_during`] began.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

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

impl<S: Suite> Observer<S> for Silent {}

/// Returns the most bytes that are allocated by `count` cases of which a file has the results, and
/// a run that resumes this file and writes the report. All cases are done, and no board is needed.
fn peak_of_resumed_run(count: usize) -> usize {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("results");
    let many = ManyResults::default();
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let cases = || (0..count).map(|number| many.case(number)).collect::<Vec<_>>();
    let head = ManyResults::header(count, &profile.name, &cases());
    many.write(&file, &head, count).expect("it is written");
    let config = RunConfig {
        behaviour: head.behaviour.clone(),
        repeat: 1,
        results: Some(file),
        resume: true,
        report: Some(folder.path().join("report")),
        ..RunConfig::default()
    };
    let board = BoardKind::InProcess;
    let plan = SargonConfig::from(BoardConfig { board, ..BoardConfig::simulated(profile) });
    let members = [Member { name: String::new(), plan: Ok(plan) }];
    let peak = peak_during(|| {
        let cases = cases();
        let observer = &mut Silent;
        let context = without_board(observer);
        let error =
            campaign::run(&config, &cases, &members, context).expect_err("there is no board");
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
        prepare: &|_| Err(SetupError::NoReply(UartKind::Acia)),
        observer,
    }
}

/// An eighth of 100,000 cases: by a power of two, so that growing lists and tables have the same
/// share of free room.
const CASES: usize = 100_000 / 8;
/// An eighth of 300 MB.
const MAX_BYTES: usize = 300_000_000 / 8;

#[test]
fn a_resumed_run_of_100_000_cases_with_its_report_takes_300_megabytes() {
    let peak = peak_of_resumed_run(CASES);
    println!("{} bytes a case", peak / CASES);
    assert!(peak <= MAX_BYTES, "{peak} bytes");
    // The values of 17 squares alone take 1,000 bytes: less would be an error of the measurement.
    assert!(peak >= 1000 * CASES, "{peak} bytes");
}
