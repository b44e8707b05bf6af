//! Scripted events at given calls of the port: cables are pulled, the board is reset, power is cut,
//! the program is interrupted or killed, and port or disk fail.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use board_simulator::{BoardModel, QueueLine};
use rcflash_transport::port::OpenError;
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{Capabilities, ControlLine, Transport};

use crate::simulated_disk::{DiskFault, SimulatedDisk};
use hil_harness::board::{Board, BoardError, InProcessBoard, Instrumentation, ResetFn};

/// Simulated time of a failed call; without it, waits on the simulated clock would never end.
const FAILED_CALL_TIME: Duration = Duration::from_millis(1);

/// A fault of the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortFault {
    /// The device fails (EIO).
    Broken,
    /// The device is disconnected (ENXIO), and can't be opened.
    Gone,
    /// Reads and writes would block (EAGAIN).
    Busy,
    /// Reads return nothing, as at the end of a file.
    Empty,
    /// Writes send only a part.
    Short,
}

impl PortFault {
    /// All faults.
    pub const ALL: [Self; 5] = [Self::Broken, Self::Gone, Self::Busy, Self::Empty, Self::Short];
}

/// An event of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScriptedEvent {
    /// So many calls of the port fail.
    Line(PortFault, u64),
    /// The reset button is pressed.
    Reset,
    /// The board's power is cut and restored.
    PowerCut,
    /// Ctrl-C.
    Stop,
    /// The program is killed: later calls have no effect.
    Kill,
    /// So many disk accesses fail.
    Disk(DiskFault, u64),
}

/// Planned events, and a record of those that have happened. Clones share one script.
#[derive(Clone)]
pub struct EventScript(Arc<Mutex<State>>);

struct State {
    /// Events by the number of the port call at which they happen, latest first.
    events: Vec<(u64, ScriptedEvent)>,
    happened: Vec<ScriptedEvent>,
    calls: u64,
    /// The number of the first call that succeeds again, and the fault until then.
    failing: Option<(u64, PortFault)>,
    is_killed: bool,
    /// Simulated time of failed calls.
    lost: Duration,
    disk: SimulatedDisk,
    stop: Arc<AtomicBool>,
}

