//! Boards behind a network: uploads and runs keep their speed, in simulated time.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use board_simulator::Probe;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use hil_harness::board::{Board, BoardError, BoardKind, InProcessBoard, Instrumentation};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::BoardConfig;
use hil_harness::runner::{RunOptions, Verdict};
use rcflash_link::loader::{enter_monitor, upload_missing};
use rcflash_link::{Link, LinkStats};
use rcflash_transport::Transport;
use sargon_corpus::{self as corpus, Case};
use sargon_suite::{SargonBoard, SargonConfig, run_cases};

/// The minimum speed with the delay, relative to the speed without.
const MIN_RELATIVE_SPEED: f64 = 0.9;
/// Delay in each direction, for a round trip of 100 ms.
const ONE_WAY_DELAY: Duration = Duration::from_millis(50);

/// A board on a line with a delay in each direction.
struct RemoteBoard {
    board: Box<dyn Board>,
    delay: Duration,
}

impl Board for RemoteBoard {
    fn name(&self) -> &str {
        self.board.name()
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let mut line = self.board.open()?;
        // A full receive buffer loses bytes, as behind an adapter without CTS.
        line.set_flow_control(false).expect("RTS can be ignored");
        let (to_board, to_host) = (VecDeque::new(), VecDeque::new());
        Ok(Box::new(RemoteLine { line, delay: self.delay, to_board, to_host }))
    }

    fn instrumentation(&self) -> Option<&dyn Instrumentation> {
        self.board.instrumentation()
    }
}

/// A line with a delay: the bytes in flight, and when they arrive.
struct RemoteLine {
    line: Box<dyn Transport + Send>,
    delay: Duration,
    to_board: VecDeque<(Instant, Vec<u8>)>,
    to_host: VecDeque<(Instant, Vec<u8>)>,
}

/// Takes the oldest bytes in flight, if they have arrived by `now`.
fn arrived(in_flight: &mut VecDeque<(Instant, Vec<u8>)>, now: Instant) -> Option<Vec<u8>> {
    match in_flight.front() {
        Some((at, _)) if *at <= now => in_flight.pop_front().map(|(_, bytes)| bytes),
        _ => None,
    }
}

impl RemoteLine {
    /// Delivers arrived bytes to the board, and receives from it until `end` or the next arrival.
    fn deliver(&mut self, end: Instant) -> io::Result<()> {
        let now = self.line.now();
        while let Some(bytes) = arrived(&mut self.to_board, now) {
            self.line.write(&bytes, end)?;
        }
        let arrivals = self.to_board.front().into_iter().chain(self.to_host.front());
        let next = arrivals.map(|(at, _)| *at).min().map_or(end, |at| at.min(end));
        let mut received = [0; 1024];
        let count = self.line.read(&mut received, next.saturating_duration_since(now))?;
        if count > 0 {
            self.to_host.push_back((self.line.now() + self.delay, received[..count].to_vec()));
        }
        Ok(())
    }
}

impl Transport for RemoteLine {
    fn name(&self) -> &str {
        "a remote board"
    }

    fn now(&self) -> Instant {
        self.line.now()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let end = self.now() + timeout;
        loop {
            let now = self.now();
            if let Some(mut bytes) = arrived(&mut self.to_host, now) {
                let count = bytes.len().min(buffer.len());
                buffer[..count].copy_from_slice(&bytes[..count]);
                if count < bytes.len() {
                    self.to_host.push_front((now, bytes.split_off(count)));
                }
                return Ok(count);
            }
            if now >= end {
                return Ok(0);
            }
            self.deliver(end)?;
        }
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        self.to_board.push_back((self.now() + self.delay, bytes.to_vec()));
        Ok(())
    }
}

/// Returns the time and the traffic of an upload of 28 KiB.
fn upload(profile: &BoardProfile, delay: Duration) -> (Duration, LinkStats) {
    let rom = build(profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let board = Box::new(InProcessBoard::new(profile, &rom.bytes, Probe::default()));
    let line = RemoteBoard { board, delay }.open().expect("it opens");
    let mut link = Link::new(line, profile.uart.baud);
    let monitor = enter_monitor(&mut link).unwrap_or_else(|error| panic!("{error}"));
    let program: Vec<u8> = (0..28 * 1024_u32).map(|at| ((at * at) >> 7) as u8).collect();
    let started = link.now();
    upload_missing(&mut link, &monitor, 0x8000, &program, |_| {}).unwrap_or_else(|e| panic!("{e}"));
    (link.now() - started, link.stats())
}

#[test]
fn uploads_keep_their_speed() {
    for name in BoardProfile::names() {
        let profile = BoardProfile::named(name).expect("it ships");
        let (near, _) = upload(&profile, Duration::ZERO);
        let (far, stats) = upload(&profile, ONE_WAY_DELAY);
        let ratio = near.as_secs_f64() / far.as_secs_f64();
        println!("{name}: 28 KiB in {near:?} near, {far:?} far: {:.1} %", ratio * 100.0);
        assert_eq!(stats.total_retries(), 0, "{stats:?}");
        assert!(ratio >= MIN_RELATIVE_SPEED, "{name}: {near:?} near, {far:?} far");
    }
}

/// Returns the time and the traffic of a run of 200 cases, without the set-up.
fn run(profile: &BoardProfile, delay: Duration, full: bool) -> (Duration, LinkStats) {
    let board = BoardKind::InProcess;
    let config =
        BoardConfig { board, full_responses: full, ..BoardConfig::simulated(profile.clone()) };
    let config = SargonConfig::from(config);
    let programs = config.programs().unwrap_or_else(|error| panic!("{error}"));
    let wrap = |board| -> Box<dyn Board> { Box::new(RemoteBoard { board, delay }) };
    let live = SargonBoard::prepare_with(&config, Arc::new(programs), &OsFileSystem, wrap);
    let mut live = live.unwrap_or_else(|error| panic!("{error}"));
    let is_played = |case: &Case| case.tags.iter().any(|tag| tag == "play");
    let cases = corpus::builtin_corpus().expect("it ships").into_iter().filter(is_played).take(200);
    let stop = AtomicBool::new(false);
    let options = RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
    let started = live.live.link.now();
    run_cases(&mut live, cases, options, |result| {
        assert_eq!(result.verdict, Verdict::Pass, "{:?}", result.reason)
    });
    (live.live.link.now() - started, live.live.link.stats())
}

#[test]
fn runs_keep_their_speed() {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    for full in [false, true] {
        let (near, _) = run(&profile, Duration::ZERO, full);
        let (far, stats) = run(&profile, ONE_WAY_DELAY, full);
        let ratio = near.as_secs_f64() / far.as_secs_f64();
        println!("full {full}: 200 cases in {near:?} near, {far:?} far: {:.1} %", ratio * 100.0);
        assert_eq!(stats.total_retries(), 0, "{stats:?}");
        assert!(ratio >= MIN_RELATIVE_SPEED, "full {full}: {near:?} near, {far:?} far");
    }
}
