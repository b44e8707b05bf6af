//! A line of the program that is always corrupted: the message contains the line as sent and as
//! received.

use std::time::Duration;

use monitor_standins::{Memory, MonitorModel, MonitorOptions, ReceiverSpec, Romwbw, Scm};
use tdlasm::image::{Image, ImageRun};

use super::virtual_bench::VirtualBench;

/// Prefix of the third line of the program: 8 bytes for 9020h.
const THIRD: &[u8] = b":08902000";

/// A monitor that always receives a corrupted digit after a certain prefix.
struct CorruptingMonitor {
    peer: Box<dyn MonitorModel>,
    /// The part of the prefix that was just received.
    passed: usize,
}

impl MonitorModel for CorruptingMonitor {
    fn receive(&mut self, character: u8, reply: &mut Vec<u8>) {
        let received = if self.passed == THIRD.len() { b'7' } else { character };
        self.passed = match THIRD.get(self.passed) {
            Some(next) if *next == character => self.passed + 1,
            _ => usize::from(character == THIRD[0]),
        };
        self.peer.receive(received, reply);
    }

    fn idle(&mut self, since: Duration, reply: &mut Vec<u8>) -> bool {
        self.peer.idle(since, reply)
    }

    fn receiver_spec(&self) -> ReceiverSpec {
        self.peer.receiver_spec()
    }

    fn processing_time(&self) -> Duration {
        self.peer.processing_time()
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        self.peer.memory()
    }
}

/// Writes 40 bytes, which are three lines, the third of them corrupted.
#[track_caller]
fn is_named(via: &str, peer: Box<dyn MonitorModel>, received: &str) {
    let bytes = (0x10..0x38).collect();
    let image = Image::new([ImageRun { address: 0x9000, bytes }]);
    let bench = VirtualBench::with(
        Box::new(CorruptingMonitor { peer, passed: 0 }),
        MonitorOptions::default(),
        image,
    );
    // The line's 8, 90h, 20h and its bytes, 30h to 37h, add up to 254h; to 300h ACh is missing.
    let third = "rejects line 3 (:089020003031323334353637AC) even with 10 ms after each character";
    bench.write(via).assert_ends(
        3,
        &["at full speed, ", "continuing ", third, received, "check cable, speed and flow control"],
    );
}

#[test]
fn the_small_computer_monitor_reports_a_file_error() {
    is_named("scm", Box::<Scm>::default(), "File error");
}

#[test]
fn romwbw_reports_a_checksum_error() {
    is_named("romwbw", Box::new(Romwbw::in_monitor()), "Checksum Error");
}
