//! Lines on which anything may be received: every session ends, and noise is no answer.

#[path = "../../rcflash-link/tests/it/babbler.rs"]
mod babbler;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rcflash_monitors::{
    Form, Note, Pace, Sender, Stage, Talk, Watch, Who, probe, receive, recognise,
};

use rcflash_transport::Transport;

use babbler::Babbler;

proptest! {
    #[test]
    fn xmodem_ends_whatever_comes(heard in prop::collection::vec(any::<u8>(), 0..2000)) {
        let line = || Box::new(Babbler { heard: heard.clone().into(), now: Instant::now() });
        let talk = || Talk::new(line(), 1_000_000_000, Arc::new(AtomicBool::new(false)));
        let patience = Duration::from_millis(1);
        if let Ok(file) = receive(&mut talk(), Form::Crc, patience, |_| {}) {
            prop_assert!(file.len().is_multiple_of(128) && file.len() <= heard.len());
        }
        let sender =
            Sender { talk: &mut talk(), watch: &mut Nobody, patience, pace: Pace::FULL }.send(&[7; 300]);
        if let Ok(sent) = sender {
            prop_assert_eq!(sent.blocks, 3);
        }
    }

    #[test]
    fn anything_may_be_said_in_place_of_a_prompt(heard in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = recognise(&heard);
    }
}

struct Nobody;

impl Watch for Nobody {
    fn progress(&mut self, _stage: Stage, _done: usize, _of: usize) {}
    fn note(&mut self, _note: Note) {}
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
    let mut talk = Talk::new(Box::new(line), 115_200, Arc::new(AtomicBool::new(false)));
    let found = probe(&mut talk, &[9600]).expect("the line works");
    assert!(!matches!(found.who, Who::Known(..)), "{found:?}");
}
