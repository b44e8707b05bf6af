//! Sessions with stock monitors whose replies are corrupted: each ends, and a load that is reported
//! as successful is in the monitor's memory.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use monitor_standins::{Basic, Cpm, CpmMonitor, MonitorModel, Romwbw, Romwbw2, Scm, ScmRelease};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use rcflash_monitors::{
    CpmName, FileTransfer, FlowControlMode, LoadEvent, LoadObserver, LoadRequest, LoadStage,
    MonitorSession, Pace, StockMonitor, load_hex, probe, transfer_file,
};
use rcflash_transport::Transport;
use tdlasm::image::{Image, ImageRun};

const BAUD: u32 = 115_200;
const CHARACTER_TIME: Duration = Duration::from_micros(87);
/// Step of the simulated time while the line is idle.
const IDLE_STEP: Duration = Duration::from_millis(20);
/// Reads after which a session counts as endless.
const MAX_READS: u64 = 1_000_000;
/// Sessions with each monitor.
const SESSIONS: u32 = 60;
const ADDRESS: u16 = 0x9000;

type SharedMonitor = Arc<Mutex<Box<dyn MonitorModel>>>;

fn lock(monitor: &SharedMonitor) -> MutexGuard<'_, Box<dyn MonitorModel>> {
    monitor.lock().expect("not poisoned")
}

/// What happens to a character that a monitor sends.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Lost,
    BitFlipped(u8),
    Duplicated,
    Preceded(u8),
}

/// Corrupts the characters that a monitor sends.
#[derive(Debug, Clone)]
struct Corruption {
    /// Faults, each with the number of intact characters before it. When all are used, the next
    /// characters are intact, or the faults are repeated.
    faults: Vec<(usize, Fault)>,
    is_repeated: bool,
    /// After this many characters nothing more is sent, or the noise without end.
    fails_after: Option<usize>,
    noise: Vec<u8>,
    /// The next fault, and the characters sent since the one before.
    next: usize,
    intact: usize,
}

fn corruption() -> impl Strategy<Value = Corruption> {
    let fault = prop_oneof![
        Just(Fault::Lost),
        (0..8_u8).prop_map(Fault::BitFlipped),
        Just(Fault::Duplicated),
        any::<u8>().prop_map(Fault::Preceded),
    ];
    let distance = prop_oneof![0..10_usize, 0..80_usize, 0..600_usize, 0..6000_usize];
    let faults = vec((distance, fault), 0..6);
    let fails_after = option::weighted(0.25, 0..2000_usize);
    let noise = prop_oneof![Just(Vec::new()), vec(any::<u8>(), 1..40)];
    (faults, any::<bool>(), fails_after, noise).prop_map(
        |(faults, is_repeated, fails_after, noise)| Corruption {
            faults,
            is_repeated,
            fails_after,
            noise,
            next: 0,
            intact: 0,
        },
    )
}

impl Corruption {
    fn corrupt(&mut self, sent: &[u8], received: &mut VecDeque<u8>) {
        for &byte in sent {
            if let Some(left) = &mut self.fails_after {
                match left.checked_sub(1) {
                    Some(fewer) => *left = fewer,
                    None => return,
                }
            }
            match self.next_fault() {
                None => received.push_back(byte),
                Some(Fault::Lost) => {}
                Some(Fault::BitFlipped(bit)) => received.push_back(byte ^ (1 << bit)),
                Some(Fault::Duplicated) => received.extend([byte, byte]),
                Some(Fault::Preceded(noise)) => received.extend([noise, byte]),
            }
        }
    }

    /// Returns the fault of the next character, if it has one.
    fn next_fault(&mut self) -> Option<Fault> {
        if self.is_repeated && self.next == self.faults.len() {
            self.next = 0;
        }
        let (distance, fault) = *self.faults.get(self.next)?;
        if self.intact < distance {
            self.intact += 1;
            return None;
        }
        self.intact = 0;
        self.next += 1;
        Some(fault)
    }

    fn noise(&mut self) -> Option<u8> {
        if self.fails_after != Some(0) || self.noise.is_empty() {
            return None;
        }
        self.noise.rotate_left(1);
        self.noise.last().copied()
    }
}

/// A line to a monitor, in simulated time that advances during reads and writes.
struct CorruptedLine {
    monitor: SharedMonitor,
    corruption: Corruption,
    received: VecDeque<u8>,
    began: Instant,
    now: Instant,
    last_write: Instant,
    reads: u64,
}

