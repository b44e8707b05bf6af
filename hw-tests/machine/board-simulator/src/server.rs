//! A simulated board in its thread, reached by the path of a serial device or a TCP port.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rcflash_transport::time::{Duration, Instant};

use super::board::{BoardModel, BoardSpec, RunStop};
use super::line::SerialLine;
use super::network::NetworkLine;
use super::packets::UsbPacketing;
use super::probe::{CallRecord, Instrumentation, Probe};
use super::pty::PtyLine;
use super::violation::Violation;
use z80_core::Registers;

/// T-states between two polls of the line and of the owner's requests.
const SLICE_T_STATES: u64 = 50_000;
/// How long an idle board waits for a character before it checks for requests of its owner.
const IDLE_SLEEP: Duration = Duration::from_millis(20);
/// The number of unread records, and of unread hits, above which the oldest are discarded.
const MAX_RECORDS: usize = 1 << 16;

/// The speed at which the board runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// As fast as possible.
    #[default]
    Free,
    /// At the speed of the board's clock.
    RealTime,
}

/// Options of a running board.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// The speed of the simulation.
    pub pace: Pace,
    /// The probe to attach.
    pub probe: Option<Probe>,
    /// How the serial adapter delivers characters.
    pub packets: UsbPacketing,
}

/// A running board. Dropping it stops the thread.
pub struct BoardServer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    reset: AtomicBool,
    pc: AtomicU16,
    clock: AtomicU64,
    measured: Mutex<Measured>,
}

#[derive(Default)]
struct Measured {
    records: Vec<CallRecord>,
    hits: Vec<Registers>,
    violations: Vec<Violation>,
}

impl BoardServer {
    /// Powers up a board with this ROM on a new pseudo-terminal; on systems without
    /// pseudo-terminals, on a free TCP port of localhost.
    pub fn start(spec: BoardSpec, rom: &[u8], options: ServerOptions) -> io::Result<Self> {
        let line = match PtyLine::open(spec.baud) {
            Ok(line) => line.with_packets(options.packets),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                return Self::listen((Ipv4Addr::LOCALHOST, 0).into(), spec, rom, options);
            }
            Err(error) => return Err(error),
        };
        let path = line.path().to_owned();
        Self::start_on(line, path, spec, rom, options)
    }

    /// Powers up a board with this ROM on a TCP port. Port 0 selects a free port.
    pub fn listen(
        at: SocketAddr,
        spec: BoardSpec,
        rom: &[u8],
        options: ServerOptions,
    ) -> io::Result<Self> {
        let line = NetworkLine::listen(at)?;
        let path = PathBuf::from(line.name());
        Self::start_on(line, path, spec, rom, options)
    }

    fn start_on(
        line: impl SerialLine + Send + 'static,
        path: PathBuf,
        spec: BoardSpec,
        rom: &[u8],
        options: ServerOptions,
    ) -> io::Result<Self> {
        let clock_hz = spec.clock_hz;
        let mut board = BoardModel::new(spec, rom, line);
        if let Some(probe) = options.probe {
            board.set_probe(probe);
        }
        let shared = Arc::new(Shared::default());
        let thread_shared = Arc::clone(&shared);
        let run = move || serve(&mut board, &thread_shared, options.pace, clock_hz);
        let thread = std::thread::Builder::new().name("simulated board".into()).spawn(run)?;
        Ok(Self { shared, thread: Some(thread), path })
    }

    /// Returns the path of the device, or the address, such as `tcp://127.0.0.1:3000`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Presses the reset button.
    pub fn reset(&self) {
        self.shared.reset.store(true, Ordering::Release);
    }

    /// Returns a function that presses the reset button, for use in another thread.
    pub fn reset_button(&self) -> Box<dyn Fn() + Send> {
        let shared = Arc::clone(&self.shared);
        Box::new(move || shared.reset.store(true, Ordering::Release))
    }

    /// Returns a function that reads [`Instrumentation::clock`], for use in another thread.
    pub fn clock_reader(&self) -> Box<dyn Fn() -> u64 + Send> {
        let shared = Arc::clone(&self.shared);
        Box::new(move || shared.clock.load(Ordering::Acquire))
    }
}

impl Instrumentation for BoardServer {
    fn program_counter(&self) -> u16 {
        self.shared.pc.load(Ordering::Acquire)
    }

    fn clock(&self) -> u64 {
        self.shared.clock.load(Ordering::Acquire)
    }

    fn take_records(&self) -> Vec<CallRecord> {
        std::mem::take(&mut self.shared.measured().records)
    }

    fn take_hits(&self) -> Vec<Registers> {
        std::mem::take(&mut self.shared.measured().hits)
    }

    fn take_violations(&self) -> Vec<Violation> {
        std::mem::take(&mut self.shared.measured().violations)
    }
}

impl Drop for BoardServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // the thread has already reported its panic
        }
    }
}

impl Shared {
    fn measured(&self) -> MutexGuard<'_, Measured> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Appends items; discards unread old ones in bulk, since others must be moved.
fn append<T>(list: &mut Vec<T>, more: Vec<T>) {
    list.extend(more);
    if list.len() > 2 * MAX_RECORDS {
        list.drain(..list.len() - MAX_RECORDS);
    }
}

fn serve(board: &mut BoardModel<impl SerialLine>, shared: &Shared, pace: Pace, clock_hz: u64) {
    let mut since = (Instant::now(), board.clock());
    while !shared.stop.load(Ordering::Acquire) {
        if shared.reset.swap(false, Ordering::AcqRel) {
            board.reset();
        }
        let stop = board.run_for(SLICE_T_STATES);
        shared.pc.store(board.registers().pc, Ordering::Release);
        shared.clock.store(board.clock(), Ordering::Release);
        let violations = board.take_violations();
        if !violations.is_empty() {
            append(&mut shared.measured().violations, violations);
        }
        if let Some(probe) = board.probe_mut() {
            let mut measured = shared.measured();
            append(&mut measured.records, probe.take());
            append(&mut measured.hits, probe.take_hits());
        }
        board.line_mut().flush((stop == RunStop::Idle).then_some(IDLE_SLEEP));
        if stop == RunStop::Idle {
            since = (Instant::now(), board.clock());
        } else if pace == Pace::RealTime {
            let due = Duration::from_secs_f64((board.clock() - since.1) as f64 / clock_hz as f64);
            rcflash_transport::time::sleep(due.saturating_sub(since.0.elapsed()));
        }
    }
    board.line_mut().flush(None);
}
