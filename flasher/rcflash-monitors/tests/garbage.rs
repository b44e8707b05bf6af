//! Sessions with arbitrary input: each of them ends, noise is not taken for a monitor, and a late
//! reply is taken.

#[path = "../../rcflash-link/tests/it/noisy_peer.rs"]
mod noisy_peer;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rcflash_monitors::{
    CheckMode, LoadEvent, LoadObserver, LoadStage, MonitorSession, Pace, Peer, ProbedPeer,
    XmodemSender, identify_prompt, probe, receive_file,
};

use rcflash_transport::Transport;

use noisy_peer::NoisyPeer;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn xmodem_ends_on_any_input(input in prop::collection::vec(any::<u8>(), 0..2000)) {
        let line = || Box::new(NoisyPeer { heard: input.clone().into(), now: Instant::now() });
        let stop = || Arc::new(AtomicBool::new(false));
        let session = || MonitorSession::new(line(), 1_000_000_000, stop());
        let timeout = Duration::from_millis(1);
        if let Ok(file) = receive_file(&mut session(), CheckMode::Crc, timeout, |_| {}) {
            prop_assert!(file.len().is_multiple_of(128) && file.len() <= input.len());
        }
        let mut sender_session = session();
        let mut sender = XmodemSender {
            session: &mut sender_session,
            observer: &mut NoObserver,
            reply_timeout: timeout,
            pace: Pace::FULL,
        };
        if let Ok(summary) = sender.send(&[7; 300]) {
            prop_assert_eq!(summary.blocks, 3);
        }
    }

    #[test]
    fn any_input_may_take_the_place_of_a_prompt(
        input in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = identify_prompt(&input);
    }
}

struct NoObserver;

impl LoadObserver for NoObserver {
    fn on_progress(&mut self, _stage: LoadStage, _done: usize, _of: usize) {}
    fn on_event(&mut self, _note: LoadEvent) {}
}

/// Noise in bursts: a NAK, which is what an XMODEM receiver sends, and other bytes a little later.
struct NoiseBursts {
    now: Instant,
    /// Time of the next burst.
    next: Instant,
    count: usize,
}

impl Transport for NoiseBursts {
    fn name(&self) -> &str {
        "noise"
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if self.now + timeout < self.next {
            self.now += timeout;
            return Ok(0);
        }
        self.now = self.now.max(self.next);
        self.next = self.now + Duration::from_millis(150);
        buffer[0] = if self.count.is_multiple_of(2) { 0x15 } else { 0xA7 };
        self.count += 1;
        Ok(1)
    }

    fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        Ok(())
    }

    fn set_baud(&mut self, _baud: u32) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn noise_that_begins_as_a_receivers_call_is_not_a_receiver() {
    let now = Instant::now();
    let line = NoiseBursts { now, next: now + Duration::from_millis(50), count: 0 };
    let mut session =
        MonitorSession::new(Box::new(line), 115_200, Arc::new(AtomicBool::new(false)));
    let found = probe(&mut session, &[9600]).expect("the line works");
    assert!(!matches!(found.peer, ProbedPeer::Known(..)), "{found:?}");
}

/// A line on which a single character arrives once, and nothing else.
struct SingleByte {
    now: Instant,
    byte: Option<u8>,
}

impl Transport for SingleByte {
    fn name(&self) -> &str {
        "single byte"
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let Some(byte) = self.byte.take() else {
            self.now += timeout;
            return Ok(0);
        };
        buffer[0] = byte;
        Ok(1)
    }

    fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_request_that_is_not_repeated_is_not_a_receiver() {
    for byte in [0x15, b'C'] {
        let line = SingleByte { now: Instant::now(), byte: Some(byte) };
        let stop = Arc::new(AtomicBool::new(false));
        let mut session = MonitorSession::new(Box::new(line), 115_200, stop);
        let found = probe(&mut session, &[]).expect("the line works");
        assert!(!matches!(found.peer, ProbedPeer::Known(..)), "{found:?}");
    }
}

/// A board of this project that has just started: its banner has arrived, and its reply to IDENT
/// comes late. All else is lost.
struct StartedBoard {
    now: Instant,
    /// What arrives next, and when.
    arriving: Option<(Instant, Vec<u8>)>,
}

impl Transport for StartedBoard {
    fn name(&self) -> &str {
        "started board"
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let end = self.now + timeout;
        let Some((at, bytes)) = self.arriving.take_if(|(at, _)| *at <= end) else {
            self.now = end;
            return Ok(0);
        };
        self.now = self.now.max(at);
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        // Any frame is a reply of a program of this project.
        if bytes.first() == Some(&0) {
            self.arriving = Some((self.now + Duration::from_secs(1), bytes.to_vec()));
        }
        Ok(())
    }
}

#[test]
fn a_board_that_has_sent_its_banner_may_answer_late() {
    let now = Instant::now();
    let banner = b"\r\nSargon board monitor 1, build 12345678\r\n".to_vec();
    let line = StartedBoard { now, arriving: Some((now, banner)) };
    let mut session =
        MonitorSession::new(Box::new(line), 115_200, Arc::new(AtomicBool::new(false)));
    let found = probe(&mut session, &[]).expect("the line works");
    assert!(matches!(found.peer, ProbedPeer::Known(Peer::OwnFirmware, _)), "{found:?}");
}

/// A receiver to which some EOTs are lost, or whose reply to them is.
struct DeafToEnds {
    now: Instant,
    lost_ends: usize,
    reply: Option<u8>,
}

impl Transport for DeafToEnds {
    fn name(&self) -> &str {
        "receiver"
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let Some(reply) = self.reply.take() else {
            self.now += timeout;
            return Ok(0);
        };
        buffer[0] = reply;
        Ok(1)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        const EOT: u8 = 0x04;
        // A block is sent in pieces of 16 bytes, of which the last is shorter.
        let ends_block = bytes.len() < 16;
        match bytes {
            [EOT] if self.lost_ends > 0 => self.lost_ends -= 1,
            _ if ends_block => self.reply = Some(0x06),
            _ => {}
        }
        Ok(())
    }
}

#[test]
fn an_eot_is_repeated_ten_times_until_it_is_acknowledged() {
    for (lost_ends, arrives) in [(0, true), (1, true), (9, true), (10, false)] {
        // It has requested the first block.
        let line = DeafToEnds { now: Instant::now(), lost_ends, reply: Some(0x15) };
        let mut session =
            MonitorSession::new(Box::new(line), 115_200, Arc::new(AtomicBool::new(false)));
        let mut sender = XmodemSender {
            session: &mut session,
            observer: &mut NoObserver,
            reply_timeout: Duration::from_secs(10),
            pace: Pace::FULL,
        };
        let sent = sender.send(&[0; 128]);
        assert_eq!(sent.is_ok(), arrives, "{lost_ends}: {sent:?}");
    }
}
