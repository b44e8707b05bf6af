//! The share of the line an upload uses, and of the processor a run: counted in the board's own
//! T-states.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use board_simulator::board_spec;
use board_simulator::{BoardModel, QueueLine, RunStop};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::Profile;
use hil_harness::board::Choice;
use hil_harness::live::{Limit, LiveBoard, Load, Plan};
use hil_harness::runner::{Options, Verdict, run_cases};
use rcflash_link::Link;
use rcflash_link::loader::{enter_monitor, upload_missing};
use rcflash_transport::Transport;
use sargon_corpus::{self as corpus, Case};

/// T-states of a character at 115,200 baud and 7.3728 MHz, ten bits of 64 clocks (docs/BOARDS.md).
const CHARACTER: f64 = 640.0;
/// T-states in which the board answers anything or never will.
const PATIENCE: u64 = 100_000_000;

/// A board in the test's own thread, at the end of a line without delays.
#[derive(Clone)]
struct Near(Arc<Mutex<BoardModel<QueueLine>>>);

impl Near {
    fn with<T>(&self, act: impl FnOnce(&mut BoardModel<QueueLine>) -> T) -> T {
        act(&mut self.0.lock().expect("nobody has failed with it"))
    }
}

impl Transport for Near {
    fn name(&self) -> &str {
        "a board near by"
    }

    fn read(&mut self, buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
        self.with(|board| {
            let end = board.clock() + PATIENCE;
            while board.line_mut().from_board.is_empty() && board.clock() < end {
                if board.run_for(CHARACTER as u64) == RunStop::Idle {
                    break;
                }
            }
            let heard = std::mem::take(&mut board.line_mut().from_board);
            buffer[..heard.len()].copy_from_slice(&heard);
            Ok(heard.len())
        })
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        self.with(|board| board.line_mut().to_board.extend(bytes));
        Ok(())
    }
}

#[test]
fn an_upload_fills_nine_tenths_of_the_line() {
    for name in Profile::names() {
        let used = used_by_an_upload(name);
        assert!(used >= 0.9, "on {name} an upload uses {:.1} % of the line", used * 100.0);
    }
}

/// The part of the time on the line that carried bytes of the program.
fn used_by_an_upload(board: &str) -> f64 {
    let profile = Profile::named(board).expect("it ships");
    let rom = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let board = BoardModel::new(board_spec(&profile), &rom.bytes, QueueLine::default());
    let near = Near(Arc::new(Mutex::new(board)));
    let mut link = Link::new(Box::new(near.clone()), profile.uart.baud);
    let monitor = enter_monitor(&mut link).unwrap_or_else(|error| panic!("{error}"));
    let program: Vec<u8> = (0..28 * 1024_u32).map(|at| ((at * at) >> 7) as u8).collect();
    let began = near.with(|board| board.clock());
    let mut ended = began;
    let progress = |_| ended = near.with(|board| board.clock());
    upload_missing(&mut link, &monitor, 0x8000, &program, progress)
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(link.stats().total_retries(), 0, "{:?}", link.stats());
    program.len() as f64 * CHARACTER / (ended - began) as f64
}

#[test]
fn a_run_of_whole_positions_keeps_the_processor_busy() {
    for name in Profile::names() {
        let profile = Profile::named(name).expect("it ships");
        let plan = Plan { board: Choice::Direct { rom: None }, ..Plan::simulated(profile) };
        let mut rig = LiveBoard::prepare(&plan).unwrap_or_else(|error| panic!("{error}"));
        let played = |case: &Case| case.tags.iter().any(|tag| tag == "play");
        let cases = corpus::shipped().expect("it ships").into_iter().filter(played).take(200);
        let stop = AtomicBool::new(false);
        let options = Options { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
        let mut passed = 0;
        run_cases(&mut rig, cases, options, |result| {
            passed += u32::from(result.verdict == Verdict::Pass);
        });
        assert_eq!(passed, 200);
        rig.note_waits();
        let load = rig.load().expect("the board has a clock");
        // For the characters of the first request, while nothing is there to work on.
        assert!(load.waits.is_some_and(|waits| waits < 0.05), "on {name}: {load}");
        let busy = load.processor.is_some_and(|busy| (0.95..=1.0).contains(&busy));
        assert!(busy && load.limit() == Some(Limit::Processor), "on {name}: {load}");
    }
}

/// Positions of games a second of the board's own time, and the share of the line from it.
fn positions_a_second(board: &str, full: bool) -> (f64, f64) {
    const COUNT: u32 = 240;
    let profile = Profile::named(board).expect("it ships");
    let board = Choice::Direct { rom: None };
    let plan = Plan { board, full, ..Plan::simulated(profile) };
    let mut rig = LiveBoard::prepare(&plan).unwrap_or_else(|error| panic!("{error}"));
    let played = |case: &Case| case.tags.iter().any(|tag| tag == "play");
    let cases = corpus::shipped().expect("it ships").into_iter().filter(played);
    let stop = AtomicBool::new(false);
    let options = Options { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
    let began = rig.board_time().expect("it is simulated");
    run_cases(&mut rig, cases.take(COUNT as usize), options, |result| {
        assert_eq!(result.verdict, Verdict::Pass);
    });
    let took = rig.board_time().expect("it is simulated") - began;
    rig.note_waits();
    let load = rig.load().expect("the board has a clock");
    // What the board says of itself leads to the same limit as its clock.
    let told = Load { processor: None, line: load.line.filter(|_| full), ..load };
    assert_eq!(told.limit(), load.limit(), "{load}");
    let hearing = load.line.expect("it has a speed").hearing;
    (f64::from(COUNT) / took.as_secs_f64(), hearing)
}

#[test]
fn positions_by_checks_and_byte_for_byte_come_as_fast_as_promised() {
    for name in Profile::names() {
        let (by_checks, _) = positions_a_second(name, false);
        assert!(by_checks >= 60.0, "on {name} {by_checks:.1} positions a second by checks");
        let (full, hearing) = positions_a_second(name, true);
        let used = hearing * 100.0;
        println!("{name}: {by_checks:.1}, byte for byte {full:.1}, the line {used:.1} % used");
        assert!(
            full >= 30.0 && used >= 95.0,
            "on {name} {full:.1} in full, {used:.1} % of the line"
        );
    }
}
