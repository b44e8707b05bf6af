//! Stock monitors whose answers are spoilt on the way: every dialogue ends, and what is said to be
//! on the board is there.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use board_simulator::monitors::{
    Basic, Cpm, CpmMonitor, MonitorModel, Romwbw, Romwbw2, Scm, ScmRelease,
};
use rcflash_monitors::{
    CpmName, FileOrder, FlowChoice, Note, Order, Pace, Stage, Stock, Talk, Watch, deliver, probe,
    transfer,
};
use rcflash_transport::Transport;
use seeded_fuzz::{Dice, each_number};
use tdlasm::image::{Image, Run};

const BAUD: u32 = 115_200;
const CHARACTER: Duration = Duration::from_micros(87);
/// The time between two looks of a monitor that hears nothing.
const STEP: Duration = Duration::from_millis(20);
/// Most reads of a dialogue.
const MOST_READS: u64 = 1_000_000;
/// Dialogues with each monitor.
const TIMES: u64 = 60;
const ADDRESS: u16 = 0x9000;

type Shared = Arc<Mutex<Box<dyn MonitorModel>>>;

fn lock(peer: &Shared) -> MutexGuard<'_, Box<dyn MonitorModel>> {
    peer.lock().expect("nobody has failed with it")
}

/// Mishaps of the characters that a monitor says.
struct Mishaps {
    dice: Dice,
    /// One of so many is lost, changed, or comes twice; none if 0.
    one_of: usize,
    /// After so many nothing more comes, or noise without end.
    dies_after: Option<usize>,
    is_noisy: bool,
}

impl Mishaps {
    fn of(number: u64) -> Self {
        let mut dice = Dice::of(number);
        let one_of = [0, 5, 40, 300, 3000][dice.below(5)];
        let dies_after = (dice.below(4) == 0).then(|| dice.below(2000));
        let is_noisy = dice.below(2) == 0;
        Self { dice, one_of, dies_after, is_noisy }
    }

    fn pass(&mut self, said: &[u8], heard: &mut VecDeque<u8>) {
        for &byte in said {
            if let Some(left) = &mut self.dies_after {
                match left.checked_sub(1) {
                    Some(fewer) => *left = fewer,
                    None => return,
                }
            }
            if self.one_of == 0 || self.dice.below(self.one_of) > 0 {
                heard.push_back(byte);
                continue;
            }
            match self.dice.below(4) {
                0 => {}
                1 => heard.push_back(byte ^ (1 << self.dice.below(8))),
                2 => heard.extend([byte, byte]),
                _ => heard.extend([self.dice.below(256) as u8, byte]),
            }
        }
    }

    fn noise(&mut self) -> Option<u8> {
        let is_over = self.dies_after == Some(0) && self.is_noisy;
        is_over.then(|| self.dice.below(256) as u8)
    }
}

/// A line to a monitor; its time passes when somebody waits.
struct SpoiltLine {
    peer: Shared,
    mishaps: Mishaps,
    heard: VecDeque<u8>,
    now: Instant,
    latest: Instant,
    reads: u64,
}

