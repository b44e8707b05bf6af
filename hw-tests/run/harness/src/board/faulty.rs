//! Fault injection: wraps any board so that its line injects faults that follow from a seed.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use firmware_wire::{Decoder, DecoderEvent, Frame, REPLY_BIT, kind};
use rcflash_link::rig::reset::{ResetError, ResetOutcome};
use rcflash_transport::port::OpenError;
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{ControlLine, Transport};

use super::fault_schedule::{FaultCounts, FaultSchedule, InjectedFault, Phase};
use super::{Board, BoardError, ResetFn, RunningApplication, lock};

/// Most attempts to open a disconnected device that fail.
const MAX_FAILED_OPENS: u64 = 4;
/// The longest delay in milliseconds: longer than any timeout of the harness.
const MAX_DELAY_MS: u64 = 4000;
/// Most characters inserted or lost in a row.
const MAX_BURST_CHARACTERS: u64 = 64;
/// A fault of a reply hits one of this many first characters.
const MAX_FAULT_OFFSET: u64 = 200;
/// The length of a break: some characters at 9600 baud.
const BREAK_DURATION: Duration = Duration::from_millis(5);

/// Returns the index of a byte in the payload of a reply whose change makes a result wrong.
pub type ResultByte = fn(&Frame) -> Option<usize>;

/// A board whose line injects faults.
pub(crate) struct FaultyBoard {
    board: Box<dyn Board>,
    result_byte: ResultByte,
    state: Shared,
}

/// The state shared by board, lines and reset functions.
type Shared = Arc<Mutex<State>>;

struct State {
    schedule: FaultSchedule,
    unplugged: bool,
    /// Attempts to open the device that are still to fail.
    failed_opens: u64,
    is_stuck: bool,
    is_wrong_firmware: bool,
}

impl State {
    /// The board was reset and runs its monitor.
    fn reset(&mut self) {
        (self.is_stuck, self.is_wrong_firmware) = (false, false);
        self.schedule.phase = Phase::Recovering;
    }
}

impl FaultyBoard {
    /// Wraps a board. Faults begin when the board is first ready for requests.
    pub(crate) fn new(board: Box<dyn Board>, seed: u64, result_byte: ResultByte) -> Self {
        let state = State {
            schedule: FaultSchedule::new(seed),
            unplugged: false,
            failed_opens: 0,
            is_stuck: false,
            is_wrong_firmware: false,
        };
        Self { board, result_byte, state: Arc::new(Mutex::new(state)) }
    }
}

impl Board for FaultyBoard {
    fn inner(&self) -> Option<&dyn Board> {
        Some(&*self.board)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Board> {
        Some(&mut *self.board)
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        {
            let mut state = lock(&self.state);
            if state.failed_opens > 0 {
                state.failed_opens -= 1;
                return Err(OpenError::NotFound(self.name().to_owned()).into());
            }
            state.unplugged = false;
        }
        let line = self.board.open()?;
        let state = self.state.clone();
        Ok(Box::new(FaultyLine {
            line,
            result_byte: self.result_byte,
            state,
            reset: self.board.reset_fn(),
            requests: Decoder::default(),
            replies: Decoder::default(),
            rx_buffer: VecDeque::new(),
            scheduled: None,
            delayed_until: None,
        }))
    }

    fn reset(&mut self, line: &mut dyn Transport) -> Result<ResetOutcome, ResetError> {
        let outcome = self.board.reset(line)?;
        if outcome == ResetOutcome::Done {
            lock(&self.state).reset();
        }
        Ok(outcome)
    }

    fn on_ready(&mut self, ready: &RunningApplication) {
        lock(&self.state).schedule.phase = Phase::Active;
        self.board.on_ready(ready);
    }

    fn on_recovered(&mut self) {
        lock(&self.state).schedule.phase = Phase::Active;
    }

    fn fault_counts(&self) -> Option<FaultCounts> {
        Some(lock(&self.state).schedule.counts)
    }
}

/// A line that injects faults.
struct FaultyLine {
    line: Box<dyn Transport + Send>,
    result_byte: ResultByte,
    state: Shared,
    reset: Option<ResetFn>,
    requests: Decoder,
    replies: Decoder,
    /// Bytes received for the host.
    rx_buffer: VecDeque<u8>,
    /// A fault to inject into the board's output, after this number of further characters.
    scheduled: Option<(InjectedFault, u64)>,
    /// Nothing is delivered before this time.
    delayed_until: Option<Instant>,
}

impl FaultyLine {
    fn check_plugged(&self) -> io::Result<()> {
        if lock(&self.state).unplugged { Err(io::ErrorKind::NotConnected.into()) } else { Ok(()) }
    }