impl EventScript {
    /// Creates a script of events, each with the number of the port call at which it happens.
    ///
    /// `lost` is the simulated time of earlier failed calls.
    pub fn new(
        mut events: Vec<(u64, ScriptedEvent)>,
        disk: &SimulatedDisk,
        stop: &Arc<AtomicBool>,
        lost: Duration,
    ) -> Self {
        events.sort_unstable();
        events.reverse();
        Self(Arc::new(Mutex::new(State {
            events,
            happened: Vec::new(),
            calls: 0,
            failing: None,
            is_killed: false,
            lost,
            disk: disk.clone(),
            stop: Arc::clone(stop),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of port calls.
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// Returns whether the program was killed.
    pub fn is_killed(&self) -> bool {
        self.lock().is_killed
    }

    /// Returns the events so far.
    pub fn happened(&self) -> Vec<ScriptedEvent> {
        self.lock().happened.clone()
    }

    /// Returns the simulated time of failed calls.
    pub fn lost(&self) -> Duration {
        self.lock().lost
    }

    /// Counts a port call and triggers the events that are due. Returns the fault if the call
    /// fails.
    fn call(&self, board: &InProcessBoard) -> Option<PortFault> {
        let mut state = self.lock();
        let number = state.calls;
        state.calls += 1;
        while state.events.last().is_some_and(|(at, _)| *at <= number) {
            if let Some((_, event)) = state.events.pop() {
                state.trigger(event, number, board);
            }
        }
        let failing = match state.failing {
            Some((until, fault)) if number < until => Some(fault),
            _ => None,
        };
        let fault = if state.is_killed { Some(PortFault::Broken) } else { failing };
        if fault.is_some() {
            state.lost += FAILED_CALL_TIME;
        }
        fault
    }
}

/// Returns the board as it starts after a power cut now: its chip is kept, its RAM is lost.
pub(super) fn after_power_cut(board: &BoardModel<QueueLine>) -> BoardModel<QueueLine> {
    BoardModel::with_chip(board.spec().clone(), board.chip_after_power_cut(), QueueLine::default())
}

/// Cuts the power of a board and restores it at once. Its clock goes on.
fn cut_power(board: &InProcessBoard) {
    let mut state = board.state();
    let violations = state.board.take_violations();
    state.violations.extend(violations);
    state.skipped_t_states = state.time();
    state.board = after_power_cut(&state.board);
    let probe = state.probe.clone();
    state.board.set_probe(probe);
}

impl State {
    fn trigger(&mut self, event: ScriptedEvent, number: u64, board: &InProcessBoard) {
        self.happened.push(event);
        match event {
            ScriptedEvent::Line(fault, count) => {
                self.failing = Some((number.saturating_add(count), fault));
            }
            ScriptedEvent::Reset => {
                if let Some(press) = board.reset_fn() {
                    press();
                }
            }
            ScriptedEvent::PowerCut => cut_power(board),
            ScriptedEvent::Stop => self.stop.store(true, Ordering::Relaxed),
            ScriptedEvent::Kill => {
                // A killed program must not write anything more to the disk.
                self.is_killed = true;
                self.disk.inject_fault(self.disk.accesses(), u64::MAX, DiskFault::Broken);
                self.stop.store(true, Ordering::Relaxed);
            }
            ScriptedEvent::Disk(fault, count) => {
                self.disk.inject_fault(self.disk.accesses(), count, fault)
            }
        }
    }
}

/// An in-process board with scripted events.
pub struct ScriptedBoard {
    board: InProcessBoard,
    script: EventScript,
    is_instrumented: bool,
}

impl ScriptedBoard {
    /// Wraps a board.
    pub fn new(board: InProcessBoard, script: EventScript) -> Self {
        Self { board, script, is_instrumented: true }
    }

    /// Returns the board as a real one is seen: only through its line.
    #[must_use]
    pub fn without_instrumentation(self) -> Self {
        Self { is_instrumented: false, ..self }
    }
}

impl Board for ScriptedBoard {
    fn name(&self) -> &str {
        Board::name(&self.board)
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let port = || Board::name(&self.board).to_owned();
        match self.script.call(&self.board) {
            Some(PortFault::Gone) => return Err(OpenError::NotFound(port()).into()),
            Some(PortFault::Broken) => return Err(OpenError::Other(port(), broken()).into()),
            // Opening a port succeeds even if reads and writes would block.
            Some(PortFault::Busy | PortFault::Empty | PortFault::Short) | None => {}
        }
        let board = self.board.clone();
        let script = self.script.clone();
        Ok(Box::new(ScriptedLine { line: self.board.open()?, board, script }))
    }

    fn reset_fn(&self) -> Option<ResetFn> {
        self.board.reset_fn()
    }

    fn sleep(&mut self, time: Duration) {
        self.board.sleep(time);
    }

    fn instrumentation(&self) -> Option<&dyn Instrumentation> {
        self.board.instrumentation().filter(|_| self.is_instrumented)
    }
}

fn broken() -> io::Error {
    rcflash_transport::platform::errors::device_failed()
}

/// The line to a [`ScriptedBoard`].
struct ScriptedLine {
    line: Box<dyn Transport + Send>,
    board: InProcessBoard,
    script: EventScript,
}

impl ScriptedLine {
    fn call(&self) -> Option<PortFault> {
        self.script.call(&self.board)
    }
}

impl Transport for ScriptedLine {
    fn name(&self) -> &str {
        self.line.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.line.capabilities()
    }

    fn now(&self) -> Instant {
        self.line.now() + self.script.lost()
    }

    fn set_control_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        match self.call() {
            Some(PortFault::Broken) => Err(broken()),
            Some(PortFault::Gone) => Err(gone()),
            _ => self.line.set_control_line(line, on),
        }
    }

    fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
        match self.call() {
            Some(PortFault::Broken) => Err(broken()),
            Some(PortFault::Gone) => Err(gone()),
            _ => self.line.set_flow_control(obey),
        }
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        match self.call() {
            Some(PortFault::Broken) => Err(broken()),
            Some(PortFault::Gone) => Err(gone()),
            _ => self.line.discard_unsent(),
        }
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        match self.call() {
            Some(PortFault::Broken) => Err(broken()),
            Some(PortFault::Gone) => Err(gone()),
            // A readable port that returns no bytes has reached the end of the line.
            Some(PortFault::Empty) => Err(ErrorKind::UnexpectedEof.into()),
            // A read that would block returns at once.
            Some(PortFault::Busy) => Ok(0),
            Some(PortFault::Short) | None => self.line.read(buffer, timeout),
        }
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        match self.call() {
            Some(PortFault::Broken) => Err(broken()),
            Some(PortFault::Gone) => Err(gone()),
            Some(PortFault::Busy) => Err(ErrorKind::TimedOut.into()),
            Some(PortFault::Short) => {
                self.line.write(&bytes[..bytes.len() / 2], deadline)?;
                Err(ErrorKind::TimedOut.into())
            }
            Some(PortFault::Empty) | None => self.line.write(bytes, deadline),
        }
    }
}

fn gone() -> io::Error {
    rcflash_transport::platform::errors::device_disconnected()
}
