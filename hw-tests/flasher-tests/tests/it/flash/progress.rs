//! Progress events of comparing, writing and erasing: each part of the work once, up to the
//! whole.

use firmware_wire::MAX_BLOCK;
use rcflash_link::flash::{self, FlashImage, Progress, SECTOR, WriteSummary};

use crate::flash::line::{BoardNearby, programmed, spec};

/// The progress of a step over sectors, in chunks of a size.
fn expected_progress(step: &'static str, sectors: usize, piece: usize) -> Vec<Progress> {
    let total = sectors * SECTOR;
    let pieces = |sector| {
        let done = (piece..SECTOR).step_by(piece).chain([SECTOR]);
        done.map(move |done| Progress { step, done: sector * SECTOR + done, total })
    };
    (0..sectors).flat_map(pieces).collect()
}

#[test]
fn every_step_reports_progress_in_chunks() {
    let near = BoardNearby::new(spec(), programmed());
    let (mut link, monitor) = near.monitor();
    let chip = flash::chip(&mut link, &monitor).unwrap_or_else(|error| panic!("{error}"));
    let content = FlashImage::raw(0x2_0000, vec![0x55; 3 * SECTOR]);
    let mut progress = Vec::new();
    let sectors = flash::changed_sectors(&mut link, &chip, &content, false, |at| progress.push(at));
    assert_eq!(progress, expected_progress("comparing", 3, SECTOR));
    progress.clear();
    let sectors = sectors.unwrap_or_else(|error| panic!("{error}"));
    let asked = link.stats().requests;
    let written = flash::write(&mut link, &sectors, |at| progress.push(at));
    assert_eq!(
        written.unwrap_or_else(|e| panic!("{e}")),
        WriteSummary { erased: 0, programmed: 3 }
    );
    // Each block once, and a check of each sector; refused requests do not count.
    let blocks = 3 * SECTOR.div_ceil(MAX_BLOCK) as u64;
    assert_eq!(link.stats().requests - asked, blocks + 3);
    // A sector is reported once more when it is verified.
    progress.dedup();
    assert_eq!(progress, expected_progress("writing", 3, MAX_BLOCK));
    progress.clear();
    let used = flash::used_sectors(&mut link, 0x1F..=0x24, |at| progress.push(at));
    let used = used.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (&*used, &progress),
        (&[0x20, 0x21, 0x22][..], &expected_progress("comparing", 6, SECTOR))
    );
    progress.clear();
    let erased = flash::erase_sectors(&mut link, &used[1..], |at| progress.push(at));
    erased.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(progress, expected_progress("erasing", 2, SECTOR));
    let cells = near.cells(0x2_3000);
    assert_eq!(cells[0x2_0000..0x2_1000], [0x55; SECTOR]);
    assert_eq!(cells[0x2_1000..0x2_3000], [0xFF; 2 * SECTOR]);
}

#[test]
fn a_sector_with_a_header_is_erased_once_and_counted() {
    let near = BoardNearby::new(spec(), programmed());
    let content = |mark: u8| FlashImage::raw(0x1000, vec![mark; 2 * SECTOR]);
    for (mark, erased) in [(0x0F, 0), (0xF0, 2)] {
        let (mut link, monitor) = near.monitor();
        let chip = flash::chip(&mut link, &monitor).unwrap_or_else(|error| panic!("{error}"));
        let sectors = flash::changed_sectors(&mut link, &chip, &content(mark), false, |_| {});
        let sectors = sectors.unwrap_or_else(|error| panic!("{error}"));
        let written = flash::write(&mut link, &sectors, |_| {});
        assert_eq!(
            written.unwrap_or_else(|e| panic!("{e}")),
            WriteSummary { erased, programmed: 2 }
        );
        assert_eq!(near.cells(0x3000)[0x1000..], [mark; 2 * SECTOR]);
    }
    let world = near.world();
    let wear = world.board.bus().chip().as_sst().expect("a flash chip").wear();
    assert_eq!(wear[1..3], [1, 1]);
}

/// Compares content with the chip; returns the numbers of differing sectors and of bytes from the
/// board.
fn compared(near: &BoardNearby, content: &FlashImage, force: bool) -> (usize, u64) {
    let (mut link, monitor) = near.monitor();
    let chip = flash::chip(&mut link, &monitor).unwrap_or_else(|error| panic!("{error}"));
    let before = link.stats().bytes.1;
    let sectors = flash::changed_sectors(&mut link, &chip, content, force, |_| {});
    (sectors.unwrap_or_else(|error| panic!("{error}")).len(), link.stats().bytes.1 - before)
}

#[test]
fn a_sector_is_read_only_if_some_of_it_must_survive() {
    let near = BoardNearby::new(spec(), programmed());
    let (mut link, monitor) = near.monitor();
    let chip = flash::chip(&mut link, &monitor).unwrap_or_else(|error| panic!("{error}"));
    let whole = FlashImage::raw(0x2_0000, vec![0x55; SECTOR]);
    let sectors = flash::changed_sectors(&mut link, &chip, &whole, false, |_| {});
    let sectors = sectors.unwrap_or_else(|error| panic!("{error}"));
    flash::write(&mut link, &sectors, |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let few = 0..100;
    let part = |address, byte| FlashImage::raw(address, vec![byte; 9]);
    let cases = [
        ("covered, and there", &whole, false, 0, true),
        ("covered, and written all the same", &whole, true, 1, true),
        ("covered, and different", &FlashImage::raw(0x2_0000, vec![1; SECTOR]), false, 1, true),
        ("a part that is there", &part(0x2_0100, 0x55), false, 0, true),
        ("a part that is there, and written all the same", &part(0x2_0100, 0x55), true, 1, false),
        ("a part that differs", &part(0x2_0100, 0x54), false, 1, false),
        ("a part of a blank sector", &part(0x3_0100, 0x54), false, 1, true),
    ];
    for (what, content, force, differ, is_short) in cases {
        let (found, read) = compared(&near, content, force);
        assert_eq!((found, few.contains(&read)), (differ, is_short), "{what}: {read} bytes");
        assert!(is_short || read > SECTOR as u64, "{what}: {read} bytes");
    }
}
