//! Speed of the simulated board: `cargo bench -p hil-harness --bench board`.
//!
//! `emulation` counts T-states as items, so that items per second are emulated Hz; `positions`
//! counts positions.

use board_simulator::board_spec;
use board_simulator::{BoardModel, QueueLine};
use divan::Bencher;
use divan::counter::ItemsCount;
use firmware::profile::BoardProfile;
use hil_harness::live::BoardConfig;
use sargon_corpus::{CORPUS_SEED, generate};
use sargon_suite::SargonBoard;

fn main() {
    divan::main();
}

/// T-states in one sample.
const SAMPLE: u64 = 10_000_000;

fn classic() -> BoardProfile {
    BoardProfile::named("rc2014-classic").expect("it ships")
}

/// A loop of loads, arithmetic, stack and jumps: LD HL,8000h; loop: LD A,(HL); ADD A,L; LD (HL),A;
/// INC HL; RES 4,H; SET 7,H; PUSH HL; POP DE; DJNZ loop; JR loop.
const LOOP: &[u8] = &[
    0x31, 0x00, 0xF0, 0x21, 0x00, 0x80, 0x7E, 0x85, 0x77, 0x23, 0xCB, 0xA4, 0xCB, 0xFC, 0xE5, 0xD1,
    0x10, 0xF4, 0x18, 0xF2,
];

#[divan::bench]
fn emulation(bencher: Bencher) {
    let mut board = BoardModel::new(board_spec(&classic()), LOOP, QueueLine::default());
    bencher.counter(ItemsCount::new(SAMPLE)).bench_local(|| board.run_for(SAMPLE));
}

#[divan::bench]
fn positions(bencher: Bencher) {
    let mut live = SargonBoard::prepare(&BoardConfig::simulated(classic()).into())
        .unwrap_or_else(|error| panic!("{error}"));
    let positions = generate(CORPUS_SEED, 50);
    bencher.counter(ItemsCount::new(positions.len())).bench_local(|| {
        for position in &positions {
            live.request_position(position).unwrap_or_else(|error| panic!("{error}"));
        }
    });
}
