//! Any board on a line that makes faults: a seed decides which, and when.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use firmware_wire::{Decoder, Event, Frame, RECORD, REPLY, kind};
use rcflash_transport::port::OpenError;
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{Capabilities, ControlLine, Passed, Transport};

use super::mischief::{Fault, FaultCounts, Mischief};
use super::{Board, BoardError, Button, Instruments, Ready};

/// The number of times a device that was pulled out is looked for in vain at the most.
const ABSENCES: u64 = 4;
/// The longest delay, which is longer than anybody waits.
const DELAY_MS: u64 = 4000;
/// Most characters that come of nothing, or are lost in a row.
const BURST: u64 = 64;
/// Characters of an answer among which the one is that a fault strikes.
const REACH: u64 = 200;
/// The time a break lasts: some characters at 9600 baud.
const BREAK: Duration = Duration::from_millis(5);

/// A board whose line makes faults.
pub struct FaultyBoard {
    board: Box<dyn Board>,
    state: Shared,
}

/// The state that line, board and button share.
#[derive(Clone)]
struct Shared(Arc<Mutex<State>>);

struct State {
    mischief: Mischief,
    unplugged: bool,
    /// The number of times the device will be looked for in vain.
    absences: u64,
    is_stuck: bool,
    is_foreign: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The board is reset, and runs its monitor.
    fn reset(&mut self) {
        (self.is_stuck, self.is_foreign) = (false, false);
        self.mischief.note_lost();
    }
}

impl FaultyBoard {
    /// Puts a board behind a line with faults. They begin when the board is ready to be questioned
    /// for the first time.
    #[must_use]
    pub fn new(board: Box<dyn Board>, seed: u64) -> Self {
        let state = State {
            mischief: Mischief::new(seed),
            unplugged: false,
            absences: 0,
            is_stuck: false,
            is_foreign: false,
        };
        Self { board, state: Shared(Arc::new(Mutex::new(state))) }
    }
}

impl Board for FaultyBoard {
    fn name(&self) -> &str {
        self.board.name()
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        {
            let mut state = self.state.lock();
            if state.absences > 0 {
                state.absences -= 1;
                return Err(OpenError::Missing(self.name().to_owned()).into());
            }
            state.unplugged = false;
        }
        let line = self.board.open()?;
        let state = self.state.clone();
        Ok(Box::new(FaultyLine {
            line,
            state,
            press: self.board.button(),
            requests: Decoder::default(),
            replies: Decoder::default(),
            ready: VecDeque::new(),
            strike: None,
            late: None,
        }))
    }

    fn button(&self) -> Option<Button> {
        let press = self.board.button()?;
        let state = self.state.clone();
        Some(Box::new(move || {
            state.lock().reset();
            press();
        }))
    }

    fn slowness(&self) -> u32 {
        self.board.slowness()
    }

    fn note_ready(&mut self, ready: &Ready) {
        self.state.lock().mischief.note_ready();
        self.board.note_ready(ready);
    }

    fn note_recovered(&mut self) {
        self.state.lock().mischief.note_ready();
    }

    fn take_ready(&mut self) -> Option<Ready> {
        self.board.take_ready()
    }

    fn rest(&mut self, time: Duration) {
        self.board.rest(time);
    }

    fn instruments(&self) -> Option<&dyn Instruments> {
        self.board.instruments()
    }

    fn faults(&self) -> Option<FaultCounts> {
        Some(self.state.lock().mischief.counts)
    }
}

/// A line that makes faults.
struct FaultyLine {
    line: Box<dyn Transport + Send>,
    state: Shared,
    press: Option<Button>,
    requests: Decoder,
    replies: Decoder,
    /// The bytes that have come for the host.
    ready: VecDeque<u8>,
    /// The fault that strikes the board's characters, after so many more.
    strike: Option<(Fault, u64)>,
    /// Until when nothing comes.
    late: Option<Instant>,
}

impl FaultyLine {
    fn check_plugged(&self) -> io::Result<()> {
        if self.state.lock().unplugged { Err(io::ErrorKind::NotConnected.into()) } else { Ok(()) }
    }

    /// Makes a fault that begins with a request, and gives what becomes of the request.
    fn make(&mut self, fault: Fault, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = bytes.to_vec();
        if fault == Fault::Break {
            self.hold_low(&mut bytes)?;
            return Ok(bytes);
        }
        let shared = self.state.clone();
        let mut state = shared.lock();
        if fault.is_heavy() && fault != Fault::Reset {
            state.mischief.note_lost();
        }
        match fault {
            Fault::Delay => {
                let time = Duration::from_millis(1 + state.mischief.below(DELAY_MS));
                self.late = Some(self.line.now() + time);
            }
            Fault::Disconnect => {
                state.unplugged = true;
                state.absences = state.mischief.below(ABSENCES);
                return Err(io::ErrorKind::NotConnected.into());
            }
            Fault::Stuck => state.is_stuck = true,
            Fault::WrongFirmware => state.is_foreign = true,
            Fault::Reset => self.strike = Some((fault, state.mischief.below(REACH))),
            _ if self.strike.is_some() || state.mischief.below(2) == 0 => {
                let at = state.mischief.below(bytes.len() as u64) as usize;
                spoil(fault, &mut bytes, at, &mut state.mischief);
            }
            _ => self.strike = Some((fault, state.mischief.below(REACH))),
        }
        Ok(bytes)
    }

