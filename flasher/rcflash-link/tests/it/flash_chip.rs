//! Writes, erasures, reads and comparisons of chips of any size and any number of protected
//! sectors: what is reported as done is done, and nothing panics.

use cli_support::exit::{CommandError, ENVIRONMENT};
use firmware_wire::{ChipIdentity, FieldError, MessageError, kind};
use proptest::prelude::*;
use rcflash_link::flash::{
    self, FlashError, FlashImage, FlashImageError, SECTOR, erasable_sectors, erase_sectors,
    used_sectors,
};
use rcflash_link::inspect::{self, AddressSpace};
use rcflash_link::loader::enter_monitor;
use rcflash_link::{Link, LinkError};

use crate::flash_peer::FlashPeer;

const SECTOR_SPAN: u32 = SECTOR as u32;

/// Connects to a board, and identifies its chip.
fn connect(peer: &FlashPeer) -> (Link, Result<ChipIdentity, FlashError>) {
    let mut link = peer.link();
    let monitor = enter_monitor(&mut link).unwrap_or_else(|error| panic!("{error}"));
    let chip = flash::chip(&mut link, &monitor);
    (link, chip)
}

fn valid(peer: &FlashPeer) -> (Link, ChipIdentity) {
    let (link, chip) = connect(peer);
    (link, chip.unwrap_or_else(|error| panic!("{error}")))
}

/// Writes an image as `rcflash write --flash` does; returns how many sectors were programmed.
fn write(peer: &FlashPeer, image: &FlashImage, force: bool) -> Result<usize, FlashError> {
    let (mut link, chip) = valid(peer);
    let sectors = flash::changed_sectors(&mut link, &chip, image, force, |_| {})?;
    Ok(flash::write(&mut link, &sectors, |_| {})?.programmed)
}

#[test]
fn a_chip_that_can_not_be_is_reported_and_nothing_else_is_requested() {
    for (sectors, protected) in (0..=u8::MAX).flat_map(|n| [(0, n), (4097, n), (65_535, n)]) {
        let peer = FlashPeer::new(sectors, protected);
        let error = connect(&peer).1.expect_err("there is no such chip");
        let FlashError::Link(LinkError::InvalidReply { error: cause, .. }) = &error else {
            panic!("{error}");
        };
        assert_eq!(*cause, MessageError::Field(0x94, FieldError::Sectors(sectors)));
        assert_eq!(peer.chip().requests, [kind::IDENT, kind::CHIP]);
        let failure = CommandError::from(error);
        assert_eq!(failure.code, ENVIRONMENT);
        let message = failure.message;
        assert!(message.contains("identifying the flash chip"), "{message}");
        assert!(message.contains(&format!("a flash chip of {sectors} sectors")), "{message}");
        assert!(message.contains("press reset"), "{message}");
    }
    let (_, unprotected) = connect(&FlashPeer::new(128, 0));
    assert!(unprotected.is_err(), "ERASE would end the monitor that executes it");
}

#[test]
fn a_chip_of_one_sector_has_the_boot_sector_only() {
    let peer = FlashPeer::new(1, 1);
    (0..SECTOR_SPAN).for_each(|at| peer.chip().set(at, at as u8));
    let (mut link, chip) = valid(&peer);
    assert_eq!(chip.last_address(), 0xFFF);
    let all = inspect::read(&mut link, AddressSpace::Flash, 0, SECTOR, |_| {}).expect("a page");
    assert_eq!(all, (0..SECTOR).map(|at| at as u8).collect::<Vec<_>>());
    let same = inspect::compare(&mut link, AddressSpace::Flash, 0, &all, |_| {});
    assert!(same.expect("it is compared").is_empty());
    assert!(erasable_sectors(&chip, 0, 0xFFF).expect("it has them").is_empty());
    let error = erasable_sectors(&chip, 0x1000, 0x1FFF).expect_err("it ends before");
    assert!(matches!(error, FlashError::OutsideChip { last: 0x1FFF, end: 0xFFF }), "{error}");
    let error = write(&peer, &FlashImage::raw(0x1000, vec![1]), false).expect_err("it ends before");
    let too_long = FlashImageError::TooLong { last: 0x1000, end: 0xFFF };
    assert!(matches!(&error, FlashError::Image(cause) if *cause == too_long), "{error}");
    let boot = FlashImage::raw(0, all);
    assert_eq!(write(&peer, &boot, true).expect("the boot sector is left out"), 0);
    let sector = boot.boot_sector().expect("it is one");
    assert!(!flash::boot_sector_differs(&mut link, &sector).expect("it is compared"));
}

#[test]
fn a_protected_sector_that_differs_is_an_error_and_one_that_matches_is_not() {
    let image = FlashImage::raw(0x1800, vec![7; SECTOR]); // in the sectors 1 and 2
    for protected in [2, 3, 64, 128] {
        let peer = FlashPeer::new(128, protected);
        let error = write(&peer, &image, false).expect_err("sector 1 differs");
        assert!(matches!(&error, FlashError::Protected(sectors) if *sectors == (1..=1)), "{error}");
        assert_eq!(CommandError::from(error).code, ENVIRONMENT);
        let (address, bytes) = image.runs().next().expect("one run");
        (address..).zip(bytes).for_each(|(at, byte)| peer.chip().set(at, *byte));
        assert_eq!(write(&peer, &image, false).expect("all is there"), 0);
        // A protected sector is not written even with `force`.
        let writable = usize::from(protected == 2);
        assert_eq!(write(&peer, &image, true).expect("all is there"), writable);
        peer.chip().set(0x1FFF, 0);
        assert!(write(&peer, &image, true).is_err(), "a byte of sector 1 differs");
    }
}

