//! XMODEM over lines that lose, change and double characters, chosen by a seed: what arrives is
//! right, or nothing does.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use monitor_standins::{TransferEnd, XmodemReceiver, XmodemSender as SimulatedXmodemSender};
use rcflash_monitors::{
    CheckMode, LoadEvent, LoadObserver, LoadStage, MonitorSession, Pace, XmodemSender, receive_file,
};
use rcflash_transport::Transport;

/// A speed at which the line's own time is nothing.
const BAUD: u32 = 1_000_000_000;
/// Longer than the retry timeout of the board.
const PATIENCE: Duration = Duration::from_secs(1);

/// The board's end.
enum End {
    Receiver(XmodemReceiver),
    Sender(SimulatedXmodemSender),
}

/// A line on which time passes only when the host waits, and then at once.
struct Line {
    end: End,
    outcome: Option<TransferEnd>,
    to_host: VecDeque<u8>,
    /// The mean numbers of characters per lost one, and per changed one; 0 for none.
    faults: (u32, u32),
    random: ChaCha8Rng,
    /// The mean number of characters per one that arrives twice; 0 for none.
    doubled: u32,
    /// The time nothing was sent to the board.
    quiet: Duration,
}

impl Line {
    fn new(end: End, faults: (u32, u32), seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let (to_host, quiet) = (VecDeque::new(), Duration::ZERO);
        Self { end, outcome: None, to_host, faults, random, doubled: 0, quiet }
    }

    fn happens(&mut self, one_of: u32) -> bool {
        one_of > 0 && self.random.next_u32().is_multiple_of(one_of)
    }

    /// Returns the character as it arrives; `None` if it is lost.
    fn pass(&mut self, character: u8) -> Option<u8> {
        if self.happens(self.faults.0) {
            return None;
        }
        let changed = self.happens(self.faults.1);
        Some(if changed { self.random.next_u32() as u8 } else { character })
    }

    fn receive(&mut self, character: u8) {
        let mut reply = Vec::new();
        let outcome = match &mut self.end {
            _ if self.outcome.is_some() => None,
            End::Receiver(receiver) => receiver.receive(character, &mut reply),
            End::Sender(sender) => sender.receive(character, &mut reply),
        };
        self.send(&reply);
        if outcome.is_some() {
            self.outcome = outcome;
            self.send(b"\r\nA>");
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let passed = self.pass(*byte);
            let copies = 1 + usize::from(self.happens(self.doubled));
            (0..copies).for_each(|_| self.to_host.extend(passed));
        }
    }

    /// The host has waited for nothing.
    fn wait(&mut self, time: Duration) {
        self.quiet += time;
        if let (End::Receiver(receiver), None) = (&mut self.end, &self.outcome) {
            let mut reply = Vec::new();
            receiver.idle(self.quiet, &mut reply);
            self.send(&reply);
        }
    }
}

/// The host's view of the line.
struct Shared(Arc<Mutex<Line>>);

impl Shared {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().expect("no test panics in between")
    }
}

impl Transport for Shared {
    fn name(&self) -> &str {
        "lossy line"
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let mut line = self.line();
        if line.to_host.is_empty() {
            line.wait(timeout);
        }
        let count = line.to_host.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(line.to_host.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        let mut line = self.line();
        line.quiet = Duration::ZERO;
        for byte in bytes {
            if let Some(passed) = line.pass(*byte) {
                line.receive(passed);
                let doubled = line.doubled;
                if line.happens(doubled) {
                    line.receive(passed);
                }
            }
        }
        Ok(())
    }
}

struct Nobody;

impl LoadObserver for Nobody {
    fn on_progress(&mut self, _stage: LoadStage, _done: usize, _of: usize) {}
    fn on_event(&mut self, _note: LoadEvent) {}
}

fn talk(line: &Arc<Mutex<Line>>) -> MonitorSession {
    let stop = Arc::new(AtomicBool::new(false));
    MonitorSession::new(Box::new(Shared(Arc::clone(line))), BAUD, stop)
}

/// Two thousand bytes that no two seeds share, filled up as the protocol does it.
fn file(seed: u64) -> (Vec<u8>, Vec<u8>) {
    let mut random = ChaCha8Rng::seed_from_u64(!seed);
    let mut bytes = vec![0; 2000];
    random.fill_bytes(&mut bytes);
    let mut filled = bytes.clone();
    filled.resize(2048, 0x1A);
    (bytes, filled)
}

/// Sends a file over such a line; whether the sender thinks that it arrived, how, and what did
/// arrive.
fn send(
    seed: u64,
    by_crc: bool,
    faults: (u32, u32),
) -> (Option<(CheckMode, usize)>, Option<TransferEnd>) {
    let end = End::Receiver(XmodemReceiver::new(by_crc));
    let line = Arc::new(Mutex::new(Line::new(end, faults, seed)));
    let mut talk = talk(&line);
    let mut watch = Nobody;
    // A pace that is not on the ladder has no slower one, which would take real time.
    let pace = Pace { name: "none", ..Pace::FULL };
    let patience = PATIENCE;
    let sender = &mut XmodemSender {
        session: &mut talk,
        observer: &mut watch,
        reply_timeout: patience,
        pace,
    };
    let sent = sender.send(&file(seed).0).ok().map(|sent| (sent.check_mode, sent.resent));
    let outcome = line.lock().expect("no test panics in between").outcome.take();
    (sent, outcome)
}

#[test]
fn data_that_the_sender_counts_as_received_is_there() {
    let mut arrived = 0;
    let mut repeated = 0;
    for seed in 0..150 {
        let one_of = 100 + 20 * seed as u32;
        for (by_crc, faults) in [(true, (one_of, one_of)), (false, (one_of, 0))] {
            let (sent, outcome) = send(seed, by_crc, faults);
            if let Some((form, again)) = sent {
                assert_eq!(outcome, Some(TransferEnd::Done(file(seed).1)), "seed {seed}");
                // A call that is lost or changed may turn one form into the other only by the
                // receiver's will.
                assert_eq!(
                    form,
                    if by_crc { CheckMode::Crc } else { CheckMode::Checksum },
                    "seed {seed}"
                );
                (arrived, repeated) = (arrived + 1, repeated + again);
            }
        }
    }
    // The lines go from hopeless to nearly good: the test would show nothing if all or none got
    // through.
    assert!(
        (150..300).contains(&arrived) && repeated > 300,
        "{arrived} arrived, {repeated} repeated"
    );
}

#[test]
fn over_a_good_line_no_block_is_resent() {
    for by_crc in [true, false] {
        let form = if by_crc { CheckMode::Crc } else { CheckMode::Checksum };
        let (sent, outcome) = send(1, by_crc, (0, 0));
        assert_eq!((sent, outcome), (Some((form, 0)), Some(TransferEnd::Done(file(1).1))));
    }
}

#[test]
fn what_is_read_back_is_what_was_sent() {
    let mut arrived = 0;
    for seed in 0..60 {
        let one_of = 200 + 40 * seed as u32;
        let end = End::Sender(SimulatedXmodemSender::new(file(seed).1));
        let line = Line { doubled: one_of, ..Line::new(end, (one_of, one_of), seed) };
        let line = Arc::new(Mutex::new(line));
        if let Ok(back) = receive_file(&mut talk(&line), CheckMode::Crc, PATIENCE, |_| {}) {
            assert_eq!(back, file(seed).1, "seed {seed}");
            arrived += 1;
        }
    }
    assert!(arrived > 30, "{arrived}");
}