impl Transport for CorruptedLine {
    fn name(&self) -> &str {
        "a corrupted line"
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn set_baud(&mut self, _baud: u32) -> io::Result<()> {
        Ok(())
    }

    fn set_flow_control(&mut self, _obey: bool) -> io::Result<bool> {
        Ok(false)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.reads += 1;
        assert!(self.reads < MAX_READS, "the session does not end");
        let end = self.now + timeout;
        while self.received.is_empty() && self.now < end {
            self.now = end.min(self.now + IDLE_STEP);
            let mut sent = Vec::new();
            let mut monitor = lock(&self.monitor);
            monitor.set_time(self.now - self.began);
            monitor.idle(self.now - self.last_write, &mut sent);
            drop(monitor);
            self.corruption.corrupt(&sent, &mut self.received);
            self.received.extend(self.corruption.noise());
        }
        let count = self.received.len().min(buffer.len());
        self.now += CHARACTER_TIME * count as u32;
        for (place, byte) in buffer.iter_mut().zip(self.received.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        for &byte in bytes {
            self.now += CHARACTER_TIME;
            let mut sent = Vec::new();
            let mut monitor = lock(&self.monitor);
            monitor.set_time(self.now - self.began);
            monitor.receive(byte, &mut sent);
            drop(monitor);
            self.corruption.corrupt(&sent, &mut self.received);
        }
        self.last_write = self.now;
        Ok(())
    }
}

struct NullObserver;

impl LoadObserver for NullObserver {
    fn on_progress(&mut self, _stage: LoadStage, _done: usize, _of: usize) {}
    fn on_event(&mut self, note: LoadEvent) {
        assert!(!note.to_string().is_empty());
    }
}

fn session(monitor: &SharedMonitor, corruption: &Corruption) -> MonitorSession {
    let now = Instant::now();
    let line = CorruptedLine {
        monitor: Arc::clone(monitor),
        corruption: corruption.clone(),
        received: VecDeque::new(),
        began: now,
        now,
        last_write: now,
        reads: 0,
    };
    MonitorSession::new(Box::new(line), BAUD, Arc::new(AtomicBool::new(false)))
}

/// Runs a test with several corruptions, the same at each call.
fn for_each_corruption(test: impl Fn(&Corruption)) {
    let config = ProptestConfig {
        rng_seed: RngSeed::Fixed(1978),
        failure_persistence: None,
        ..ProptestConfig::with_cases(SESSIONS)
    };
    let tested = TestRunner::new(config).run(&corruption(), |corruption| {
        test(&corruption);
        Ok(())
    });
    tested.unwrap_or_else(|failure| panic!("{failure}"));
}

fn image() -> Image {
    Image::new([ImageRun { address: ADDRESS, bytes: (0..200).map(|at| at as u8 ^ 0x5A).collect() }])
}

/// Loads a program into such a monitor in each session; returns the number of successful loads.
fn load(stock: StockMonitor, make: fn() -> Box<dyn MonitorModel>) -> u32 {
    let image = image();
    let loaded = Cell::new(0);
    for_each_corruption(|corruption| {
        let monitor = Arc::new(Mutex::new(make()));
        let flow = FlowControlMode::Auto;
        let order = LoadRequest {
            image: &image,
            entry: None,
            verify: true,
            pace: None,
            flow_control: flow,
            uses_scratch: false,
        };
        match load_hex(&stock, &mut session(&monitor, corruption), &order, &mut NullObserver) {
            Ok(delivered) => {
                assert!(delivered.verified);
                let mut monitor = lock(&monitor);
                let memory = monitor.memory().expect("it has some");
                for run in image.runs() {
                    let stored = (0..run.bytes.len()).map(|at| memory.get(run.address + at as u16));
                    assert_eq!(stored.collect::<Vec<_>>(), run.bytes);
                }
                loaded.set(loaded.get() + 1);
            }
            Err(error) => assert!(!error.to_string().contains('\u{1b}'), "{error}"),
        }
    });
    loaded.get()
}

#[test]
fn a_reported_load_through_the_small_computer_monitor_is_in_memory() {
    assert!(load(StockMonitor::Scm, || Box::new(Scm::new(ScmRelease::S2V13))) > 5);
    assert!(load(StockMonitor::Scm, || Box::new(Scm::new(ScmRelease::R1))) > 5);
}

#[test]
fn a_reported_load_through_romwbw_is_in_memory() {
    assert!(load(StockMonitor::Romwbw, || Box::new(Romwbw::in_monitor())) > 5);
    assert!(load(StockMonitor::Romwbw, || Box::<Romwbw2>::default()) > 5);
}

#[test]
fn a_reported_load_through_rom_basic_is_in_memory() {
    assert!(load(StockMonitor::Basic, || Box::<Basic>::default()) > 5);
}

#[test]
fn a_reported_cp_m_transfer_is_on_the_disk() {
    let bytes: Vec<u8> = (0..300).map(|at| at as u8 ^ 0xA5).collect();
    let name = CpmName::new("PROG.COM").expect("a name");
    let sent = Cell::new(0);
    for_each_corruption(|corruption| {
        let monitor: SharedMonitor = Arc::new(Mutex::new(Box::new(Cpm::quick())));
        let order = FileTransfer {
            bytes: &bytes,
            name: name.clone(),
            xmodem_program: Some("XM"),
            run: false,
            verify: true,
            replace: false,
            pace: Pace::FULL,
            flow_control: FlowControlMode::Auto,
            reply_timeout: Duration::from_secs(3),
        };
        match transfer_file(&mut session(&monitor, corruption), &order, &mut NullObserver) {
            Ok(_) => {
                let monitor = lock(&monitor);
                let stored = monitor.file("PROG.COM").expect("it is stored");
                assert!(stored.starts_with(&bytes), "{stored:?}");
                sent.set(sent.get() + 1);
            }
            Err(error) => assert!(!error.to_string().contains('\u{1b}'), "{error}"),
        }
    });
    assert!(sent.get() > 5, "{sent:?}");
}

#[test]
fn a_probe_ends_with_any_reply() {
    let all: [fn() -> Box<dyn MonitorModel>; 6] = [
        || Box::new(Scm::new(ScmRelease::R1)),
        || Box::<Romwbw>::default(),
        || Box::<Romwbw2>::default(),
        || Box::<Basic>::default(),
        || Box::<Cpm>::default(),
        || Box::<CpmMonitor>::default(),
    ];
    for make in all {
        for_each_corruption(|corruption| {
            let monitor = Arc::new(Mutex::new(make()));
            let _ = probe(&mut session(&monitor, corruption), &[9600]); // the reply may be lost
        });
    }
}