#[test]
fn a_range_with_protected_sectors_is_not_erased_in_part() {
    let (_, chip) = valid(&FlashPeer::new(128, 4));
    let error = erasable_sectors(&chip, 0, 0x5FFF).expect_err("1 to 3 are protected");
    assert!(matches!(&error, FlashError::Protected(sectors) if *sectors == (1..=3)), "{error}");
    assert!(error.to_string().contains("sectors 1 to 3"), "{error}");
    let error = erasable_sectors(&chip, 0x2000, 0x2FFF).expect_err("2 is protected");
    assert!(matches!(&error, FlashError::Protected(sectors) if *sectors == (2..=2)), "{error}");
    assert_eq!(erasable_sectors(&chip, 0x4000, 0x7_FFFF).expect("it has them"), 4..=127);
    assert!(erasable_sectors(&chip, 0, 0xFFF).expect("the boot sector alone").is_empty());
}

/// Chips, with some of the sectors that the largest of them has.
fn chips() -> impl Strategy<Value = (u16, u8)> {
    prop_oneof![1..6_u16, Just(128), Just(4096)].prop_flat_map(|sectors| {
        let most = sectors.min(255) as u8;
        (Just(sectors), prop_oneof![Just(1), 1..=most.min(4), 1..=most])
    })
}

/// Runs of bytes within the first sectors that do not overlap.
fn images() -> impl Strategy<Value = FlashImage> {
    let lengths = prop_oneof![Just(SECTOR), 1..300_usize, 1..=2 * SECTOR];
    let run = (0..0x1800_u32, lengths, any::<u8>());
    prop::collection::vec(run, 1..3).prop_map(|runs| {
        let mut next = 0;
        let mut image = FlashImage::default();
        for (gap, length, byte) in runs {
            image = image.merged_with(FlashImage::raw(next + gap, vec![byte; length]));
            next += gap + length as u32;
        }
        image
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_is_reported_as_written_is_in_the_chip(
        (sectors, protected) in chips(),
        image in images(),
        other in prop::collection::vec((0..0x6000_u32, any::<u8>()), 0..6),
        is_there in any::<bool>(),
        force in any::<bool>(),
    ) {
        let peer = FlashPeer::new(sectors, protected);
        let end = u32::from(sectors) * SECTOR_SPAN;
        if is_there {
            for (address, bytes) in image.runs() {
                (address..end).zip(bytes).for_each(|(at, byte)| peer.chip().set(at, *byte));
            }
        }
        other.iter().filter(|(at, _)| *at < end).for_each(|(at, byte)| peer.chip().set(*at, *byte));
        let before = peer.chip().cells.clone();
        let boot = image.boot_sector();
        let outcome = write(&peer, &image, force);
        for (address, bytes) in image.runs().filter(|_| outcome.is_ok()) {
            for (at, byte) in (address..).zip(bytes).filter(|(at, _)| *at >= SECTOR_SPAN) {
                prop_assert_eq!(peer.chip().byte(at), *byte, "{:05X}", at);
            }
        }
        for sector in 0..u32::from(protected) {
            let after = peer.chip().cells.get(&sector).cloned();
            prop_assert_eq!(after.as_ref(), before.get(&sector));
        }
        if let Some(boot) = boot {
            let differs = flash::boot_sector_differs(&mut peer.link(), &boot);
            let is_same = (0..).zip(boot).all(|(at, byte)| peer.chip().byte(at) == byte);
            prop_assert_eq!(differs.expect("it is compared"), !is_same);
        }
    }

    #[test]
    fn what_is_reported_as_erased_is_blank(
        (sectors, protected) in chips(),
        first in 0..6_u32,
        count in 1..6_u32,
        other in prop::collection::vec((0..0x6000_u32, any::<u8>()), 0..6),
    ) {
        let peer = FlashPeer::new(sectors, protected);
        let size = u32::from(sectors) * SECTOR_SPAN;
        other.iter().filter(|(at, _)| *at < size).for_each(|(at, byte)| peer.chip().set(*at, *byte));
        let before = peer.chip().cells.clone();
        let (mut link, chip) = valid(&peer);
        let range = (first * SECTOR_SPAN, (first + count) * SECTOR_SPAN - 1);
        let erased = erasable_sectors(&chip, range.0, range.1).and_then(|numbers| {
            let used = used_sectors(&mut link, numbers, |_| {})?;
            erase_sectors(&mut link, &used, |_| {})
        });
        let is_range = |sector: &u32| (first.max(1)..first + count).contains(sector);
        let chip = peer.chip();
        if erased.is_ok() {
            prop_assert!((0..6).filter(is_range).all(|sector| !chip.cells.contains_key(&sector)
                || chip.cells[&sector].iter().all(|byte| *byte == 0xFF)));
        }
        for sector in (0..6).filter(|sector| !is_range(sector) || erased.is_err()) {
            prop_assert_eq!(chip.cells.get(&sector), before.get(&sector));
        }
    }
}
