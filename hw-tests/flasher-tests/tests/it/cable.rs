//! A cable between the host and a board that can be disconnected while bytes are in transit.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use board_simulator::{PtyLine, SerialLine};
use rcflash_transport::Transport;
use rcflash_transport::port::Port;

const BAUD: u32 = 115_200;
/// How long each side is polled before the other.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// The timeout for the board to receive the sent bytes.
const RECEIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// The cable: a pseudo-terminal for the host, whose bytes go to the board's.
pub(crate) struct Cable {
    path: PathBuf,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Cable {
    /// Connects host and board until the host has sent `at_most` bytes or the cable is removed.
    pub(crate) fn new(board: &Path, at_most: usize) -> Self {
        let host = PtyLine::open(BAUD).expect("a pseudo-terminal");
        let path = host.path().to_owned();
        let board = Port::open(&board.to_string_lossy(), BAUD).expect("it opens");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || carry(host, board, at_most, &stopped));
        Self { path, stop, thread }
    }

    /// The device that the host opens.
    pub(crate) fn port(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Removes the cable; returns the number of bytes that the host has sent.
    pub(crate) fn remove(self) -> usize {
        self.stop.store(true, Ordering::Release);
        self.thread.join().expect("it ends")
    }
}

/// Forwards bytes in both directions. The host's end is closed when this returns.
fn carry(mut host: PtyLine, mut board: Port, at_most: usize, stop: &AtomicBool) -> usize {
    let mut sent = 0;
    let mut received = [0; 256];
    while sent < at_most && !stop.load(Ordering::Acquire) {
        host.flush(Some(POLL_INTERVAL));
        let bytes: Vec<u8> = std::iter::from_fn(|| host.receive()).take(at_most - sent).collect();
        board.write(&bytes, Instant::now() + RECEIVE_TIMEOUT).expect("the board listens");
        sent += bytes.len();
        let count = board.read(&mut received, POLL_INTERVAL).expect("the board is there");
        received[..count].iter().for_each(|byte| host.transmit(*byte));
    }
    sent
}
