//! Runs a monitor emulator in a thread, behind the path of a serial device, and injects faults.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use rcflash_transport::time::{Duration, Instant};

use super::{MonitorModel, Receiver};
use crate::{PtyLine, SerialLine, UsbPacketing, corrupt_by_baud_mismatch};

/// Poll interval of an idle monitor.
const IDLE_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Poll interval while a guest program runs or output is pending.
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(1);
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
    /// The number of received characters before the first fault.
    pub first_fault_after: u64,
    /// The maximum number of lost and corrupted characters.
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
            first_fault_after: 0,
            max_faults: u32::MAX,
            silent_after: None,
        }
    }
}

/// Options of a [`MonitorServer`].
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

/// A running monitor emulator. Dropping it stops the thread.
pub struct MonitorServer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

struct Shared {
    stop: AtomicBool,
    lost: AtomicU64,
    peer: Mutex<Box<dyn MonitorModel>>,
}

impl MonitorServer {
    /// Serves a monitor on a new pseudo-terminal.
    ///
    /// # Errors
    /// Returns the error of the operating system if no pseudo-terminal or thread is available.
    pub fn start(peer: Box<dyn MonitorModel>, options: MonitorOptions) -> io::Result<Self> {
        let line = PtyLine::open(options.baud)?.with_packets(options.packets);
        let path = line.path().to_owned();
        let receiver = Receiver::new(peer.receiver_spec(), options.baud, options.host_obeys_rts);
        let stop = AtomicBool::new(false);
        let lost = AtomicU64::new(0);
        let shared = Arc::new(Shared { stop, lost, peer: Mutex::new(peer) });
        let seen = Arc::clone(&shared);
        let mut server = Server {
            line,
            receiver,
            faults: options.faults,
            random: ChaCha8Rng::seed_from_u64(options.seed),
            received_count: 0,
            fault_count: 0,
            began: Instant::now(),
            last_poll: Duration::ZERO,
            last_received: Instant::now(),
            pending_output: VecDeque::new(),
            line_free_at: Duration::ZERO,
        };
        let run = move || server.serve(&seen);
        let thread = std::thread::Builder::new().name("monitor emulator".into()).spawn(run)?;
        Ok(Self { shared, thread: Some(thread), path })
    }

    /// Returns the path of the device to open.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of characters that the receiver has lost.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Acquire)
    }

    /// Returns `count` bytes of memory; empty if the emulator has no memory.
    #[must_use]
    pub fn memory(&self, from: u16, count: u16) -> Vec<u8> {
        let mut peer = self.shared.peer();
        let memory = peer.memory();
        memory.map_or(Vec::new(), |memory| (0..count).map(|i| memory.get(from + i)).collect())
    }

    /// Returns the lines of the stored BASIC program.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.shared.peer().lines()
    }

    /// Returns the content of a file on the emulated disk.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<Vec<u8>> {
        self.shared.peer().file(name).map(<[u8]>::to_vec)
    }
}

impl Drop for MonitorServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic has been reported by the thread
        }
    }
}

impl Shared {
    fn peer(&self) -> MutexGuard<'_, Box<dyn MonitorModel>> {
        self.peer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of the thread.
struct Server {
    line: PtyLine,
    receiver: Receiver,
    faults: FaultOptions,
    random: ChaCha8Rng,
    /// The number of characters that the host has sent.
    received_count: u64,
    /// The number of injected faults.
    fault_count: u32,
    began: Instant,
    /// The time of the last poll.
    last_poll: Duration,
    last_received: Instant,
    /// The characters being sent, each with the time at which it is complete.
    pending_output: VecDeque<(Duration, u8)>,
    /// The time at which the last of them is complete.
    line_free_at: Duration,
}

impl Server {
    fn serve(&mut self, shared: &Shared) {
        let mut running = false;
        while !shared.stop.load(Ordering::Acquire) {
            let awake = running || !self.pending_output.is_empty();
            self.line.flush(Some(if awake { BUSY_POLL_INTERVAL } else { IDLE_POLL_INTERVAL }));
            let received: Vec<u8> = std::iter::from_fn(|| self.line.receive()).collect();
            let times = self.arrival_times(received.len());
            let mut peer = shared.peer();
            for (character, at) in received.into_iter().zip(times) {
                self.handle_character(character, at, &mut **peer);
                self.last_received = Instant::now();
            }
            let mut out = Vec::new();
            running = peer.idle(self.last_received.elapsed(), &mut out);
            drop(peer);
            self.out(&out, self.began.elapsed());
            self.make_noise();
            self.transmit();
            shared.lost.store(self.receiver.lost(), Ordering::Release);
        }
        self.line.flush(None);
    }

    /// Estimates when each of `count` characters read at once arrived. A pseudo-terminal has no
    /// timestamps, and a busy computer polls late. So that a host which pauses between characters
    /// loses none for that, they are spread evenly since the last poll; or, if the line is too slow
    /// for that, arrive at line speed.
    fn arrival_times(&mut self, count: usize) -> impl Iterator<Item = Duration> + use<> {
        let now = self.began.elapsed();
        let since = std::mem::replace(&mut self.last_poll, now);
        let share = (now - since) / count.max(1) as u32;
        let (from, distance) = match share > self.receiver.character_time() {
            true => (since, share),
            false => (now, Duration::ZERO),
        };
        (1..=count as u32).map(move |index| from + distance * index)
    }

    /// Handles a character of the host that arrived at `at`.
    fn handle_character(&mut self, character: u8, at: Duration, peer: &mut dyn MonitorModel) {
        self.received_count += 1;
        if self.is_fault_due(self.faults.loss_odds) || !self.receiver.receive(at) {
            return;
        }
        let mut received = character;
        if self.is_fault_due(self.faults.corruption_odds) {
            received ^= 1 << (self.random.next_u32() % 7);
        }
        let mut out = Vec::new();
        peer.receive(
            if self.line.speed_matches() { received } else { corrupt_by_baud_mismatch(received) },
            &mut out,
        );
        let begins = self.receiver.process(peer.processing_time(), out.len());
        self.out(&out, begins);
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
    fn out(&mut self, characters: &[u8], begins: Duration) {
        let dead = self.faults.silent_after.is_some_and(|count| self.received_count >= count);
        if self.faults.silent || self.faults.noise || dead {
            return;
        }
        for character in characters {
            self.line_free_at = self.line_free_at.max(begins) + self.receiver.character_time();
            self.pending_output.push_back((self.line_free_at, *character));
        }
    }

    /// Sends the characters that are complete by now.
    fn transmit(&mut self) {
        let now = self.began.elapsed();
        let garbled = !self.line.speed_matches();
        let count = self.pending_output.partition_point(|(at, _)| *at <= now);
        for (_, word) in self.pending_output.drain(..count) {
            self.line.transmit(if garbled { corrupt_by_baud_mismatch(word) } else { word });
        }
        self.line.flush(None);
    }

    fn make_noise(&mut self) {
        if self.faults.noise {
            for _ in 0..NOISE_BURST {
                let byte = self.random.next_u32() as u8;
                self.line.transmit(byte);
            }
        }
    }
}
