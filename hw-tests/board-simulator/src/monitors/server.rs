//! A stand-in in a thread of its own, reached like a board: by the path of a serial device.
//! FaultOptions are made here.

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
use crate::{Line, PtyLine, UsbPacketing, corrupt_by_baud_mismatch};

/// The time it waits for a character before it looks around.
const IDLE_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The same while a program runs or something is being said.
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Characters of noise at a time.
const NOISE_BURST: usize = 50;

/// The faults made on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultOptions {
    /// It never says anything.
    pub silent: bool,
    /// It says nothing sensible, without end.
    pub noise: bool,
    /// Of so many characters one is lost on the way to it, at random.
    pub loses: Option<u32>,
    /// Of so many characters one is changed on the way to it, at random.
    pub changes: Option<u32>,
    /// The number of characters before the first that is lost or changed.
    pub not_before: u64,
    /// The most that are lost or changed.
    pub at_most: u32,
    /// After so many characters it says nothing more.
    pub dies_after: Option<u64>,
}

impl Default for FaultOptions {
    /// None; those that are asked for happen again and again.
    fn default() -> Self {
        Self {
            silent: false,
            noise: false,
            loses: None,
            changes: None,
            not_before: 0,
            at_most: u32::MAX,
            dies_after: None,
        }
    }
}

/// MonitorOptions of serving it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorOptions {
    /// Line speed.
    pub baud: u32,
    /// Whether the host obeys RTS.
    pub host_obeys_rts: bool,
    /// The faults to be made.
    pub faults: FaultOptions,
    /// Chooses when faults happen.
    pub seed: u64,
    /// The adapter at the line.
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

/// A stand-in that is served. Dropping it ends the thread.
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
    /// The system's error if no pseudo-terminal or no thread is available.
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
            heard: 0,
            happened: 0,
            began: Instant::now(),
            looked: Duration::ZERO,
            latest: Instant::now(),
            words: VecDeque::new(),
            said: Duration::ZERO,
        };
        let run = move || server.serve(&seen);
        let thread = std::thread::Builder::new().name("stand-in".into()).spawn(run)?;
        Ok(Self { shared, thread: Some(thread), path })
    }

    /// The device to open.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Characters that its receiver has lost.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Acquire)
    }

    /// Bytes of its memory; none when it has no memory to show.
    #[must_use]
    pub fn memory(&self, from: u16, count: u16) -> Vec<u8> {
        let mut peer = self.shared.peer();
        let memory = peer.memory();
        memory.map_or(Vec::new(), |memory| (0..count).map(|i| memory.get(from + i)).collect())
    }

    /// The lines of the BASIC program in it.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.shared.peer().lines()
    }

    /// The content of a file on its disk.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<Vec<u8>> {
        self.shared.peer().file(name).map(<[u8]>::to_vec)
    }
}

impl Drop for MonitorServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic over there has been reported there
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
    /// Characters that the host has sent.
    heard: u64,
    /// Characters lost or changed on purpose.
    happened: u32,
    began: Instant,
    /// When it was last looked for characters of the host.
    looked: Duration,
    latest: Instant,
    /// The words under way, and when each character will have passed the line.
    words: VecDeque<(Duration, u8)>,
    /// When the last of it will have.
    said: Duration,
}

impl Server {
    fn serve(&mut self, shared: &Shared) {
        let mut running = false;
        while !shared.stop.load(Ordering::Acquire) {
            let awake = running || !self.words.is_empty();
            self.line.flush(Some(if awake { BUSY_POLL_INTERVAL } else { IDLE_POLL_INTERVAL }));
            let heard: Vec<u8> = std::iter::from_fn(|| self.line.receive()).collect();
            let times = self.arrivals(heard.len());
            let mut peer = shared.peer();
            for (character, at) in heard.into_iter().zip(times) {
                self.take(character, at, &mut **peer);
                self.latest = Instant::now();
            }
            let mut out = Vec::new();
            running = peer.idle(self.latest.elapsed(), &mut out);
            drop(peer);
            self.out(&out, self.began.elapsed());
            self.make_noise();
            self.transmit();
            shared.lost.store(self.receiver.lost(), Ordering::Release);
        }
        self.line.flush(None);
    }

    /// When each of so many characters came that were found at once. A pseudo-terminal does not
    /// tell; they have come since it was looked last. A busy computer looks late, and a host that
    /// rests between characters must not lose them for that: so they are taken to have come at
    /// equal distances, if the line can have carried them meanwhile, and else as fast as it can.
    fn arrivals(&mut self, count: usize) -> impl Iterator<Item = Duration> + use<> {
        let now = self.began.elapsed();
        let since = std::mem::replace(&mut self.looked, now);
        let share = (now - since) / count.max(1) as u32;
        let (from, distance) = match share > self.receiver.character() {
            true => (since, share),
            false => (now, Duration::ZERO),
        };
        (1..=count as u32).map(move |index| from + distance * index)
    }

    /// A character from the host that has come at this time.
    fn take(&mut self, character: u8, at: Duration, peer: &mut dyn MonitorModel) {
        self.heard += 1;
        if self.happens(self.faults.loses) || !self.receiver.arrive(at) {
            return;
        }
        let mut heard = character;
        if self.happens(self.faults.changes) {
            heard ^= 1 << (self.random.next_u32() % 7);
        }
        let mut out = Vec::new();
        peer.receive(
            if self.line.speed_matches() { heard } else { corrupt_by_baud_mismatch(heard) },
            &mut out,
        );
        let begins = self.receiver.work(peer.processing_time(), out.len());
        self.out(&out, begins);
    }

    /// Whether something that happens to one of so many characters happens to this one.
    fn happens(&mut self, one_of: Option<u32>) -> bool {
        let Some(count) = one_of.filter(|_| self.may_happen()) else {
            return false;
        };
        let now = self.random.next_u32().is_multiple_of(count.max(1));
        self.happened += u32::from(now);
        now
    }

    fn may_happen(&self) -> bool {
        self.heard > self.faults.not_before && self.happened < self.faults.at_most
    }

    /// Begins to say something, as fast as the line carries it.
    fn out(&mut self, words: &[u8], begins: Duration) {
        let dead = self.faults.dies_after.is_some_and(|count| self.heard >= count);
        if self.faults.silent || self.faults.noise || dead {
            return;
        }
        for word in words {
            self.said = self.said.max(begins) + self.receiver.character();
            self.words.push_back((self.said, *word));
        }
    }

    /// Lets go what has passed the line by now.
    fn transmit(&mut self) {
        let now = self.began.elapsed();
        let garbled = !self.line.speed_matches();
        let count = self.words.partition_point(|(at, _)| *at <= now);
        for (_, word) in self.words.drain(..count) {
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
