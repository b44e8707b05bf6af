//! A monitor on a line within this process. Time is virtual: it passes only while the host waits,
//! so the same requests always give the same session, however busy the computer is.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{Capabilities, Transport};

use crate::engine::MonitorEngine;
use crate::{MonitorModel, MonitorOptions};
use board_simulator::PacketTimer;

/// Poll interval of an idle monitor; a guest program runs this soon after a character.
const IDLE_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Poll interval of a guest program without input: as long as it runs for at a poll.
const GUEST_POLL_INTERVAL: Duration = Duration::from_millis(27);
/// Bits of a character on the line: start bit, 8 data bits, stop bit.
const BITS_PER_CHARACTER: u32 = 10;

/// A line to a monitor emulator, in virtual time. Clones share the line and its monitor.
#[derive(Clone)]
pub struct MonitorLine(Arc<Mutex<LineState>>);

struct LineState {
    peer: Box<dyn MonitorModel>,
    engine: MonitorEngine,
    options: MonitorOptions,
    host_baud: u32,
    /// Whether the host stops sending while RTS is high.
    flow_control: bool,
    began: Instant,
    now: Duration,
    /// The characters in transmission, each with its time unless RTS suspends the host.
    to_monitor: VecDeque<(Duration, u8)>,
    /// The time at which the last of them is complete.
    line_free_at: Duration,
    packets: PacketTimer,
    in_adapter: VecDeque<u8>,
    /// The characters that the host can read.
    to_host: VecDeque<u8>,
    next_poll: Duration,
    guest_runs: bool,
    read_delay: Duration,
}

impl MonitorLine {
    /// Connects a monitor.
    pub fn new(peer: Box<dyn MonitorModel>, options: MonitorOptions) -> Self {
        let engine = MonitorEngine::new(&*peer, &options);
        Self(Arc::new(Mutex::new(LineState {
            peer,
            engine,
            options,
            host_baud: options.baud,
            flow_control: true,
            began: Instant::now(),
            now: Duration::ZERO,
            to_monitor: VecDeque::new(),
            line_free_at: Duration::ZERO,
            packets: PacketTimer::new(options.packets),
            in_adapter: VecDeque::new(),
            to_host: VecDeque::new(),
            next_poll: Duration::ZERO,
            guest_runs: false,
            read_delay: Duration::ZERO,
        })))
    }

    /// Makes each read return that long after the first character, with what has arrived by then,
    /// as on a computer that wakes up late.
    #[must_use]
    pub fn with_read_delay(self, delay: Duration) -> Self {
        self.lock().read_delay = delay;
        self
    }

    /// Returns how much time has passed on the line.
    pub fn elapsed(&self) -> Duration {
        self.lock().now
    }

    /// Lets time pass while the host does nothing.
    pub fn sleep(&self, time: Duration) {
        let mut state = self.lock();
        let end = state.now + time;
        while state.now < end {
            state.step(end);
        }
    }

    /// Presses the reset button. What the host has sent is lost.
    pub fn reset(&self) {
        let mut state = self.lock();
        let LineState { peer, engine, to_monitor, now, .. } = &mut *state;
        to_monitor.clear();
        engine.reset(*now, &mut **peer);
    }

    /// Returns the number of characters that the receiver has lost.
    pub fn lost(&self) -> u64 {
        self.lock().engine.receiver().lost()
    }

    /// Calls `inspect` with the monitor.
    pub fn with_monitor<T>(&self, inspect: impl FnOnce(&mut dyn MonitorModel) -> T) -> T {
        inspect(&mut *self.lock().peer)
    }

    /// Returns `count` bytes of memory; empty if the emulator has no memory.
    pub fn memory(&self, from: u16, count: u16) -> Vec<u8> {
        self.with_monitor(|peer| {
            let memory = peer.memory();
            memory.map_or(Vec::new(), |memory| (0..count).map(|i| memory.get(from + i)).collect())
        })
    }

    fn lock(&self) -> MutexGuard<'_, LineState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LineState {
    fn speed_matches(&self) -> bool {
        self.host_baud == self.options.baud
    }

    /// Advances the clock to the next event, at most to `end`, and handles what is due then.
    fn step(&mut self, end: Duration) {
        let arrival = self.next_arrival();
        let adapter = (!self.in_adapter.is_empty()).then(|| self.packets.expiry());
        let next = [arrival, adapter, self.engine.next_output(), Some(self.next_poll)];
        let next = next.into_iter().flatten().fold(end, Duration::min);
        self.now = self.now.max(next);
        self.receive_arrived();
        self.poll_monitor();
        self.deliver();
    }

    fn next_arrival(&mut self) -> Option<Duration> {
        let (sent, _) = *self.to_monitor.front()?;
        Some(self.engine.receiver().arrival(sent))
    }

    fn receive_arrived(&mut self) {
        let speed_matches = self.speed_matches();
        while let Some(at) = self.next_arrival().filter(|at| *at <= self.now) {
            if let Some((_, character)) = self.to_monitor.pop_front() {
                self.engine.receive(character, at, speed_matches, &mut *self.peer);
            }
            if self.guest_runs {
                self.next_poll = self.next_poll.min(self.now + IDLE_POLL_INTERVAL);
            }
        }
    }

    fn poll_monitor(&mut self) {
        if self.now < self.next_poll {
            return;
        }
        self.guest_runs = self.engine.idle(self.now, &mut *self.peer);
        let interval = if self.guest_runs { GUEST_POLL_INTERVAL } else { IDLE_POLL_INTERVAL };
        self.next_poll = self.now + interval;
        self.in_adapter.extend(self.engine.noise());
    }

    /// Passes output to the adapter, and what the adapter delivers to the host.
    fn deliver(&mut self) {
        let output = self.engine.take_output(self.now, self.speed_matches());
        self.in_adapter.extend(output);
        loop {
            let count = self.packets.packet_length(self.in_adapter.len(), self.now);
            if count == 0 {
                break;
            }
            self.to_host.extend(self.in_adapter.drain(..count));
            self.packets.restart(self.now);
        }
        self.packets.expire(self.now);
    }

    /// Applies the flow control that the host and the wires allow.
    fn apply_flow_control(&mut self) {
        let obeys = self.flow_control && self.options.host_obeys_rts;
        self.engine.receiver().set_host_obeys_rts(obeys);
    }
}

impl Transport for MonitorLine {
    fn name(&self) -> &str {
        "a virtual line"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { flow_control: true, ..Capabilities::default() }
    }

    fn now(&self) -> Instant {
        let state = self.lock();
        state.began + state.now
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let mut state = self.lock();
        let end = state.now + timeout;
        while state.to_host.is_empty() && state.now < end {
            state.step(end);
        }
        let end = end.min(state.now + state.read_delay);
        while state.now < end {
            state.step(end);
        }
        let count = state.to_host.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(state.to_host.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        let mut state = self.lock();
        let character_time = Duration::from_secs(1) * BITS_PER_CHARACTER / state.host_baud.max(1);
        for byte in bytes {
            state.line_free_at = state.line_free_at.max(state.now) + character_time;
            let at = state.line_free_at;
            state.to_monitor.push_back((at, *byte));
        }
        Ok(())
    }

    fn set_flow_control(&mut self, enabled: bool) -> io::Result<bool> {
        let mut state = self.lock();
        let before = std::mem::replace(&mut state.flow_control, enabled);
        state.apply_flow_control();
        Ok(before)
    }

    fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        self.lock().host_baud = baud;
        Ok(())
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        let mut state = self.lock();
        state.to_monitor.clear();
        state.line_free_at = state.now;
        Ok(())
    }
}