    /// Holds the line low where that can be done; else the board hears the zeros that it would take
    /// it for.
    fn hold_low(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        match self.line.set_line(ControlLine::Break, true) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                bytes.splice(bytes.len() / 2..bytes.len() / 2, [0; 3]);
                return Ok(());
            }
            other => other?,
        }
        self.pass(BREAK)?;
        self.line.set_line(ControlLine::Break, false)
    }

    /// Lets time pass; what comes meanwhile is kept.
    fn pass(&mut self, time: Duration) -> io::Result<()> {
        let end = self.line.now() + time;
        let mut buffer = [0; 256];
        loop {
            let left = end.saturating_duration_since(self.line.now());
            if left.is_zero() {
                return Ok(());
            }
            let count = self.line.read(&mut buffer, left)?;
            self.take(&buffer[..count]);
        }
    }

    /// Passes the board's bytes to the host, as far as the faults leave them.
    fn take(&mut self, heard: &[u8]) {
        let shared = self.state.clone();
        let mut state = shared.lock();
        if state.is_stuck {
            return;
        }
        let mut bytes = heard.to_vec();
        if state.is_foreign {
            bytes = self.by_another_program(heard);
        }
        if let Some((fault, after)) = self.strike.take() {
            match after.checked_sub(bytes.len() as u64) {
                Some(after) => self.strike = Some((fault, after)),
                None if fault == Fault::Reset => {
                    bytes.truncate(after as usize);
                    state.reset();
                    self.press.iter().for_each(|press| press());
                }
                None => spoil(fault, &mut bytes, after as usize, &mut state.mischief),
            }
        }
        self.ready.extend(bytes);
    }

    /// Returns the reply of a program with other residues.
    fn by_another_program(&mut self, heard: &[u8]) -> Vec<u8> {
        let mut said = Vec::new();
        for byte in heard {
            if let Some(Event::Frame(mut frame)) = self.replies.push(*byte) {
                change(&mut frame);
                said.extend(frame.encode());
            }
        }
        said
    }
}

impl Transport for FaultyLine {
    fn name(&self) -> &str {
        self.line.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.line.capabilities()
    }

    fn now(&self) -> Instant {
        self.line.now()
    }

    fn passed(&self) -> Option<Passed> {
        self.line.passed()
    }

    fn set_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        self.line.set_line(line, on)
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.check_plugged()?;
        if let Some(until) = self.late {
            let left = until.saturating_duration_since(self.line.now());
            self.pass(left.min(timeout))?;
            if left > timeout {
                return Ok(0);
            }
            self.late = None;
        }
        if self.ready.is_empty() {
            let count = self.line.read(buffer, timeout)?;
            self.take(&buffer[..count]);
        }
        let count = self.ready.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(self.ready.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.check_plugged()?;
        let fault = {
            let mut state = self.state.lock();
            if state.is_stuck {
                return Ok(());
            }
            let is_start = |event| matches!(event, Event::Frame(Frame { kind: kind::RUN, .. }));
            if bytes.iter().filter_map(|byte| self.requests.push(*byte)).any(is_start) {
                state.is_foreign = false;
            }
            state.mischief.draw(self.press.is_some())
        };
        match fault {
            Some(fault) => {
                let bytes = self.make(fault, bytes)?;
                self.line.write(&bytes, deadline)
            }
            None => self.line.write(bytes, deadline),
        }
    }

    fn obey_rts(&mut self, obey: bool) -> io::Result<bool> {
        self.line.obey_rts(obey)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.line.discard_unsent()
    }
}

/// Spoils characters, those at `at` first.
fn spoil(fault: Fault, bytes: &mut Vec<u8>, at: usize, mischief: &mut Mischief) {
    let Some(here) = bytes.get(at).copied() else { return };
    match fault {
        Fault::Drop => {
            bytes.remove(at);
        }
        Fault::Flip => bytes[at] ^= 1 << mischief.below(8),
        Fault::Duplicate => bytes.insert(at, here),
        Fault::Overrun => {
            let count = 2 + mischief.below(BURST) as usize;
            bytes.drain(at..bytes.len().min(at + count));
        }
        _ => {
            let count = 1 + mischief.below(BURST);
            let noise = (0..count).map(|_| mischief.below(256) as u8);
            bytes.splice(at..at, noise.collect::<Vec<_>>());
        }
    }
}

/// Changes a reply to what another application would say: a residue, or the build.
fn change(frame: &mut Frame) {
    const SQUARES: u8 = kind::POSITION + REPLY;
    const RESIDUE: u8 = kind::EXCHANGE + REPLY;
    const IDENTITY: u8 = kind::IDENT + REPLY;
    let place = match frame.kind {
        // Part, count, and the first record: square, piece, status, residue.
        SQUARES if frame.payload.len() >= 2 + RECORD => 2 + 3,
        RESIDUE if !frame.payload.is_empty() => 0,
        // Role, an application's, version, build.
        IDENTITY if frame.payload.len() > 2 && frame.payload[0] == b'A' => 2,
        _ => return,
    };
    frame.payload[place] ^= 1;
}
