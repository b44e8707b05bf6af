//! Monitors that say anything: every conversation ends.

#[path = "../../link/tests/link/babbler.rs"]
mod babbler;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rcflash_monitors::{Form, Note, Pace, Sender, Stage, Talk, Watch, receive, recognise};

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
