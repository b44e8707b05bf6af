//! AT28C256: pages, software data protection, status and times of the data sheet.

use board_simulator::{At28c256, PAGE_BYTES};

/// One T-state a microsecond.
const CLOCK: u64 = 1_000_000;
const PAUSE: u64 = 150;
const WRITE: u64 = 10_000;
const ERASE: u64 = 20_000;

const PROTECT: &[(usize, u8)] = &[(0x5555, 0xAA), (0x2AAA, 0x55), (0x5555, 0xA0)];
const UNPROTECT: &[(usize, u8)] = &[
    (0x5555, 0xAA),
    (0x2AAA, 0x55),
    (0x5555, 0x80),
    (0x5555, 0xAA),
    (0x2AAA, 0x55),
    (0x5555, 0x20),
];

fn chip() -> At28c256 {
    At28c256::new(CLOCK)
}

/// Writes one byte after the other, a microsecond apart, and lets the chip finish.
fn send(chip: &mut At28c256, cycles: &[(usize, u8)], now: &mut u64) {
    for &(address, value) in cycles {
        chip.write(address, value, *now);
        *now += 1;
    }
    *now += PAUSE + WRITE;
}

fn page(first: usize, value: u8) -> Vec<(usize, u8)> {
    (first..first + PAGE_BYTES).map(|address| (address, value)).collect()
}

#[test]
fn a_page_of_64_bytes_is_written_in_one_cycle() {
    let mut chip = chip();
    let mut now = 0;
    send(&mut chip, &page(0x1240, 0x11), &mut now);
    assert_eq!(chip.cells(now)[0x1240..0x1280], [0x11; PAGE_BYTES]);
    assert_eq!((chip.cells(now)[0x123F], chip.cells(now)[0x1280]), (0xFF, 0xFF));
    assert_eq!(chip.wear(now)[0x1240 / PAGE_BYTES], 1);
}

#[test]
fn old_bytes_need_no_erasing() {
    let mut chip = chip();
    let mut now = 0;
    send(&mut chip, &[(5, 0x00)], &mut now);
    send(&mut chip, &[(5, 0xA5)], &mut now);
    assert_eq!(chip.read(5, now), 0xA5);
}

#[test]
fn writing_begins_150_microseconds_after_the_last_byte() {
    let mut chip = chip();
    chip.write(0, 1, 0);
    chip.write(1, 2, PAUSE);
    chip.write(2, 3, 2 * PAUSE + 1);
    assert_eq!(chip.ignored(), 1, "the third came too late for the page");
    let done = 2 * PAUSE + WRITE;
    assert_eq!(chip.cells(done)[..3], [1, 2, 0xFF]);
}

#[test]
fn bytes_for_another_page_land_in_the_first_ones() {
    let mut chip = chip();
    let mut now = 0;
    send(&mut chip, &[(0x3F, 1), (0x40, 2)], &mut now);
    let cells = chip.cells(now);
    assert_eq!((cells[0x3F], cells[0x40], cells[0]), (1, 0xFF, 2));
}

#[test]
fn bit_7_is_the_complement_of_the_last_byte_and_bit_6_toggles_until_the_end() {
    for (value, bit7) in [(0x80, 0), (0x7F, 0x80)] {
        let mut chip = chip();
        chip.write(9, value, 0);
        for now in [1, PAUSE + 1, PAUSE + WRITE - 1] {
            let first = chip.read(9, now);
            let second = chip.read(9, now);
            assert_eq!((first & 0x80, (first ^ second) & 0x40), (bit7, 0x40), "at {now}");
        }
        assert_eq!(chip.read(9, PAUSE + WRITE), value);
    }
}

#[test]
fn protection_is_turned_on_kept_and_turned_off() {
    let mut chip = chip();
    let mut now = 0;
    send(&mut chip, &[PROTECT, &[(0x100, 1)]].concat(), &mut now);
    assert!(chip.is_protected(now));
    assert_eq!(chip.cells(now)[0x100], 1, "data behind the command is written");
    send(&mut chip, &[(0x100, 2)], &mut now);
    chip.power_cut(now);
    send(&mut chip, &[(0x101, 2)], &mut now);
    assert_eq!(chip.cells(now)[0x100..0x102], [1, 0xFF], "nothing without the command");
    send(&mut chip, &[PROTECT, &[(0x101, 3)]].concat(), &mut now);
    assert_eq!(chip.cells(now)[0x101], 3);
    send(&mut chip, UNPROTECT, &mut now);
    send(&mut chip, &[(0x102, 4)], &mut now);
    assert_eq!((chip.is_protected(now), chip.cells(now)[0x102]), (false, 4));
    let commands = chip.cells(now)[0x5555] & chip.cells(now)[0x2AAA];
    assert_eq!(commands, 0xFF, "the bytes of commands are not stored");
}

#[test]
fn a_refused_write_still_takes_its_time() {
    let mut chip = chip();
    let mut now = 0;
    chip.set_protected(true);
    chip.write(0, 0, now);
    now += PAUSE + 1;
    assert_ne!(chip.read(0, now), chip.read(0, now), "polling");
    assert_eq!(chip.read(0, now + WRITE), 0xFF);
}

#[test]
fn the_six_byte_command_erases_the_chip() {
    let mut chip = chip();
    let mut now = 0;
    send(&mut chip, &page(0, 0), &mut now);
    let mut command = UNPROTECT.to_vec();
    command[5].1 = 0x10;
    send(&mut chip, &command, &mut now);
    assert_ne!(chip.read(0, now) & 0x40, chip.read(0, now) & 0x40, "longer than a page");
    now += ERASE - WRITE;
    assert!(chip.cells(now).iter().all(|cell| *cell == 0xFF));
}

#[test]
fn power_cut_loses_a_load_and_leaves_other_pages_intact() {
    let mut chip = chip();
    chip.load(0, &[0; 2 * PAGE_BYTES]);
    chip.write(0, 0xFF, 0);
    chip.power_cut(PAUSE);
    assert_eq!(chip.cells(0)[..2 * PAGE_BYTES], [0; 2 * PAGE_BYTES]);
    for (address, value) in page(0, 0xFF) {
        chip.write(address, value, 0);
    }
    chip.power_cut(PAUSE + WRITE / 2);
    let cells = chip.cells(0);
    assert!(cells[..PAGE_BYTES].iter().any(|cell| *cell != 0 && *cell != 0xFF), "{cells:02X?}");
    assert_eq!(cells[PAGE_BYTES..2 * PAGE_BYTES], [0; PAGE_BYTES]);
}
