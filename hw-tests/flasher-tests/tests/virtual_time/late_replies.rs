//! A program of this project is started through a stock monitor, and returns to it, although the
//! replies to some steps come late. In virtual time.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use hil_harness::board::{Board, BoardError};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::{BoardConfig, LiveBoard, Programs, SetupError};
use monitor_standins::{
    Basic, Cpm, MonitorLine, MonitorModel, MonitorOptions, Romwbw, Scm, ScmRelease,
};
use rcflash_monitors::{LoaderError, MonitorSession, ProbedPeer, ResidentMonitor, probe};
use rcflash_transport::{Capabilities, Transport};

use super::states::TABLE;
use super::virtual_bench::BAUD;

/// A line on which nothing arrives for some time after each of some steps: writes that are no
/// records.
#[derive(Clone)]
struct LateLine {
    line: MonitorLine,
    steps: Arc<AtomicUsize>,
    late: (Range<usize>, Duration),
    /// When the reply to a late step may arrive.
    arrives: Arc<Mutex<Option<Instant>>>,
}

impl LateLine {
    fn new(peer: Box<dyn MonitorModel>, late: (Range<usize>, Duration)) -> Self {
        let line = MonitorLine::new(peer, MonitorOptions::default());
        Self { line, steps: Arc::default(), late, arrives: Arc::default() }
    }
}

impl Transport for LateLine {
    fn name(&self) -> &str {
        self.line.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.line.capabilities()
    }

    fn now(&self) -> Instant {
        self.line.now()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let arrives = *self.arrives.lock().expect("no test panics");
        let late = arrives.map_or(Duration::ZERO, |at| at.saturating_duration_since(self.now()));
        self.line.sleep(late.min(timeout));
        if late >= timeout { Ok(0) } else { self.line.read(buffer, timeout - late) }
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        if !bytes.starts_with(b":") {
            let step = self.steps.fetch_add(1, Ordering::Relaxed);
            let (late_steps, delay) = &self.late;
            if late_steps.contains(&step) {
                *self.arrives.lock().expect("no test panics") = Some(self.now() + *delay);
            }
        }
        self.line.write(bytes, deadline)
    }

    fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
        self.line.set_flow_control(obey)
    }

    fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        self.line.set_baud(baud)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.line.discard_unsent()
    }
}

impl Board for LateLine {
    fn name(&self) -> &str {
        "a late board"
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        Ok(Box::new(self.clone()))
    }

    fn sleep(&mut self, time: Duration) {
        self.line.sleep(time);
    }
}

fn start(
    line: &LateLine,
    config: &BoardConfig,
    programs: &Arc<Programs>,
) -> Result<(), SetupError> {
    let board = Box::new(line.clone());
    LiveBoard::start(config, board, Arc::clone(programs), &OsFileSystem)?.return_to_monitor()
}

type Peer = fn() -> Box<dyn MonitorModel>;

const PEERS: [(&str, &str, Peer); 6] = [
    ("scm", "rc2014-classic", || Box::<Scm>::default()),
    ("scm", "sc126", || Box::new(Scm::new(ScmRelease::S6V13))),
    ("romwbw", "rc2014-classic", || Box::<Romwbw>::default()),
    ("romwbw", "sc131", || Box::new(Romwbw::default().on_z180())),
    ("basic", "rc2014-classic", || Box::<Basic>::default()),
    ("cpm", "rc2014-classic", || Box::<Cpm>::default()),
];
/// The steps at the beginning and at the end that are all tried; of the lines and blocks in between one
/// in this many.
const EDGE_STEPS: usize = 10;
const STRIDE: usize = 67;

/// Returns the delays of some steps at which the program does not start and return.
fn problems(via: &str, board: &str, peer: Peer) -> Vec<String> {
    let profile = BoardProfile::named(board).expect("it ships");
    let stock_monitor = ResidentMonitor::from_name(via);
    let config = BoardConfig { stock_monitor, ..BoardConfig::simulated(profile) };
    let programs = Programs::build(&config, [ProgramKind::HostedCaller; 3], build);
    let programs = Arc::new(programs.expect("it is built"));
    let punctual = LateLine::new(peer(), (0..0, Duration::ZERO));
    start(&punctual, &config, &programs).expect("it starts and returns");
    let count = punctual.steps.load(Ordering::Relaxed);
    let is_tried = |step: &usize| {
        *step < EDGE_STEPS || *step + EDGE_STEPS >= count || step.is_multiple_of(STRIDE)
    };
    let single = (0..count).filter(is_tried);
    let single =
        single.flat_map(|step| [3000, step * 137 % 3000].map(|delay| (step..step + 1, delay)));
    // A busy host may be late several times while it looks for the monitor.
    let several = (0..EDGE_STEPS).flat_map(|step| [600, 1200].map(|delay| (step..step + 4, delay)));
    let problem = |(steps, delay): (Range<usize>, usize)| {
        let late = (steps.clone(), Duration::from_millis(delay as u64));
        let error = start(&LateLine::new(peer(), late), &config, &programs).err()?;
        Some(format!("{via} on {board}, steps {steps:?}, {delay} ms: {error}"))
    };
    single.chain(several).filter_map(problem).collect()
}

#[test]
fn a_program_starts_and_returns_whatever_step_the_monitor_is_late_at() {
    let found: Vec<_> = std::thread::scope(|scope| {
        let start = |(via, board, peer)| scope.spawn(move || problems(via, board, peer));
        let shares = PEERS.map(start);
        shares.into_iter().flat_map(|share| share.join().expect("no test panics")).collect()
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Returns the name that a probe has for the monitor.
fn probed_name(line: &LateLine) -> Result<String, LoaderError> {
    let board = Box::new(line.clone());
    let mut session = MonitorSession::new(board, BAUD, Arc::new(AtomicBool::new(false)));
    Ok(match probe(&mut session, &[])?.peer {
        ProbedPeer::Known(_, name) => name,
        other => format!("{other:?}"),
    })
}

/// A late reply that comes after Ctrl-O, the last key of the probe, does not show that the output
/// is on.
#[test]
fn a_basic_with_a_late_reply_is_not_left_with_its_output_off() {
    for row in TABLE.iter().filter(|row| row.monitor.starts_with("BASIC")) {
        for first in 0..30 {
            let late = (first..first + 4, Duration::from_millis(1200));
            let line = LateLine::new(row.prepared(), late);
            let place = format!("{}, {}, from step {first}", row.monitor, row.state);
            if let Err(error) = probed_name(&line) {
                panic!("{place}: {error}");
            }
            line.steps.store(usize::MAX / 2, Ordering::Relaxed);
            assert_eq!(probed_name(&line).expect("it replies"), row.prints, "{place}");
        }
    }
}
