//! SST39SF010A, 020A and 040: the data sheet's command sequences, status bits and times.

use board_simulator::{SECTOR_BYTES, Sst39sf, SstModel};

/// One T-state a microsecond, so that times read as in the data sheet.
const CLOCK: u64 = 1_000_000;
const PROGRAM: u64 = 20;
const SECTOR_ERASE: u64 = 25_000;
const CHIP_ERASE: u64 = 100_000;

/// Sequences up to their last cycle.
const PROGRAM_COMMAND: &[(usize, u8)] = &[(0x5555, 0xAA), (0x2AAA, 0x55), (0x5555, 0xA0)];
const ERASE_COMMAND: &[(usize, u8)] =
    &[(0x5555, 0xAA), (0x2AAA, 0x55), (0x5555, 0x80), (0x5555, 0xAA), (0x2AAA, 0x55)];
const IDENTITY: &[(usize, u8)] = &[(0x5555, 0xAA), (0x2AAA, 0x55), (0x5555, 0x90)];

fn chip() -> Sst39sf {
    Sst39sf::new(SstModel::Sf040, CLOCK)
}

fn send(chip: &mut Sst39sf, cycles: &[(usize, u8)], now: u64) {
    for &(address, value) in cycles {
        chip.write(address, value, now);
    }
}

fn program(chip: &mut Sst39sf, address: usize, value: u8, now: &mut u64) {
    send(chip, PROGRAM_COMMAND, *now);
    chip.write(address, value, *now);
    *now += PROGRAM;
}

fn erase(chip: &mut Sst39sf, address: usize, command: u8, now: u64) {
    send(chip, ERASE_COMMAND, now);
    chip.write(address, command, now);
}

#[test]
fn sizes_and_identities_are_those_of_the_table() {
    for (model, kilobytes, device) in
        [(SstModel::Sf010a, 128, 0xB5), (SstModel::Sf020a, 256, 0xB6), (SstModel::Sf040, 512, 0xB7)]
    {
        let mut chip = Sst39sf::new(model, CLOCK);
        assert_eq!(chip.cells().len(), kilobytes * 1024);
        assert_eq!(chip.read(0, 0), 0xFF);
        send(&mut chip, IDENTITY, 0);
        assert_eq!([chip.read(0, 0), chip.read(1, 0)], [0xBF, device]);
        chip.write(0x1234, 0xF0, 0);
        assert_eq!([chip.read(0, 0), chip.read(1, 0)], [0xFF, 0xFF]);
        send(&mut chip, IDENTITY, 0);
        send(&mut chip, &[(0x5555, 0xAA), (0x2AAA, 0x55), (0x5555, 0xF0)], 0);
        assert_eq!(chip.read(0, 0), 0xFF, "the long way out");
    }
}

#[test]
fn a_byte_is_programmed_by_its_sequence_and_by_no_other() {
    let mut now = 0;
    let mut good = chip();
    program(&mut good, 0x7_1234, 0x5A, &mut now);
    assert_eq!(good.read(0x7_1234, now), 0x5A);
    for broken in 0..PROGRAM_COMMAND.len() {
        for (address, value) in [(1, 0), (0, 1)] {
            let mut cycles = PROGRAM_COMMAND.to_vec();
            cycles[broken].0 ^= address;
            cycles[broken].1 ^= value;
            let mut chip = chip();
            send(&mut chip, &cycles, 0);
            chip.write(0x7_1234, 0x5A, 0);
            assert_eq!(chip.read(0x7_1234, PROGRAM), 0xFF, "cycle {broken} changed");
        }
    }
}

#[test]
fn commands_are_decoded_from_the_low_fifteen_address_lines() {
    let mut chip = chip();
    for (address, value) in [(0x0_D555, 0xAA), (0x4_AAAA, 0x55), (0x7_5555, 0xA0)] {
        chip.write(address, value, 0);
    }
    chip.write(0x10, 0x42, 0);
    assert_eq!(chip.read(0x10, PROGRAM), 0x42);
}

#[test]
fn programming_only_lowers_bits_and_counts_attempts_to_raise_them() {
    let mut chip = chip();
    let mut now = 0;
    program(&mut chip, 7, 0x0F, &mut now);
    assert_eq!(chip.unerased(), 0);
    program(&mut chip, 7, 0x3C, &mut now);
    assert_eq!((chip.read(7, now), chip.unerased()), (0x0C, 1));
}

