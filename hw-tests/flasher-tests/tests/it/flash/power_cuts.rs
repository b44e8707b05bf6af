//! Power cuts at hundreds of moments of an update: the board always boots its monitor, never starts
//! half a program, and the update can always be resumed.

use std::collections::BTreeMap;

use board_simulator::SECTOR_BYTES;
use firmware_wire::flash_program;
use firmware_wire::{Request, Role};
use rcflash_link::Link;
use rcflash_link::flash::{self, FlashImage};
use rcflash_link::loader::identify;

use crate::flash::line::{BoardNearby, START, programmed, spec};

/// The number of cuts.
const CUTS: usize = 250;
/// More T-states than the monitor waits for the host before it starts a program.
const GRACE: u64 = 12_000_000;

/// A program that identifies itself by `mark`: it loads it into A and halts. It starts and ends in
/// different sectors, and its header requests a start after reset.
fn program(mark: u8) -> FlashImage {
    let mut bytes = vec![0xFF; SECTOR_BYTES + 300];
    bytes[..4].copy_from_slice(&[0x3E, mark, 0xF3, 0x76]); // MVI A,mark; DI; HLT
    for (at, byte) in
        bytes.iter_mut().enumerate().skip(4).filter(|(at, _)| at % SECTOR_BYTES < 1000)
    {
        *byte = (at as u8).wrapping_mul(mark);
    }
    FlashImage::program(&bytes, flash_program::PROGRAM_ADDRESS, true)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn update(link: &mut Link, content: &FlashImage) {
    let monitor =
        rcflash_link::loader::enter_monitor(link).unwrap_or_else(|error| panic!("{error}"));
    let chip = flash::chip(link, &monitor).unwrap_or_else(|error| panic!("{error}"));
    let sectors = flash::changed_sectors(link, &chip, content, false, |_| {});
    let sectors = sectors.unwrap_or_else(|error| panic!("{error}"));
    flash::write(link, &sectors, |_| {}).unwrap_or_else(|error| panic!("{error}"));
}

/// A board with the old program in flash, at the end of its update; T-states at which the update
/// began and ended.
fn updated(note: impl FnOnce(&BoardNearby)) -> (BoardNearby, u64, u64) {
    let near = BoardNearby::new(spec(), programmed());
    update(&mut near.link(), &program(3));
    note(&near);
    let began = near.clock();
    update(&mut near.link(), &program(5));
    let ended = near.clock();
    (near, began, ended)
}

/// Pseudo-random moments, the same in each run: a 64-bit linear congruential generator (Knuth,
/// MMIX).
fn moments(began: u64, ended: u64) -> Vec<u64> {
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        began + (state >> 16) % (ended - began)
    };
    let mut all: Vec<u64> = (0..CUTS).map(|_| next()).collect();
    all.sort_unstable();
    all
}

/// The outcome of a board after power is restored.
#[derive(Debug, PartialEq, Eq)]
enum CutOutcome {
    /// The monitor waits for the host.
    Monitor,
    /// A program runs, the one with this mark.
    Running(u8),
}

fn left_alone(cells: &[u8]) -> CutOutcome {
    let near = BoardNearby::new(spec(), spec().programmed(cells));
    near.world().board.run_for(GRACE);
    let registers = near.world().board.registers();
    if usize::from(registers.pc) < SECTOR_BYTES {
        CutOutcome::Monitor
    } else {
        CutOutcome::Running((registers.af >> 8) as u8)
    }
}

/// Checks the invariants of the content that a cut left.
fn check(cells: &[u8], before: &[u8], after: &[u8], at: u64) {
    assert_eq!(
        cells[..SECTOR_BYTES],
        before[..SECTOR_BYTES],
        "the boot sector after {at} T-states"
    );
    let whole = |all: &[u8]| cells[SECTOR_BYTES..] == all[SECTOR_BYTES..];
    match left_alone(cells) {
        CutOutcome::Running(3) => {
            assert!(whole(before), "the old program runs after {at} T-states")
        }
        CutOutcome::Running(5) => assert!(whole(after), "the new program runs after {at} T-states"),
        left => assert_eq!(left, CutOutcome::Monitor, "after {at} T-states"),
    }
    let near = BoardNearby::new(spec(), spec().programmed(cells));
    let mut link = near.link();
    let monitor = identify(&mut link).unwrap_or_else(|error| panic!("after {at}: {error}"));
    assert_eq!(monitor.role, Role::Monitor);
    update(&mut link, &program(5));
    assert_eq!(near.cells(START), after, "the update resumes after {at} T-states");
    let world = near.world();
    let chip = world.board.bus().chip().as_sst().expect("a flash chip");
    assert_eq!((chip.unerased(), chip.ignored()), (0, 0));
}

#[test]
fn after_a_power_cut_at_any_moment_the_monitor_boots_and_the_update_resumes() {
    let (_, began, ended) = updated(|_| {});
    let at = moments(began, ended);
    let mut before = Vec::new();
    let (near, ..) = updated(|near| {
        before = near.cells(START);
        near.note_cuts(at.clone());
    });
    let after = near.cells(START);
    let left = near.take_left();
    assert_eq!(left.len(), CUTS);
    let damaged = left.iter().filter(|cells| **cells != before && **cells != after).count();
    assert!(damaged > CUTS / 4, "only {damaged} cuts hit the chip at work");
    // Cuts that leave the same bytes have the same outcome.
    let distinct: BTreeMap<_, _> = left.iter().zip(&at).collect();
    let distinct: Vec<_> = distinct.into_iter().collect();
    println!("{CUTS} cuts, {damaged} of them at work, {} different outcomes", distinct.len());
    std::thread::scope(|scope| {
        for part in distinct.chunks(distinct.len().div_ceil(2)) {
            let before = &before;
            let after = &after;
            scope.spawn(move || {
                part.iter().for_each(|(cells, at)| check(cells, before, after, **at))
            });
        }
    });
}

#[test]
fn a_requested_program_runs_until_the_host_returns() {
    let (near, ..) = updated(|_| {});
    assert_eq!(left_alone(&near.cells(START)), CutOutcome::Running(5));
    let (mut link, _) = near.monitor();
    assert!(link.request("resetting", &Request::Reset, std::time::Duration::ZERO).is_ok());
}