    /// Injects a fault that starts with a request. Returns the request as the board receives it.
    fn inject(&mut self, fault: InjectedFault, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = bytes.to_vec();
        if fault == InjectedFault::Break {
            self.hold_low(&mut bytes)?;
            return Ok(bytes);
        }
        let shared = self.state.clone();
        let mut state = lock(&shared);
        if fault.needs_recovery() && fault != InjectedFault::Reset {
            state.schedule.phase = Phase::Recovering;
        }
        match fault {
            InjectedFault::Delay => {
                let time = Duration::from_millis(1 + state.schedule.random_below(MAX_DELAY_MS));
                self.delayed_until = Some(self.line.now() + time);
            }
            InjectedFault::Disconnect => {
                state.unplugged = true;
                state.failed_opens = state.schedule.random_below(MAX_FAILED_OPENS);
                return Err(io::ErrorKind::NotConnected.into());
            }
            InjectedFault::Stuck => state.is_stuck = true,
            InjectedFault::WrongFirmware => state.is_wrong_firmware = true,
            InjectedFault::Reset => {
                self.scheduled = Some((fault, state.schedule.random_below(MAX_FAULT_OFFSET)))
            }
            _ if self.scheduled.is_some() || state.schedule.random_below(2) == 0 => {
                let at = state.schedule.random_below(bytes.len() as u64) as usize;
                corrupt(fault, &mut bytes, at, &mut state.schedule);
            }
            _ => self.scheduled = Some((fault, state.schedule.random_below(MAX_FAULT_OFFSET))),
        }
        Ok(bytes)
    }

    /// Sends a break, or, if the line can't, the zeros that a board receives during one.
    fn hold_low(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        match self.line.set_control_line(ControlLine::Break, true) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                bytes.splice(bytes.len() / 2..bytes.len() / 2, [0; 3]);
                return Ok(());
            }
            other => other?,
        }
        self.wait(BREAK_DURATION)?;
        self.line.set_control_line(ControlLine::Break, false)
    }

    /// Waits, and buffers what is received meanwhile.
    fn wait(&mut self, time: Duration) -> io::Result<()> {
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

    /// Buffers the board's bytes for the host, with the faults applied.
    fn take(&mut self, received: &[u8]) {
        let shared = self.state.clone();
        let mut state = lock(&shared);
        if state.is_stuck {
            return;
        }
        let is_forged = state.is_wrong_firmware;
        let mut bytes = if is_forged { self.forge_replies(received) } else { received.to_vec() };
        if let Some((fault, after)) = self.scheduled.take() {
            match after.checked_sub(bytes.len() as u64) {
                Some(after) => self.scheduled = Some((fault, after)),
                None if fault == InjectedFault::Reset => {
                    bytes.truncate(after as usize);
                    state.reset();
                    self.reset.iter().for_each(|reset| reset());
                }
                None => corrupt(fault, &mut bytes, after as usize, &mut state.schedule),
            }
        }
        self.rx_buffer.extend(bytes);
    }

    /// Returns the replies of an application with other results.
    fn forge_replies(&mut self, received: &[u8]) -> Vec<u8> {
        let mut forged = Vec::new();
        for byte in received {
            if let Some(DecoderEvent::Frame(mut frame)) = self.replies.push(*byte) {
                self.forge_reply(&mut frame);
                forged.extend(frame.encode());
            }
        }
        forged
    }

    /// Changes a result or the build id in a reply, as if another application had sent it.
    fn forge_reply(&self, frame: &mut Frame) {
        const IDENTITY: u8 = kind::IDENT + REPLY_BIT;
        let place = match frame.kind {
            // Role, an application's, version, build.
            IDENTITY if frame.payload.len() > 2 && frame.payload[0] == b'A' => Some(2),
            _ => (self.result_byte)(frame),
        };
        if let Some(byte) = place.and_then(|place| frame.payload.get_mut(place)) {
            *byte ^= 1;
        }
    }
}

impl Transport for FaultyLine {
    fn inner(&self) -> Option<&dyn Transport> {
        Some(&*self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        Some(&mut *self.line)
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.check_plugged()?;
        if let Some(until) = self.delayed_until {
            let left = until.saturating_duration_since(self.line.now());
            self.wait(left.min(timeout))?;
            if left > timeout {
                return Ok(0);
            }
            self.delayed_until = None;
        }
        if self.rx_buffer.is_empty() {
            let count = self.line.read(buffer, timeout)?;
            self.take(&buffer[..count]);
        }
        self.rx_buffer.read(buffer)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.check_plugged()?;
        let fault = {
            let mut state = lock(&self.state);
            if state.is_stuck {
                return Ok(());
            }
            let is_start =
                |event| matches!(event, DecoderEvent::Frame(Frame { kind: kind::RUN, .. }));
            if bytes.iter().filter_map(|byte| self.requests.push(*byte)).any(is_start) {
                state.is_wrong_firmware = false;
            }
            state.schedule.next_fault(self.reset.is_some())
        };
        let injected = fault.map(|fault| self.inject(fault, bytes)).transpose()?;
        self.line.write(injected.as_deref().unwrap_or(bytes), deadline)
    }
}

/// Corrupts characters from `at` on.
fn corrupt(fault: InjectedFault, bytes: &mut Vec<u8>, at: usize, schedule: &mut FaultSchedule) {
    let Some(here) = bytes.get(at).copied() else { return };
    match fault {
        InjectedFault::Drop => {
            bytes.remove(at);
        }
        InjectedFault::Flip => bytes[at] ^= 1 << schedule.random_below(8),
        InjectedFault::Duplicate => bytes.insert(at, here),
        InjectedFault::Overrun => {
            let count = 2 + schedule.random_below(MAX_BURST_CHARACTERS) as usize;
            bytes.drain(at..bytes.len().min(at + count));
        }
        _ => {
            let count = 1 + schedule.random_below(MAX_BURST_CHARACTERS);
            let noise = (0..count).map(|_| schedule.random_below(256) as u8);
            bytes.splice(at..at, noise.collect::<Vec<_>>());
        }
    }
}
