//! Utilization of the line by an upload and of the processor by a run, in T-states of the board.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use board_simulator::{InProcessBoard, Probe};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{Reply, Request};
use hil_harness::board::BoardKind;
use hil_harness::live::BoardConfig;
use hil_harness::runner::{RunOptions, Verdict};
use rcflash_link::loader::{enter_monitor, upload_missing};
use rcflash_link::{Link, RequestSpec};
use sargon_corpus::{self as corpus, Case};
use sargon_suite::{SargonBoard, run_cases};

#[test]
fn an_upload_fills_nine_tenths_of_the_line() {
    for name in BoardProfile::names() {
        let used = used_by_an_upload(name);
        assert!(used >= 0.9, "on {name} an upload uses {:.1} % of the line", used * 100.0);
    }
}

/// Returns the share of the time in which the line carried bytes of the program.
fn used_by_an_upload(board: &str) -> f64 {
    let profile = BoardProfile::named(board).expect("it ships");
    let rom = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let board = InProcessBoard::new(&profile, &rom.bytes, Probe::default());
    let mut link = Link::new(Box::new(board.line()), profile.uart.baud);
    let monitor = enter_monitor(&mut link).unwrap_or_else(|error| panic!("{error}"));
    let program: Vec<u8> = (0..28 * 1024_u32).map(|at| ((at * at) >> 7) as u8).collect();
    let started = board.state().time();
    let mut ended = started;
    let progress = |_| ended = board.state().time();
    upload_missing(&mut link, &monitor, 0x8000, &program, progress)
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(link.stats().total_retries(), 0, "{:?}", link.stats());
    let character = 10.0 * profile.clock_hz as f64 / f64::from(profile.uart.baud);
    program.len() as f64 * character / (ended - started) as f64
}

#[test]
fn a_run_of_whole_positions_keeps_the_processor_busy() {
    for name in BoardProfile::names() {
        let profile = BoardProfile::named(name).expect("it ships");
        let config = BoardConfig { board: BoardKind::InProcess, ..BoardConfig::simulated(profile) };
        let mut live =
            SargonBoard::prepare(&config.into()).unwrap_or_else(|error| panic!("{error}"));
        let played = |case: &Case| case.tags.iter().any(|tag| tag == "play");
        let cases = corpus::builtin_corpus().expect("it ships");
        let cases = cases.into_iter().filter(played).take(200);
        let stop = AtomicBool::new(false);
        let options =
            RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
        let waits_before = wait_count(&mut live);
        let before = live.live.link.stats();
        let mut passed = 0;
        run_cases(&mut live, cases, options, |result| {
            passed += u32::from(result.verdict == Verdict::Pass);
        });
        assert_eq!(passed, 200);
        let waits = f64::from(wait_count(&mut live) - waits_before);
        let passed = live.live.link.stats().since(&before);
        let waits_per_character = waits / (passed.bytes.0 + passed.bytes.1) as f64;
        // The waits are for the characters of the first request, before which the board is idle.
        assert!(waits_per_character < 0.05, "on {name}: {waits_per_character}");
    }
}

/// Returns how often the application has waited since its start, by its own count.
fn wait_count(live: &mut SargonBoard) -> u32 {
    let request = RequestSpec::new("reading the count of waits", Request::Idle, Duration::ZERO);
    match live.live.link.request_all(&request).as_deref() {
        Ok([Reply::IdleCount(count)]) => *count,
        other => panic!("{other:?}"),
    }
}

/// Returns positions of games per second of the board's time, and the share of the time in which a
/// character was on the line from the board.
fn positions_a_second(board: &str, full: bool) -> (f64, f64) {
    const COUNT: u32 = 240;
    let profile = BoardProfile::named(board).expect("it ships");
    let baud = profile.uart.baud;
    let board = BoardKind::InProcess;
    let config = BoardConfig { board, full_responses: full, ..BoardConfig::simulated(profile) };
    let mut live = SargonBoard::prepare(&config.into()).unwrap_or_else(|error| panic!("{error}"));
    let played = |case: &Case| case.tags.iter().any(|tag| tag == "play");
    let cases = corpus::builtin_corpus().expect("it ships").into_iter().filter(played);
    let stop = AtomicBool::new(false);
    let options = RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
    let before = live.live.link.stats();
    let started = live.live.board_time().expect("it is simulated");
    run_cases(&mut live, cases.take(COUNT as usize), options, |result| {
        assert_eq!(result.verdict, Verdict::Pass);
    });
    let took = live.live.board_time().expect("it is simulated") - started;
    let passed = live.live.link.stats().since(&before);
    let characters = passed.busy.as_secs_f64() * f64::from(baud) / 10.0;
    (f64::from(COUNT) / took.as_secs_f64(), passed.bytes.1 as f64 / characters)
}

#[test]
fn positions_by_crc_and_in_full_reach_the_documented_rate() {
    for name in BoardProfile::names() {
        let (by_checks, _) = positions_a_second(name, false);
        assert!(by_checks >= 58.0, "on {name} {by_checks:.1} positions a second by CRC");
        let (full, rx) = positions_a_second(name, true);
        let used = rx * 100.0;
        println!("{name}: {by_checks:.1}, in full {full:.1}, line {used:.1} % used");
        assert!(
            full >= 30.0 && used >= 95.0,
            "on {name} {full:.1} in full, {used:.1} % of the line"
        );
    }
}

#[test]
fn the_times_of_cases_in_flight_together_add_up_to_that_of_the_board() {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let board = BoardKind::InProcess;
    let config = BoardConfig { board, full_responses: true, ..BoardConfig::simulated(profile) };
    let mut live = SargonBoard::prepare(&config.into()).expect("it is simulated");
    let before = live.live.link.stats().busy;
    let interrupted = AtomicBool::new(false);
    let options =
        RunOptions { repeat: 2, fail_fast: false, baseline: None, interrupted: &interrupted };
    let cases = corpus::builtin_corpus().expect("it ships").into_iter().take(100);
    let mut sum = Duration::ZERO;
    run_cases(&mut live, cases, options, |result| sum += Duration::from_micros(result.elapsed_us));
    let busy = live.live.link.stats().busy - before;
    assert!(!sum.is_zero() && sum.abs_diff(busy) * 100 <= busy, "{sum:?} of {busy:?}");
}
