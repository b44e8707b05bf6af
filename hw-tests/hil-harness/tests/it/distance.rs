//! Boards behind a network: the speed of uploads and runs that is left, in the board's own time.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use board_simulator::Probe;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::Profile;
use hil_harness::board::{Board, BoardError, Choice, DirectBoard, Instruments};
use hil_harness::disk::SystemDisk;
use hil_harness::live::{LiveBoard, Plan, Programs};
use hil_harness::runner::{Options, Verdict, run_cases};
use rcflash_link::loader::{enter_monitor, upload_missing};
use rcflash_link::{Link, LinkStats};
use rcflash_transport::Transport;
use sargon_corpus::{self as corpus, Case};

/// The least share of the speed near by that is kept.
const KEPT: f64 = 0.9;
/// The time on the network each way, half of 100 ms there and back.
const WAY: Duration = Duration::from_millis(50);

/// A board whose bytes take a while each way.
struct FarBoard {
    board: Box<dyn Board>,
    way: Duration,
}

impl Board for FarBoard {
    fn name(&self) -> &str {
        self.board.name()
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let mut line = self.board.open()?;
        // What is more than the board can hold is lost, as behind an adapter without CTS.
        line.obey_rts(false).expect("it can");
        let (there, back) = (VecDeque::new(), VecDeque::new());
        Ok(Box::new(FarLine { line, way: self.way, there, back }))
    }

    fn instruments(&self) -> Option<&dyn Instruments> {
        self.board.instruments()
    }
}

/// The line to it: bytes under way, and when they arrive.
struct FarLine {
    line: Box<dyn Transport + Send>,
    way: Duration,
    there: VecDeque<(Instant, Vec<u8>)>,
    back: VecDeque<(Instant, Vec<u8>)>,
}

/// The bytes under way that have arrived by now.
fn arrived(under_way: &mut VecDeque<(Instant, Vec<u8>)>, now: Instant) -> Option<Vec<u8>> {
    match under_way.front() {
        Some((at, _)) if *at <= now => under_way.pop_front().map(|(_, bytes)| bytes),
        _ => None,
    }
}

impl FarLine {
    /// Hands the board what has reached it, and listens to it until `end` or the next arrival.
    fn pass(&mut self, end: Instant) -> io::Result<()> {
        let now = self.line.now();
        while let Some(bytes) = arrived(&mut self.there, now) {
            self.line.write(&bytes, end)?;
        }
        let arrivals = self.there.front().into_iter().chain(self.back.front());
        let next = arrivals.map(|(at, _)| *at).min().map_or(end, |at| at.min(end));
        let mut heard = [0; 1024];
        let count = self.line.read(&mut heard, next.saturating_duration_since(now))?;
        if count > 0 {
            self.back.push_back((self.line.now() + self.way, heard[..count].to_vec()));
        }
        Ok(())
    }
}

impl Transport for FarLine {
    fn name(&self) -> &str {
        "a board far away"
    }

    fn now(&self) -> Instant {
        self.line.now()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let end = self.now() + timeout;
        loop {
            let now = self.now();
            if let Some(mut bytes) = arrived(&mut self.back, now) {
                let count = bytes.len().min(buffer.len());
                buffer[..count].copy_from_slice(&bytes[..count]);
                if count < bytes.len() {
                    self.back.push_front((now, bytes.split_off(count)));
                }
                return Ok(count);
            }
            if now >= end {
                return Ok(0);
            }
            self.pass(end)?;
        }
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        self.there.push_back((self.now() + self.way, bytes.to_vec()));
        Ok(())
    }
}

/// The time of an upload of 28 KiB, and the traffic.
fn upload(profile: &Profile, way: Duration) -> (Duration, LinkStats) {
    let rom = build(profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let board = Box::new(DirectBoard::new(profile, &rom.bytes, Probe::default()));
    let line = FarBoard { board, way }.open().expect("it is there");
    let mut link = Link::new(line, profile.uart.baud);
    let monitor = enter_monitor(&mut link).unwrap_or_else(|error| panic!("{error}"));
    let program: Vec<u8> = (0..28 * 1024_u32).map(|at| ((at * at) >> 7) as u8).collect();
    let began = link.now();
    upload_missing(&mut link, &monitor, 0x8000, &program, |_| {}).unwrap_or_else(|e| panic!("{e}"));
    (link.now() - began, link.stats())
}

#[test]
fn uploads_keep_their_speed() {
    for name in Profile::names() {
        let profile = Profile::named(name).expect("it ships");
        let (near, _) = upload(&profile, Duration::ZERO);
        let (far, stats) = upload(&profile, WAY);
        let kept = near.as_secs_f64() / far.as_secs_f64();
        println!("{name}: 28 KiB in {near:?} near, {far:?} far: {:.1} %", kept * 100.0);
        assert_eq!(stats.total_retries(), 0, "{stats:?}");
        assert!(kept >= KEPT, "{name}: {near:?} near, {far:?} far");
    }
}

/// The time of a run of 200 cases after the board was made ready.
fn run(profile: &Profile, way: Duration, full: bool) -> (Duration, LinkStats) {
    let board = Choice::Direct { rom: None };
    let plan = Plan { board, full, ..Plan::simulated(profile.clone()) };
    let programs = Programs::build(&plan).unwrap_or_else(|error| panic!("{error}"));
    let wrap = |board| -> Box<dyn Board> { Box::new(FarBoard { board, way }) };
    let rig = LiveBoard::prepare_with(&plan, Arc::new(programs), &SystemDisk, wrap);
    let mut rig = rig.unwrap_or_else(|error| panic!("{error}"));
    let is_played = |case: &Case| case.tags.iter().any(|tag| tag == "play");
    let cases = corpus::shipped().expect("it ships").into_iter().filter(is_played).take(200);
    let stop = AtomicBool::new(false);
    let options = Options { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
    let began = rig.now();
    run_cases(&mut rig, cases, options, |result| assert_eq!(result.verdict, Verdict::Pass));
    (rig.now() - began, rig.stats())
}

#[test]
fn runs_keep_their_speed() {
    let profile = Profile::named("rc2014-classic").expect("it ships");
    for full in [false, true] {
        let (near, _) = run(&profile, Duration::ZERO, full);
        let (far, stats) = run(&profile, WAY, full);
        let kept = near.as_secs_f64() / far.as_secs_f64();
        println!("full {full}: 200 cases in {near:?} near, {far:?} far: {:.1} %", kept * 100.0);
        assert_eq!(stats.total_retries(), 0, "{stats:?}");
        assert!(kept >= KEPT, "full {full}: {near:?} near, {far:?} far");
    }
}
