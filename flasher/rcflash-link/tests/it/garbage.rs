//! Lines that lose, corrupt and insert bytes anywhere: loaded memory is correct or reported as
//! incorrect, and every wait ends.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use firmware_wire::Frame;
use proptest::prelude::*;
use rcflash_link::Link;
use rcflash_link::inspect::{self, AddressSpace};
use rcflash_link::loader::{LoadError, UploadSummary, enter_monitor, identify, upload_missing};
use rcflash_transport::Transport;

use crate::noisy_peer::NoisyPeer;
use crate::peer::Peer;

const ADDRESS: u16 = 0x8000;
/// Time after which every request has failed: three attempts, for a CRC of as many bytes as the
/// tests load.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The fault that happens to a byte.
#[derive(Debug, Clone, Copy)]
enum Mishap {
    Lost,
    Changed(u8),
    Preceded(u8),
}

fn mishap() -> impl Strategy<Value = (usize, Mishap)> {
    let kind = prop_oneof![
        Just(Mishap::Lost),
        (1..=255u8).prop_map(Mishap::Changed),
        any::<u8>().prop_map(Mishap::Preceded),
    ];
    (0..400_usize, kind)
}

/// A line to a board with a sequence of faults, each after a number of bytes in either direction.
#[derive(Clone)]
struct Rough {
    peer: Arc<Mutex<Peer>>,
    mishaps: VecDeque<(usize, Mishap)>,
}

impl Rough {
    fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut passed = Vec::new();
        for byte in bytes {
            match self.mishaps.front_mut() {
                Some((0, mishap)) => {
                    match *mishap {
                        Mishap::Lost => {}
                        Mishap::Changed(bits) => passed.push(byte ^ bits),
                        Mishap::Preceded(other) => passed.extend([other, *byte]),
                    }
                    self.mishaps.pop_front();
                }
                Some((left, _)) => {
                    *left -= 1;
                    passed.push(*byte);
                }
                None => passed.push(*byte),
            }
        }
        passed
    }
}

impl Transport for Rough {
    fn name(&self) -> &str {
        "a rough line"
    }

    fn now(&self) -> Instant {
        self.peer.lock().expect("not poisoned").now
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let mut heard = [0; 100];
        let count = self.peer.lock().expect("not poisoned").read(&mut heard, timeout)?;
        let passed = self.pass(&heard[..count]);
        buffer[..passed.len()].copy_from_slice(&passed);
        Ok(passed.len())
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        let passed = self.pass(bytes);
        self.peer.lock().expect("not poisoned").write(&passed, deadline)
    }
}

/// Loads bytes over a faulty line into memory that has some of them already; returns the result and
/// the memory.
fn load(
    mishaps: &[(usize, Mishap)],
    bytes: &[u8],
    there: usize,
) -> (Result<UploadSummary, LoadError>, Vec<u8>) {
    let mut peer = Peer::new(&[]);
    peer.memory[usize::from(ADDRESS)..][..there].copy_from_slice(&bytes[..there]);
    let peer = Arc::new(Mutex::new(peer));
    let line = Rough { peer: Arc::clone(&peer), mishaps: mishaps.iter().copied().collect() };
    let mut link = Link::new(Box::new(line), 115_200);
    let loaded = enter_monitor(&mut link)
        .and_then(|monitor| upload_missing(&mut link, &monitor, ADDRESS, bytes, |_| {}));
    let memory = &peer.lock().expect("not poisoned").memory;
    (loaded, memory[usize::from(ADDRESS)..][..bytes.len()].to_vec())
}

proptest! {
    #[test]
    fn what_is_said_to_be_loaded_is_there(
        mishaps in prop::collection::vec(mishap(), 0..40),
        bytes in prop::collection::vec(any::<u8>(), 1..3000),
        there in any::<prop::sample::Index>(),
    ) {
        let (loaded, memory) = load(&mishaps, &bytes, there.index(bytes.len()));
        prop_assert!(loaded.is_err() || memory == bytes);
    }

    #[test]
    fn two_mishaps_are_always_survived_and_what_is_there_is_not_sent(
        mishaps in prop::collection::vec(mishap(), 0..=2),
        bytes in prop::collection::vec(any::<u8>(), 1..3000),
    ) {
        let (loaded, memory) = load(&mishaps, &bytes, bytes.len());
        let updated = loaded.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!((updated.sent, memory), (0, bytes));
    }

    #[test]
    fn who_is_no_board_is_given_up_in_time(heard in babble()) {
        let line = NoisyPeer { heard: heard.into(), now: Instant::now() };
        let mut link = Link::new(Box::new(line), 115_200);
        let began = link.now();
        let _ = identify(&mut link); // it may say by chance who it is
        let _ = enter_monitor(&mut link);
        if let Ok(bytes) = inspect::read(&mut link, AddressSpace::Memory, 0x8000, 500, |_| {}) {
            prop_assert_eq!(bytes.len(), 500);
        }
        prop_assert!(link.now() - began < 4 * TIMEOUT);
    }
}

/// Random bytes, some of them valid frames with meaningless content.
fn babble() -> impl Strategy<Value = Vec<u8>> {
    let payload = || prop::collection::vec(any::<u8>(), 0..240);
    let frame = (any::<u8>(), any::<u8>(), payload())
        .prop_map(|(seq, kind, payload)| Frame::new(seq, kind, payload).expect("it fits").encode());
    let reply = (1..20u8, prop_oneof![Just(0x81u8), Just(0x92), Just(0xFF)], payload())
        .prop_map(|(seq, kind, payload)| Frame::new(seq, kind, payload).expect("it fits").encode());
    let noise = prop::collection::vec(any::<u8>(), 0..300);
    prop::collection::vec(prop_oneof![frame, reply, noise], 0..20).prop_map(|parts| parts.concat())
}