impl Transport for SpoiltLine {
    fn name(&self) -> &str {
        "a spoilt line"
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn set_baud(&mut self, _baud: u32) -> io::Result<()> {
        Ok(())
    }

    fn obey_rts(&mut self, _obey: bool) -> io::Result<bool> {
        Ok(false)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.reads += 1;
        assert!(self.reads < MOST_READS, "the dialogue does not end");
        let end = self.now + timeout;
        while self.heard.is_empty() && self.now < end {
            self.now = end.min(self.now + STEP);
            let mut said = Vec::new();
            lock(&self.peer).idle(self.now - self.latest, &mut said);
            self.mishaps.pass(&said, &mut self.heard);
            self.heard.extend(self.mishaps.noise());
        }
        let count = self.heard.len().min(buffer.len());
        self.now += CHARACTER * count as u32;
        for (place, byte) in buffer.iter_mut().zip(self.heard.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        for &byte in bytes {
            self.now += CHARACTER;
            let mut said = Vec::new();
            lock(&self.peer).receive(byte, &mut said);
            self.mishaps.pass(&said, &mut self.heard);
        }
        self.latest = self.now;
        Ok(())
    }
}

struct Nobody;

impl Watch for Nobody {
    fn progress(&mut self, _stage: Stage, _done: usize, _of: usize) {}
    fn note(&mut self, note: Note) {
        assert!(!note.to_string().is_empty());
    }
}

fn talk(peer: &Shared, number: u64) -> Talk {
    let now = Instant::now();
    let line = SpoiltLine {
        peer: Arc::clone(peer),
        mishaps: Mishaps::of(number),
        heard: VecDeque::new(),
        now,
        latest: now,
        reads: 0,
    };
    Talk::new(Box::new(line), BAUD, Arc::new(AtomicBool::new(false)))
}

fn image() -> Image {
    Image::new([Run { address: ADDRESS, bytes: (0..200).map(|at| at as u8 ^ 0x5A).collect() }])
}

/// Loads a program into each such monitor; returns how often it was there in the end.
fn load(stock: Stock, make: fn() -> Box<dyn MonitorModel>) -> u32 {
    let image = image();
    let mut loaded = 0;
    each_number(TIMES, |number| {
        let peer = Arc::new(Mutex::new(make()));
        let flow = FlowChoice::Auto;
        let order = Order { image: &image, entry: None, verify: true, pace: None, flow };
        match deliver(stock, &mut talk(&peer, number), &order, &mut Nobody) {
            Ok(delivered) => {
                assert!(delivered.verified);
                let mut peer = lock(&peer);
                let memory = peer.memory().expect("it has some");
                for run in image.runs() {
                    let there = (0..run.bytes.len()).map(|at| memory.get(run.address + at as u16));
                    assert_eq!(there.collect::<Vec<_>>(), run.bytes);
                }
                loaded += 1;
            }
            Err(error) => assert!(!error.to_string().contains('\u{1b}'), "{error}"),
        }
        200
    });
    loaded
}

#[test]
fn what_the_small_computer_monitor_is_said_to_have_it_has() {
    assert!(load(Stock::Scm, || Box::new(Scm::new(ScmRelease::S2V13))) > 5);
    assert!(load(Stock::Scm, || Box::new(Scm::new(ScmRelease::R1))) > 5);
}

#[test]
fn what_romwbw_is_said_to_have_it_has() {
    assert!(load(Stock::Romwbw, || Box::new(Romwbw::in_monitor())) > 5);
    assert!(load(Stock::Romwbw, || Box::<Romwbw2>::default()) > 5);
}

#[test]
fn what_rom_basic_is_said_to_have_it_has() {
    assert!(load(Stock::Basic, || Box::<Basic>::default()) > 5);
}

#[test]
fn a_file_that_cp_m_is_said_to_have_it_has() {
    let bytes: Vec<u8> = (0..300).map(|at| at as u8 ^ 0xA5).collect();
    let name = CpmName::new("PROG.COM").expect("a name");
    let mut sent = 0;
    each_number(TIMES, |number| {
        let peer: Shared = Arc::new(Mutex::new(Box::new(Cpm::quick())));
        let order = FileOrder {
            bytes: &bytes,
            name: name.clone(),
            program: Some("XM"),
            run: false,
            verify: true,
            replace: false,
            pace: Pace::FULL,
            flow: FlowChoice::Auto,
            patience: Duration::from_secs(3),
        };
        match transfer(&mut talk(&peer, number), &order, &mut Nobody) {
            Ok(_) => {
                let peer = lock(&peer);
                let there = peer.file("PROG.COM").expect("it is there");
                assert!(there.starts_with(&bytes), "{there:?}");
                sent += 1;
            }
            Err(error) => assert!(!error.to_string().contains('\u{1b}'), "{error}"),
        }
        bytes.len()
    });
    assert!(sent > 5, "{sent}");
}

#[test]
fn whoever_answers_is_named_or_not_and_the_look_ends() {
    let all: [fn() -> Box<dyn MonitorModel>; 6] = [
        || Box::new(Scm::new(ScmRelease::R1)),
        || Box::<Romwbw>::default(),
        || Box::<Romwbw2>::default(),
        || Box::<Basic>::default(),
        || Box::<Cpm>::default(),
        || Box::<CpmMonitor>::default(),
    ];
    for make in all {
        each_number(TIMES, |number| {
            let peer = Arc::new(Mutex::new(make()));
            let _ = probe(&mut talk(&peer, number), &[9600]); // who it is may be lost
            0
        });
    }
}
