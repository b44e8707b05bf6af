//! `rcflash erase`: sectors of the flash chip, and the boot sector only with its option.

use board_simulator::Pace;

use crate::commands::bench::{Bench, Folder, RunEnd, rcflash};

fn zed(port: &str, arguments: &[&str]) -> RunEnd {
    rcflash(&[arguments, &["--board", "rc2014-zed", "--port", port]].concat())
}

/// A board with the evaluator in flash and data in sectors 16 and 17.
fn filled(folder: &Folder) -> Bench {
    let bench = Bench::new("rc2014-zed", Pace::Free);
    let data = folder.file("data.bin", [0x55; 0x1800]);
    zed(&bench.port, &["write", "--flash"]).assert_ends(0, &[]);
    zed(&bench.port, &["write", "--flash", &data, "--address", "10000"]).assert_ends(0, &[]);
    bench
}

#[test]
fn only_the_given_sectors_are_erased() {
    let folder = Folder::new();
    let bench = filled(&folder);
    let erase = |more: &[&str]| zed(&bench.port, &[&["erase"][..], more].concat());
    erase(&["--all", "--dry-run"])
        .assert_ends(0, &["SST39SF040", "4 sectors would be erased: 1, 2, 16, 17"]);
    erase(&["--range", "11000-12FFF"]).assert_ends(0, &["1 sector erased, verified blank"]);
    let part = folder.name("part.bin");
    let read = ["read", "--flash", "--range", "10000-11FFF", "-o", &part];
    zed(&bench.port, &read).assert_ends(0, &[]);
    let there = std::fs::read(part).expect("it was written");
    assert_eq!(there, [[0x55; 0x1000], [0xFF; 0x1000]].concat());
    zed(&bench.port, &["verify", "--flash", "--boot-sector"]).assert_ends(0, &[]);
    erase(&["--all"]).assert_ends(0, &["3 sectors erased"]);
    erase(&["--all"]).assert_ends(0, &["nothing was erased"]);
    erase(&["--all", "--dry-run"]).assert_ends(0, &["nothing would be erased"]);
}

#[test]
fn the_boot_sector_is_erased_only_on_request() {
    let folder = Folder::new();
    let bench = filled(&folder);
    let erase = |more: &[&str]| zed(&bench.port, &[&["erase"][..], more].concat());
    erase(&["--range", "0-1FFF"]).assert_ends(2, &["the boot sector", "--boot-sector"]);
    erase(&["--range", "0-1FFF", "--boot-sector", "--dry-run"])
        .assert_ends(0, &["2 sectors would be erased: 0 (the boot sector), 1"]);
    zed(&bench.port, &["verify", "--flash", "--boot-sector"]).assert_ends(0, &[]);
}

#[test]
fn a_board_whose_boot_sector_was_erased_does_not_reply() {
    // Without a monitor it executes random code, which at full speed uses a whole processor.
    let bench = Bench::new("rc2014-zed", Pace::RealTime);
    let erase = |more: &[&str]| zed(&bench.port, &[&["erase"][..], more].concat());
    erase(&["--range", "0-1FFF", "--boot-sector"])
        .assert_ends(0, &["boot sector erased: the board has no monitor now"]);
    bench.server.reset();
    erase(&["--all"]).assert_ends(3, &["no reply"]);
}

#[test]
fn ranges_that_are_not_whole_sectors_are_rejected() {
    let bench = Bench::new("rc2014-zed", Pace::Free);
    let erase = |more: &[&str], text| {
        zed(&bench.port, &[&["erase"][..], more].concat()).assert_ends(2, &[text]);
    };
    erase(&["--range", "1800-2FFF"], "expected whole sectors, as in 1000-2FFF");
    erase(&["--range", "1000-2FFE"], "expected whole sectors, as in 1000-2FFF");
    erase(&["--range", "7F000-80FFF"], "the chip ends at 7FFFFh");
    erase(&[], "--range");
    let classic = Bench::classic();
    rcflash(&["erase", "--all", "--port", &classic.port]).assert_ends(3, &["can't write flash"]);
}
