//! The page registers of the 512K + 512K module.

use board_simulator::{BankedPage, Banks};

#[test]
fn after_reset_every_window_shows_the_first_page_of_flash() {
    let mut banks = Banks::new([0x25, 0x11, 0x3F, 0x07]);
    let all = |banks: &Banks| [0, 1, 2, 3].map(|window| banks.page(window));
    assert_eq!(all(&banks), [BankedPage::Flash(0); 4]);
    banks.write(0x7C, 1);
    assert_ne!(all(&banks), [BankedPage::Flash(0); 4]);
    banks.reset();
    assert_eq!(all(&banks), [BankedPage::Flash(0); 4]);
    banks.write(0x7C, 1);
    assert_eq!(banks.page(0), BankedPage::Ram(5 * 0x4000), "reset spares the page registers");
}

#[test]
fn pages_0_to_31_are_flash_and_32_to_63_ram() {
    let mut banks = Banks::new([0; 4]);
    banks.write(0x7C, 1);
    for (number, page) in [
        (0x00, BankedPage::Flash(0)),
        (0x1F, BankedPage::Flash(0x7_C000)),
        (0x20, BankedPage::Ram(0)),
        (0x3F, BankedPage::Ram(0x7_C000)),
        (0xFF, BankedPage::Ram(0x7_C000)),
    ] {
        banks.write(0x7A, number);
        assert_eq!(banks.page(2), page, "{number:02X}");
    }
}

#[test]
fn ports_70_to_77_are_those_of_78_to_7f_and_no_others_are() {
    for (port, enable) in [(0x74, true), (0x77, true), (0x7C, true), (0x7F, true), (0x73, false)] {
        let mut banks = Banks::new([0x3F; 4]);
        assert!(banks.write(port, 1));
        assert_eq!(banks.page(0) == BankedPage::Ram(0x7_C000), enable, "{port:02X}");
    }
    for window in 0..4 {
        let mut banks = Banks::new([0x20; 4]);
        banks.write(0x7C, 1);
        banks.write(0x70 + window as u8, 0x21);
        assert_eq!(banks.page(window), BankedPage::Ram(0x4000));
    }
    assert!(!Banks::new([0; 4]).write(0x6F, 1));
    assert!(!Banks::new([0; 4]).write(0x80, 1));
}
