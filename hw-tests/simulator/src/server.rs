//! A board in a thread of its own, reached like a real one: by the path of a serial device or by a
//! TCP port.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rcflash_transport::time::{Duration, Instant};

use super::board::{BoardSpec, SimBoard, Stop};
use super::line::Line;
use super::network::NetworkLine;
use super::probe::{CallRecord, Probe};
use super::pty::{Packets, PtyLine};
use z80_core::Registers;

/// T-states between two looks at the world outside.
const SLICE: u64 = 50_000;
/// The time an idle board sleeps before it looks whether it shall end.
const NAP: Duration = Duration::from_millis(20);
/// Records kept at least for a host that does not fetch them.
const RECORDS_LIMIT: usize = 1 << 16;

/// The speed at which the board runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// As fast as this computer can.
    #[default]
    Free,
    /// At the board's own clock.
    RealTime,
}

/// Options of a running board.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// The speed.
    pub pace: Pace,
    /// The measurement to make.
    pub probe: Option<Probe>,
    /// The adapter at the line.
    pub packets: Packets,
}

/// A running board. Dropping it ends the thread.
pub struct SimServer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

/// The state that the board's thread and its owner share.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    reset: AtomicBool,
    pc: AtomicU16,
    clock: AtomicU64,
    halted: AtomicU64,
    measured: Mutex<Measured>,
}

/// The measurements of the probe.
#[derive(Default)]
struct Measured {
    records: Vec<CallRecord>,
    passages: Vec<Registers>,
}

impl SimServer {
    /// Powers up a board with this ROM on a new pseudo-terminal, or on a TCP port of this computer
    /// where the system has none.
    ///
    /// # Errors
    /// The system's error if no pseudo-terminal or no thread is available.
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

    /// Powers up a board with this ROM on a TCP port; 0 is any that is free.
    ///
    /// # Errors
    /// The system's error if the address is not this computer's or is in use.
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
        line: impl Line + Send + 'static,
        path: PathBuf,
        spec: BoardSpec,
        rom: &[u8],
        options: ServerOptions,
    ) -> io::Result<Self> {
        let clock_hz = spec.clock_hz;
        let mut board = SimBoard::new(spec, rom, line);
        if let Some(probe) = options.probe {
            board.set_probe(probe);
        }
        let shared = Arc::new(Shared::default());
        let seen = Arc::clone(&shared);
        let run = move || serve(&mut board, &seen, options.pace, clock_hz);
        let thread = std::thread::Builder::new().name("simulated board".into()).spawn(run)?;
        Ok(Self { shared, thread: Some(thread), path })
    }

    /// The device to open, or the address, such as `tcp://127.0.0.1:3000`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Presses the reset button.
    pub fn reset(&self) {
        self.shared.reset.store(true, Ordering::Release);
    }

    /// The reset button, for a hand that is elsewhere.
    #[must_use]
    pub fn reset_button(&self) -> Box<dyn Fn() + Send> {
        let shared = Arc::clone(&self.shared);
        Box::new(move || shared.reset.store(true, Ordering::Release))
    }

    /// Returns the last known program counter.
    #[must_use]
    pub fn program_counter(&self) -> u16 {
        self.shared.pc.load(Ordering::Acquire)
    }

    /// T-states since power came on, those in which the board waited for the host left out. All
    /// that passed before a character was sent are counted when the host has received that
    /// character.
    #[must_use]
    pub fn clock(&self) -> u64 {
        self.shared.clock.load(Ordering::Acquire)
    }

    /// T-states of these for which the processor has waited in HALT.
    #[must_use]
    pub fn halted_time(&self) -> u64 {
        self.shared.halted.load(Ordering::Acquire)
    }

    /// Takes what was measured so far. All calls that ended before a character was sent are in it
    /// when the host has received that character.
    #[must_use]
    pub fn take_records(&self) -> Vec<CallRecord> {
        std::mem::take(&mut self.shared.measured().records)
    }

    /// Takes the registers at the places passed so far, as soon as [`Self::take_records`] has its
    /// records.
    #[must_use]
    pub fn take_passages(&self) -> Vec<Registers> {
        std::mem::take(&mut self.shared.measured().passages)
    }
}

impl Drop for SimServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic over there has been reported there
        }
    }
}

impl Shared {
    fn measured(&self) -> MutexGuard<'_, Measured> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Appends, and forgets the oldest of what nobody fetches: many at once, since those that stay must
/// move.
fn append<T>(list: &mut Vec<T>, more: Vec<T>) {
    list.extend(more);
    if list.len() > 2 * RECORDS_LIMIT {
        list.drain(..list.len() - RECORDS_LIMIT);
    }
}

fn serve(board: &mut SimBoard<impl Line>, shared: &Shared, pace: Pace, clock_hz: u64) {
    let mut since = (Instant::now(), board.clock());
    while !shared.stop.load(Ordering::Acquire) {
        if shared.reset.swap(false, Ordering::AcqRel) {
            board.reset();
        }
        let stop = board.run_for(SLICE);
        shared.pc.store(board.registers().pc, Ordering::Release);
        shared.clock.store(board.clock(), Ordering::Release);
        shared.halted.store(board.halted_time(), Ordering::Release);
        if let Some(probe) = board.probe_mut() {
            let mut measured = shared.measured();
            append(&mut measured.records, probe.take());
            append(&mut measured.passages, probe.take_passages());
        }
        board.line_mut().flush((stop == Stop::Idle).then_some(NAP));
        if stop == Stop::Idle {
            since = (Instant::now(), board.clock());
        } else if pace == Pace::RealTime {
            let due = Duration::from_secs_f64((board.clock() - since.1) as f64 / clock_hz as f64);
            rcflash_transport::time::sleep(due.saturating_sub(since.0.elapsed()));
        }
    }
    board.line_mut().flush(None);
}
