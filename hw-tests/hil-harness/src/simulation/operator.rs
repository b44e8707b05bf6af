//! A board at the hands of an operator: cables are pulled, buttons pressed, power is cut, the
//! program is stopped or killed, and the port fails in every way that systems have, each at a call
//! of the harness that is known beforehand.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rcflash_transport::port::OpenError;
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{Capabilities, ControlLine, Transport};

use crate::board::{Board, BoardError, Button, DirectBoard, Instruments};
use crate::disk::{DiskFault, SimulatedDisk};

/// The time that a call takes that fails: else waits of a simulated clock would never end.
const CALL: Duration = Duration::from_millis(1);

/// Failures of calls on the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineFault {
    /// The device fails (EIO).
    Broken,
    /// The device is gone (ENXIO), and can't be opened.
    Gone,
    /// The device has nothing and takes nothing (EAGAIN).
    Busy,
    /// Reads return nothing, as at the end of a file.
    Empty,
    /// Of what is written a part goes out.
    Short,
}

impl LineFault {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Broken, Self::Gone, Self::Busy, Self::Empty, Self::Short];
}

/// Something that the operator or the world does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// So many calls on the port fail.
    Line(LineFault, u64),
    /// The reset button is pressed.
    Reset,
    /// The board's power is cut and comes back.
    PowerCut,
    /// Ctrl-C.
    Stop,
    /// The program is killed: nothing that it does afterwards has any effect.
    Kill,
    /// So many accesses to the disk fail.
    Disk(DiskFault, u64),
}

/// A plan of events, and a record of those that have happened. Clones are the same.
#[derive(Clone)]
pub struct Script(Arc<Mutex<State>>);

struct State {
    /// Events by the number of the call at which they happen, the last one first.
    events: Vec<(u64, Event)>,
    happened: Vec<Event>,
    calls: u64,
    /// Until which call the port fails, and how.
    failing: Option<(u64, LineFault)>,
    is_killed: bool,
    /// Time that passed in calls that failed.
    lost: Duration,
    disk: SimulatedDisk,
    stop: Arc<AtomicBool>,
}

impl Script {
    /// A script of these events, by the number of the call on the port at which each happens.
    ///
    /// `lost` is the time that passed in calls that failed before.
    #[must_use]
    pub fn new(
        mut events: Vec<(u64, Event)>,
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

    /// Returns the number of calls on the port.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// Returns whether the program was killed.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.lock().is_killed
    }

    /// Returns the events so far.
    #[must_use]
    pub fn happened(&self) -> Vec<Event> {
        self.lock().happened.clone()
    }

    /// Returns the time that passed in calls that failed.
    #[must_use]
    pub fn lost(&self) -> Duration {
        self.lock().lost
    }

    /// Counts a call on the port and has happen what is due; returns how the call fails, if it
    /// does.
    fn call(&self, board: &DirectBoard) -> Option<LineFault> {
        let mut state = self.lock();
        let number = state.calls;
        state.calls += 1;
        while state.events.last().is_some_and(|(at, _)| *at <= number) {
            if let Some((_, event)) = state.events.pop() {
                state.happen(event, number, board);
            }
        }
        let failing = match state.failing {
            Some((until, fault)) if number < until => Some(fault),
            _ => None,
        };
        let fault = if state.is_killed { Some(LineFault::Broken) } else { failing };
        if fault.is_some() {
            state.lost += CALL;
        }
        fault
    }
}

impl State {
    fn happen(&mut self, event: Event, number: u64, board: &DirectBoard) {
        self.happened.push(event);
        match event {
            Event::Line(fault, count) => {
                self.failing = Some((number.saturating_add(count), fault));
            }
            Event::Reset => {
                if let Some(press) = board.button() {
                    press();
                }
            }
            Event::PowerCut => board.power_switch()(),
            Event::Stop => self.stop.store(true, Ordering::Relaxed),
            Event::Kill => {
                // What a dead program would write must not reach the disk.
                self.is_killed = true;
                self.disk.fail(self.disk.accesses(), u64::MAX, DiskFault::Broken);
                self.stop.store(true, Ordering::Relaxed);
            }
            Event::Disk(fault, count) => self.disk.fail(self.disk.accesses(), count, fault),
        }
    }
}

/// A board within this program, at the operator's hands.
pub struct OperatedBoard {
    board: DirectBoard,
    script: Script,
}

impl OperatedBoard {
    /// Hands a board over to the operator.
    #[must_use]
    pub fn new(board: DirectBoard, script: Script) -> Self {
        Self { board, script }
    }
}

impl Board for OperatedBoard {
    fn name(&self) -> &str {
        self.board.name()
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let port = || self.board.name().to_owned();
        match self.script.call(&self.board) {
            Some(LineFault::Gone) => return Err(OpenError::Missing(port()).into()),
            Some(LineFault::Broken) => return Err(OpenError::Other(port(), broken()).into()),
            // Ports are opened all the same when there is nothing to be read or no room.
            Some(LineFault::Busy | LineFault::Empty | LineFault::Short) | None => {}
        }
        let board = self.board.clone();
        let script = self.script.clone();
        Ok(Box::new(OperatedLine { line: self.board.open()?, board, script }))
    }

    fn button(&self) -> Option<Button> {
        self.board.button()
    }

    fn rest(&mut self, time: Duration) {
        self.board.rest(time);
    }

    fn instruments(&self) -> Option<&dyn Instruments> {
        self.board.instruments()
    }
}

fn broken() -> io::Error {
    host_platform::errors::device_failed()
}

/// The line to it.
struct OperatedLine {
    line: Box<dyn Transport + Send>,
    board: DirectBoard,
    script: Script,
}

impl OperatedLine {
    fn call(&self) -> Option<LineFault> {
        self.script.call(&self.board)
    }
}

impl Transport for OperatedLine {
    fn name(&self) -> &str {
        self.line.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.line.capabilities()
    }

    fn now(&self) -> Instant {
        self.line.now() + self.script.lost()
    }

    fn set_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        match self.call() {
            Some(LineFault::Broken) => Err(broken()),
            Some(LineFault::Gone) => Err(gone()),
            _ => self.line.set_line(line, on),
        }
    }

    fn obey_rts(&mut self, obey: bool) -> io::Result<bool> {
        match self.call() {
            Some(LineFault::Broken) => Err(broken()),
            Some(LineFault::Gone) => Err(gone()),
            _ => self.line.obey_rts(obey),
        }
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        match self.call() {
            Some(LineFault::Broken) => Err(broken()),
            Some(LineFault::Gone) => Err(gone()),
            _ => self.line.discard_unsent(),
        }
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        match self.call() {
            Some(LineFault::Broken) => Err(broken()),
            Some(LineFault::Gone) => Err(gone()),
            // The port reports a read of nothing after it was readable as the end of the line.
            Some(LineFault::Empty) => Err(ErrorKind::UnexpectedEof.into()),
            // It was readable and then was not: the port returns at once.
            Some(LineFault::Busy) => Ok(0),
            Some(LineFault::Short) | None => self.line.read(buffer, timeout),
        }
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        match self.call() {
            Some(LineFault::Broken) => Err(broken()),
            Some(LineFault::Gone) => Err(gone()),
            Some(LineFault::Busy) => Err(ErrorKind::TimedOut.into()),
            Some(LineFault::Short) => {
                self.line.write(&bytes[..bytes.len() / 2], deadline)?;
                Err(ErrorKind::TimedOut.into())
            }
            Some(LineFault::Empty) | None => self.line.write(bytes, deadline),
        }
    }
}

fn gone() -> io::Error {
    host_platform::errors::no_device()
}
