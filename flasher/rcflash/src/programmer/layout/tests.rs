//! Chips in pages that jumpers select; the values are those of the RC2014 ROM modules.

use super::*;

const KIB: usize = 1024;

fn content(name: &str, length: usize) -> ChipContent {
    let first = name.bytes().next().unwrap_or_default();
    ChipContent { name: name.to_owned(), bytes: vec![first; length] }
}

fn chip(kilobytes: usize, page: usize) -> ChipLayout {
    ChipLayout::new(kilobytes * KIB, page * KIB, 0xFF).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_64_kib_chip_has_eight_banks_at_multiples_of_2000h() {
    let mut chip = chip(64, 8);
    chip.place(7, &content("SCM", 100)).expect("it fits");
    chip.place(0, &content("BASIC", 0x2000)).expect("it fits");
    let bytes = chip.bytes();
    assert_eq!((bytes.len(), chip.used()), (0x1_0000, 0x2000 + 100));
    assert_eq!((bytes[0], bytes[0x1FFF], bytes[0x2000]), (b'B', b'B', 0xFF));
    assert_eq!(
        (bytes[0xDFFF], bytes[0xE000], bytes[0xE063], bytes[0xE064]),
        (0xFF, b'S', b'S', 0xFF)
    );
    assert_eq!(chip.owners()[0].as_deref(), Some("BASIC"));
    assert_eq!(chip.owners()[1], None);
}

#[test]
fn the_jumpers_are_the_banks_number_in_binary() {
    let classic = chip(64, 8);
    assert_eq!(classic.jumpers(0), "A15=0 A14=0 A13=0");
    assert_eq!(classic.jumpers(3), "A15=0 A14=1 A13=1");
    assert_eq!(classic.jumpers(6), "A15=1 A14=1 A13=0");
    assert_eq!(chip(128, 16).jumpers(5), "A16=1 A15=0 A14=1");
    assert_eq!(chip(8, 8).jumpers(0), "");
}

#[test]
fn only_free_banks_are_filled() {
    let mut chip = chip(32, 8);
    chip.place(2, &content("BASIC", 10)).expect("it fits");
    chip.fill_free_banks(&content("monitor", 20)).expect("it fits");
    let names: Vec<_> = chip.owners().iter().flatten().map(String::as_str).collect();
    assert_eq!(names, ["monitor", "monitor", "BASIC", "monitor"]);
    assert_eq!(
        (chip.bytes()[0x4000], chip.bytes()[0x400A], chip.bytes()[0x6000]),
        (b'B', 0xFF, b'm')
    );
}

#[test]
fn a_program_of_two_pages_starts_at_an_even_one() {
    let scm = content("SCM", 0x4000);
    let mut chip = chip(64, 8);
    chip.place(4, &scm).expect("it fits");
    assert_eq!(chip.owners()[5].as_deref(), Some("SCM"));
    let error = chip.place(1, &scm).expect_err("A13 can't be part of it").to_string();
    assert!(error.contains("only at multiples of 2, not at bank 1"), "{error}");
    let error = chip.place(5, &content("x", 1)).expect_err("it is taken").to_string();
    assert_eq!(error, "x and SCM are both to be in bank 5");
}

#[test]
fn errors_name_the_sizes() {
    let mut chip = chip(32, 8);
    let printed =
        |result: Result<(), LayoutError>| result.expect_err("it does not fit").to_string();
    let error = printed(chip.place(0, &content("big", 0x8001)));
    assert_eq!(error, "big has 32769 bytes, the chip 32768 from bank 0: 1 too many");
    assert_eq!(
        printed(chip.place(4, &content("x", 1))),
        "invalid bank 4: the chip has banks 0 to 3"
    );
    assert!(printed(chip.place(usize::MAX, &content("x", 1))).contains("invalid bank"));
    assert!(printed(chip.place(0, &content("nothing", 0))).contains("nothing is empty"));
    let error = printed(chip.fill_free_banks(&content("big", 0x2001)));
    assert!(error.contains("8193 bytes, too many for pages of 8 KiB"), "{error}");
    let error = printed(chip.fill_free_banks(&content("big", 0x1_0000)));
    assert!(error.contains("65536 bytes, the chip 32768: 32768 too many"), "{error}");
    assert!(chip.bytes().iter().all(|byte| *byte == 0xFF), "nothing was put there");
}

#[test]
fn pages_are_powers_of_two_within_the_chip() {
    for (size, page) in [(64, 3), (8, 16), (0, 8), (64, 0), (24, 16)] {
        let outcome = ChipLayout::new(size * KIB, page * KIB, 0);
        assert_eq!(outcome, Err(LayoutError::Page { chip: size * KIB, page: page * KIB }));
    }
    assert!(ChipLayout::new(64 * KIB, 512, 0).is_err(), "no jumper is below A10");
}
