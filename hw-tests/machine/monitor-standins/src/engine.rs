//! A monitor emulator and its serial chip: receives characters at given times, sends output at line
//! speed, and injects faults. The caller supplies the clock. Times are relative to its start.

use std::collections::VecDeque;
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use crate::{MonitorModel, Receiver};
use board_simulator::{UsbPacketing, corrupt_by_baud_mismatch};

/// Characters of noise per poll.
const NOISE_BURST: usize = 50;

/// The faults to inject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultOptions {
    /// Sends nothing.
    pub silent: bool,
    /// Sends random characters without end.
    pub noise: bool,
    /// One in this many received characters is lost, at random.
    pub loss_odds: Option<u32>,
    /// One in this many received characters is corrupted, at random.
    pub corruption_odds: Option<u32>,
    /// One in this many received characters arrives twice, at random.
    pub double_odds: Option<u32>,
    /// The number of received characters before the first fault.
    pub first_fault_after: u64,
    /// The maximum number of lost, corrupted and doubled characters.
    pub max_faults: u32,
    /// Sends nothing after this many received characters.
    pub silent_after: Option<u64>,
}

impl Default for FaultOptions {
    /// Returns options without faults, and without limits for those that are added.
    fn default() -> Self {
        Self {
            silent: false,
            noise: false,
            loss_odds: None,
            corruption_odds: None,
            double_odds: None,
            first_fault_after: 0,
            max_faults: u32::MAX,
            silent_after: None,
        }
    }
}

/// Options of a monitor emulator's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorOptions {
    /// Line speed in baud.
    pub baud: u32,
    /// Whether the host obeys RTS.
    pub host_obeys_rts: bool,
    /// The faults to inject.
    pub faults: FaultOptions,
    /// Seed of the faults.
    pub seed: u64,
    /// How the serial adapter delivers characters.
    pub packets: UsbPacketing,
}

impl Default for MonitorOptions {
    fn default() -> Self {
        Self {
            baud: 115_200,
            host_obeys_rts: true,
            faults: FaultOptions::default(),
            seed: 1,
            packets: UsbPacketing::None,
        }
    }
}

/// The state of a serial chip between a monitor and a line.
pub(super) struct MonitorEngine {
    receiver: Receiver,
    faults: FaultOptions,
    random: ChaCha8Rng,
    /// The number of characters that the host has sent.
    received_count: u64,
    /// The number of injected faults.
    fault_count: u32,
    last_received: Duration,
    /// The characters being sent, each with the time at which it is complete.
    pending_output: VecDeque<(Duration, u8)>,
    /// The time at which the last of them is complete.
    line_free_at: Duration,
}

impl MonitorEngine {
    pub(super) fn new(peer: &dyn MonitorModel, options: &MonitorOptions) -> Self {
        Self {
            receiver: Receiver::new(peer.receiver_spec(), options.baud, options.host_obeys_rts),
            faults: options.faults,
            random: ChaCha8Rng::seed_from_u64(options.seed),
            received_count: 0,
            fault_count: 0,
            last_received: Duration::ZERO,
            pending_output: VecDeque::new(),
            line_free_at: Duration::ZERO,
        }
    }

    pub(super) fn receiver(&mut self) -> &mut Receiver {
        &mut self.receiver
    }

    /// Receives a character that arrives at `at`. It is corrupted if the host's speed differs.
    pub(super) fn receive(
        &mut self,
        character: u8,
        at: Duration,
        speed_matches: bool,
        peer: &mut dyn MonitorModel,
    ) {
        self.received_count += 1;
        self.last_received = at;
        if self.is_fault_due(self.faults.loss_odds) || !self.receiver.receive(at) {
            return;
        }
        let mut received = character;
        if self.is_fault_due(self.faults.corruption_odds) {
            received ^= 1 << (self.random.next_u32() % 7);
        }
        let copies = 1 + usize::from(self.is_fault_due(self.faults.double_odds));
        let received = if speed_matches { received } else { corrupt_by_baud_mismatch(received) };
        let mut out = Vec::new();
        peer.set_time(at);
        (0..copies).for_each(|_| peer.receive(received, &mut out));
        let begins = self.receiver.process(peer.processing_time(), out.len());
        self.queue_output(&out, begins);
    }

    /// Presses the reset button at `now`.
    pub(super) fn reset(&mut self, now: Duration, peer: &mut dyn MonitorModel) {
        let mut out = Vec::new();
        peer.reset(&mut out);
        self.pending_output.clear();
        self.line_free_at = now;
        self.queue_output(&out, now);
    }

    /// Lets the monitor run at `now`. Returns `true` if a guest program runs.
    pub(super) fn idle(&mut self, now: Duration, peer: &mut dyn MonitorModel) -> bool {
        let mut out = Vec::new();
        peer.set_time(now);
        let running = peer.idle(now.saturating_sub(self.last_received), &mut out);
        self.queue_output(&out, now);
        running
    }

    /// Decides whether a fault with these odds happens to this character.
    fn is_fault_due(&mut self, one_of: Option<u32>) -> bool {
        let Some(count) = one_of.filter(|_| self.allows_faults()) else {
            return false;
        };
        let now = self.random.next_u32().is_multiple_of(count.max(1));
        self.fault_count += u32::from(now);
        now
    }

    fn allows_faults(&self) -> bool {
        self.received_count > self.faults.first_fault_after
            && self.fault_count < self.faults.max_faults
    }

    /// Queues output from `begins` on, at line speed.
    fn queue_output(&mut self, characters: &[u8], begins: Duration) {
        let dead = self.faults.silent_after.is_some_and(|count| self.received_count >= count);
        if self.faults.silent || self.faults.noise || dead {
            return;
        }
        for character in characters {
            self.line_free_at = self.line_free_at.max(begins) + self.receiver.character_time();
            self.pending_output.push_back((self.line_free_at, *character));
        }
    }

    pub(super) fn is_sending(&self) -> bool {
        !self.pending_output.is_empty()
    }

    /// Returns when the next character is complete.
    pub(super) fn next_output(&self) -> Option<Duration> {
        self.pending_output.front().map(|(at, _)| *at)
    }

    /// Takes the characters that are complete by `now`, as they are received at the host's speed.
    pub(super) fn take_output(&mut self, now: Duration, speed_matches: bool) -> Vec<u8> {
        let count = self.pending_output.partition_point(|(at, _)| *at <= now);
        let garble = |word| if speed_matches { word } else { corrupt_by_baud_mismatch(word) };
        self.pending_output.drain(..count).map(|(_, word)| garble(word)).collect()
    }

    /// Returns a burst of noise if that is to be injected.
    pub(super) fn noise(&mut self) -> Vec<u8> {
        let count = if self.faults.noise { NOISE_BURST } else { 0 };
        (0..count).map(|_| self.random.next_u32() as u8).collect()
    }
}
