//! Runs a monitor emulator in a thread, behind the path of a serial device.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rcflash_transport::time::{Duration, Instant};

use crate::engine::MonitorEngine;
use crate::{MonitorModel, MonitorOptions};
use board_simulator::{PtyLine, SerialLine};

const IDLE_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Poll interval while a guest program runs or output is pending.
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(1);

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
    pub fn start(peer: Box<dyn MonitorModel>, options: MonitorOptions) -> io::Result<Self> {
        let line = PtyLine::open(options.baud)?.with_packets(options.packets);
        let path = line.path().to_owned();
        let engine = MonitorEngine::new(&*peer, &options);
        let stop = AtomicBool::new(false);
        let lost = AtomicU64::new(0);
        let shared = Arc::new(Shared { stop, lost, peer: Mutex::new(peer) });
        let seen = Arc::clone(&shared);
        let mut server = Server { line, engine, began: Instant::now(), last_poll: Duration::ZERO };
        let run = move || server.serve(&seen);
        let thread = std::thread::Builder::new().name("monitor emulator".into()).spawn(run)?;
        Ok(Self { shared, thread: Some(thread), path })
    }

    /// Returns the path of the device to open.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of characters that the receiver has lost.
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Acquire)
    }

    /// Returns `count` bytes of memory; empty if the emulator has no memory.
    pub fn memory(&self, from: u16, count: u16) -> Vec<u8> {
        let mut peer = self.shared.peer();
        let memory = peer.memory();
        memory.map_or(Vec::new(), |memory| (0..count).map(|i| memory.get(from + i)).collect())
    }

    /// Returns the lines of the stored BASIC program.
    pub fn lines(&self) -> Vec<String> {
        self.shared.peer().lines()
    }

    /// Returns the content of a file on the emulated disk.
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

struct Server {
    line: PtyLine,
    engine: MonitorEngine,
    began: Instant,
    /// The time of the last poll.
    last_poll: Duration,
}

impl Server {
    fn serve(&mut self, shared: &Shared) {
        let mut running = false;
        while !shared.stop.load(Ordering::Acquire) {
            let awake = running || self.engine.is_sending();
            self.line.flush(Some(if awake { BUSY_POLL_INTERVAL } else { IDLE_POLL_INTERVAL }));
            let received: Vec<u8> = std::iter::from_fn(|| self.line.receive()).collect();
            let times = self.arrival_times(received.len());
            let speed_matches = self.line.speed_matches();
            let mut peer = shared.peer();
            for (character, at) in received.into_iter().zip(times) {
                self.engine.receive(character, at, speed_matches, &mut **peer);
            }
            running = self.engine.idle(self.began.elapsed(), &mut **peer);
            drop(peer);
            self.transmit();
            shared.lost.store(self.engine.receiver().lost(), Ordering::Release);
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
        let (from, distance) = match share > self.engine.receiver().character_time() {
            true => (since, share),
            false => (now, Duration::ZERO),
        };
        (1..=count as u32).map(move |index| from + distance * index)
    }

    fn transmit(&mut self) {
        let output = self.engine.take_output(self.began.elapsed(), self.line.speed_matches());
        for word in self.engine.noise().into_iter().chain(output) {
            self.line.transmit(word);
        }
        self.line.flush(None);
    }
}
