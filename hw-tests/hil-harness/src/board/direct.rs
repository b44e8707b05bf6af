//! The simulated board within this program, on a line whose time is the board's: nothing waits, and
//! the same questions always make the same run.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use firmware::profile::Profile;
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{ControlLine, Transport};

use super::{Board, BoardError, Button, Instruments};
use board_simulator::board_spec;
use board_simulator::{BoardModel, BoardSpec, CallRecord, Probe, QueueLine, Registers, RunStop};

/// T-states between two looks at what the board has sent.
const SLICE: u64 = 2_000;

/// A board that runs while the host listens to it. Clones are the same board.
#[derive(Clone)]
pub struct DirectBoard {
    name: String,
    world: World,
}

/// Board and time, which line and board share.
#[derive(Clone)]
struct World(Arc<Mutex<Inner>>);

struct Inner {
    board: BoardModel<QueueLine>,
    /// The probe of a board that was just powered up.
    probe: Probe,
    clock_hz: u64,
    /// T-states for which the host has listened to an idle board.
    idle: u64,
    began: Instant,
}

impl DirectBoard {
    /// Powers a board up with these bytes in its ROM.
    #[must_use]
    pub fn new(profile: &Profile, rom: &[u8], probe: Probe) -> Self {
        Self::with_spec(profile, board_spec(profile), rom, probe)
    }

    /// Powers up a board of another making than the profile's.
    #[must_use]
    pub fn with_spec(profile: &Profile, spec: BoardSpec, rom: &[u8], probe: Probe) -> Self {
        let mut board = BoardModel::new(spec, rom, QueueLine::default());
        board.set_probe(probe.clone());
        let clock_hz = profile.clock_hz.max(1);
        let inner = Inner { board, probe, clock_hz, idle: 0, began: Instant::now() };
        let name = format!("simulated {} within this program", profile.name);
        Self { name, world: World(Arc::new(Mutex::new(inner))) }
    }

    /// Returns a switch that cuts the board's power and gives it back at once.
    #[must_use]
    pub fn power_switch(&self) -> Button {
        let world = self.world.clone();
        Box::new(move || world.lock().cut_power())
    }

    /// Returns another board with the chip as a power cut would leave it now.
    #[must_use]
    pub fn after_power_cut(&self) -> Self {
        let inner = self.world.lock();
        let chip = inner.board.chip_after_cut();
        let spec = inner.board.spec().clone();
        let board = BoardModel::with_chip(spec, chip, QueueLine::default());
        let Inner { clock_hz, began, .. } = *inner;
        let other = Inner { board, probe: inner.probe.clone(), clock_hz, idle: 0, began };
        Self { name: self.name.clone(), world: World(Arc::new(Mutex::new(other))) }
    }

    /// Returns the time by the board's clock and line.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.world.lock().now()
    }
}

impl Board for DirectBoard {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        // Serial drivers end a break when the port is closed, also when its program was killed, and
        // flow control is set anew by whoever opens it.
        let mut inner = self.world.lock();
        let line = inner.board.line_mut();
        (line.low, line.ignores_rts) = (false, false);
        drop(inner);
        Ok(Box::new(DirectLine { name: self.name.clone(), world: self.world.clone() }))
    }

    fn button(&self) -> Option<Button> {
        let world = self.world.clone();
        Some(Box::new(move || world.lock().board.reset()))
    }

    fn rest(&mut self, time: Duration) {
        self.world.lock().pass(time);
    }

    fn instruments(&self) -> Option<&dyn Instruments> {
        Some(&self.world)
    }
}

impl World {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The chip in the ROM socket is left as the cut finds it, and RAM is lost. Time goes on.
    fn cut_power(&mut self) {
        let chip = self.board.chip_after_cut();
        self.idle = self.time();
        let spec = self.board.spec().clone();
        self.board = BoardModel::with_chip(spec, chip, QueueLine::default());
        self.board.set_probe(self.probe.clone());
    }

    /// T-states since power came on first.
    fn time(&self) -> u64 {
        self.board.clock() + self.idle
    }

    fn now(&self) -> Instant {
        self.began
            + Duration::from_nanos(
                (u128::from(self.time()) * 1_000_000_000 / u128::from(self.clock_hz)) as u64,
            )
    }

    /// T-states in a time; one more, so that a wait shorter than a T-state ends too.
    fn t_states(&self, time: Duration) -> u64 {
        (time.as_nanos() * u128::from(self.clock_hz) / 1_000_000_000) as u64 + 1
    }

    /// Lets the board run until it has sent something or the time is over.
    fn listen(&mut self, timeout: Duration) {
        let end = self.time() + self.t_states(timeout);
        while self.board.line_mut().from_board.is_empty() && self.time() < end {
            let slice = SLICE.min(end - self.time());
            let is_idle = self.board.run_for(slice) == RunStop::Idle;
            if is_idle && self.board.line_mut().from_board.is_empty() {
                self.idle += end.saturating_sub(self.time());
            }
        }
    }

    /// Lets time pass, whatever the board sends.
    fn pass(&mut self, time: Duration) {
        let end = self.time() + self.t_states(time);
        self.board.run_for(end - self.time());
        self.idle += end.saturating_sub(self.time());
    }
}

impl Instruments for World {
    fn program_counter(&self) -> u16 {
        self.lock().board.registers().pc
    }

    fn clock(&self) -> u64 {
        self.lock().board.clock()
    }

    fn halted_time(&self) -> u64 {
        self.lock().board.halted_time()
    }

    fn take_records(&self) -> Vec<CallRecord> {
        self.lock().board.probe_mut().map(Probe::take).unwrap_or_default()
    }

    fn take_passages(&self) -> Vec<Registers> {
        self.lock().board.probe_mut().map(Probe::take_hits).unwrap_or_default()
    }
}

/// The line to it.
struct DirectLine {
    name: String,
    world: World,
}

impl Transport for DirectLine {
    fn name(&self) -> &str {
        &self.name
    }

    fn now(&self) -> Instant {
        self.world.lock().now()
    }

    fn set_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        if line != ControlLine::Break {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.world.lock().board.line_mut().low = on;
        Ok(())
    }

    fn obey_rts(&mut self, obey: bool) -> io::Result<bool> {
        let mut inner = self.world.lock();
        let before = std::mem::replace(&mut inner.board.line_mut().ignores_rts, !obey);
        Ok(!before)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.world.lock().board.line_mut().to_board.clear();
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let mut inner = self.world.lock();
        inner.listen(timeout);
        let heard = &mut inner.board.line_mut().from_board;
        let count = heard.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(heard.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        self.world.lock().board.line_mut().to_board.extend(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use firmware::ProgramKind;
    use firmware::build::build;
    use rcflash_link::Link;
    use rcflash_link::loader::identify;

    use super::*;

    #[test]
    fn a_break_that_nobody_ended_ends_when_the_line_is_opened_again() {
        let profile = Profile::named("rc2014-classic").expect("it ships");
        let monitor = build(&profile, ProgramKind::Monitor).expect("it is built");
        let mut board = DirectBoard::new(&profile, &monitor.bytes, Probe::default());
        let mut line = board.open().expect("it is there");
        line.set_line(ControlLine::Break, true).expect("it can");
        line.obey_rts(false).expect("it can");
        drop(line);
        let line = board.open().expect("it is there");
        assert!(!board.world.lock().board.line_mut().ignores_rts);
        identify(&mut Link::new(line, profile.uart.baud)).expect("it answers");
    }
}