#[test]
fn while_busy_bit_7_is_the_complement_and_bit_6_toggles() {
    for (value, bit7) in [(0x00, 0x80), (0x80, 0x00)] {
        let mut chip = chip();
        send(&mut chip, PROGRAM_COMMAND, 0);
        chip.write(5, value, 0);
        let first = chip.read(5, PROGRAM - 1);
        let second = chip.read(5, PROGRAM - 1);
        assert_eq!((first & 0x80, second & 0x80), (bit7, bit7));
        assert_eq!((first ^ second) & 0x40, 0x40);
        assert_eq!([chip.read(5, PROGRAM), chip.read(5, PROGRAM)], [value, value]);
    }
    let mut chip = chip();
    erase(&mut chip, 0, 0x30, 0);
    let first = chip.read(9, 1);
    let second = chip.read(9, SECTOR_ERASE - 1);
    assert_eq!((first & 0x80, second & 0x80), (0, 0), "the complement of FFh");
    assert_eq!((first ^ second) & 0x40, 0x40);
    assert_eq!(chip.read(9, SECTOR_ERASE), 0xFF);
}

#[test]
fn a_sector_is_erased_whole_and_alone_and_its_wear_counted() {
    let mut chip = chip();
    let mut now = 0;
    for address in [3 * SECTOR_BYTES - 1, 3 * SECTOR_BYTES, 4 * SECTOR_BYTES - 1, 4 * SECTOR_BYTES]
    {
        program(&mut chip, address, 0, &mut now);
    }
    erase(&mut chip, 3 * SECTOR_BYTES + 0x123, 0x30, now);
    now += SECTOR_ERASE;
    let read = |address| chip.read(address, now);
    assert_eq!([read(3 * SECTOR_BYTES), read(4 * SECTOR_BYTES - 1)], [0xFF, 0xFF]);
    assert_eq!([read(3 * SECTOR_BYTES - 1), read(4 * SECTOR_BYTES)], [0, 0]);
    assert_eq!((chip.wear()[2], chip.wear()[3], chip.wear()[4]), (0, 1, 0));
}

#[test]
fn a_chip_erase_takes_everything() {
    let mut chip = chip();
    let mut now = 0;
    program(&mut chip, 0x7_FFFF, 0, &mut now);
    erase(&mut chip, 0x5555, 0x10, now);
    assert!(chip.is_busy(now + CHIP_ERASE - 1));
    assert!(!chip.is_busy(now + CHIP_ERASE));
    assert!(chip.cells().iter().all(|cell| *cell == 0xFF));
    assert!(chip.wear().iter().all(|sector| *sector == 1));
    let mut other = self::chip();
    erase(&mut other, 0x5554, 0x10, 0);
    assert!(!other.is_busy(0), "10h goes to 5555h");
}

#[test]
fn what_is_written_while_busy_is_ignored() {
    let mut chip = chip();
    erase(&mut chip, 0, 0x30, 0);
    send(&mut chip, PROGRAM_COMMAND, 1);
    chip.write(0x4_0000, 0, 1);
    chip.write(0, 0xF0, 2);
    assert_eq!((chip.read(0x4_0000, SECTOR_ERASE), chip.ignored()), (0xFF, 5));
}

#[test]
fn in_identity_mode_nothing_is_programmed_or_erased() {
    let mut chip = chip();
    let mut now = 0;
    program(&mut chip, 2, 0, &mut now);
    send(&mut chip, IDENTITY, now);
    program(&mut chip, 3, 0, &mut now);
    erase(&mut chip, 0, 0x30, now);
    assert!(!chip.is_busy(now));
    chip.write(0, 0xF0, now);
    assert_eq!([chip.read(2, now), chip.read(3, now)], [0, 0xFF]);
}

#[test]
fn power_cut_in_an_erase_leaves_some_bits_of_that_sector_alone_erased() {
    let half = |cut: u64| {
        let mut chip = chip();
        chip.cells_mut().fill(0);
        erase(&mut chip, SECTOR_BYTES, 0x30, 0);
        chip.power_cut(cut);
        assert!(!chip.is_busy(0), "the next power-up finds it at rest");
        let ones = |cells: &[u8]| cells.iter().map(|cell| cell.count_ones()).sum::<u32>();
        assert_eq!(
            ones(&chip.cells()[..SECTOR_BYTES]) + ones(&chip.cells()[2 * SECTOR_BYTES..]),
            0
        );
        f64::from(ones(&chip.cells()[SECTOR_BYTES..2 * SECTOR_BYTES])) / (8 * SECTOR_BYTES) as f64
    };
    assert!(half(SECTOR_ERASE / 10) < 0.2);
    assert!((0.4..0.6).contains(&half(SECTOR_ERASE / 2)));
    assert!(half(SECTOR_ERASE * 9 / 10) > 0.8);
    assert_eq!(half(SECTOR_ERASE), 1.0);
}

#[test]
fn power_cut_ends_identity_mode_and_forgets_half_a_command() {
    let mut chip = chip();
    send(&mut chip, IDENTITY, 0);
    chip.power_cut(1);
    assert_eq!(chip.read(0, 0), 0xFF);
    send(&mut chip, PROGRAM_COMMAND, 0);
    chip.power_cut(1);
    chip.write(0, 0, 0);
    assert_eq!(chip.read(0, PROGRAM), 0xFF);
}
