//! `rcflash erase`: sectors of the flash chip, and the boot sector only when asked for.

use board_simulator::Pace;

use crate::everyday::bench::{Bench, Folder, RunEnd, rcflash};

fn zed(port: &str, arguments: &[&str]) -> RunEnd {
    rcflash(&[arguments, &["--board", "rc2014-zed", "--port", port]].concat())
}

/// A board with the evaluator in flash and something in sectors 16 and 17.
fn filled(folder: &Folder) -> Bench {
    let bench = Bench::new("rc2014-zed", Pace::Free);
    let data = folder.file("data.bin", [0x55; 0x1800]);
    zed(&bench.port, &["write", "--flash"]).with(0, &[]);
    zed(&bench.port, &["write", "--flash", &data, "--address", "10000"]).with(0, &[]);
    bench
}

#[test]
fn sectors_are_erased_and_the_others_stay() {
    let folder = Folder::new();
    let bench = filled(&folder);
    let erase = |more: &[&str]| zed(&bench.port, &[&["erase"][..], more].concat());
    erase(&["--all", "--dry-run"])
        .with(0, &["SST39SF040", "4 sectors would be erased: 1, 2, 16, 17"]);
    erase(&["--range", "11000-12FFF"]).with(0, &["1 sector erased, and found blank"]);
    let part = folder.name("part.bin");
    let read = ["read", "--flash", "--range", "10000-11FFF", "-o", &part];
    zed(&bench.port, &read).with(0, &[]);
    let there = std::fs::read(part).expect("it was written");
    assert_eq!(there, [[0x55; 0x1000], [0xFF; 0x1000]].concat());
    zed(&bench.port, &["verify", "--flash", "--boot-sector"]).with(0, &[]);
    erase(&["--all"]).with(0, &["3 sectors erased"]);
    erase(&["--all"]).with(0, &["nothing was erased"]);
    erase(&["--all", "--dry-run"]).with(0, &["nothing would be erased"]);
}

#[test]
fn the_boot_sector_is_erased_only_when_asked_for() {
    let folder = Folder::new();
    let bench = filled(&folder);
    let erase = |more: &[&str]| zed(&bench.port, &[&["erase"][..], more].concat());
    erase(&["--range", "0-1FFF"]).with(2, &["the boot sector", "--boot-sector"]);
    erase(&["--range", "0-1FFF", "--boot-sector", "--dry-run"])
        .with(0, &["2 sectors would be erased: 0 (the boot sector), 1"]);
    zed(&bench.port, &["verify", "--flash", "--boot-sector"]).with(0, &[]);
    erase(&["--range", "0-1FFF", "--boot-sector"]).with(0, &["1 sector erased", "nobody listens"]);
    bench.server.reset();
    erase(&["--all"]).with(3, &["no reply"]);
}

#[test]
fn what_is_no_sector_is_refused() {
    let bench = Bench::new("rc2014-zed", Pace::Free);
    let erase = |more: &[&str], text| {
        zed(&bench.port, &[&["erase"][..], more].concat()).with(2, &[text]);
    };
    erase(&["--range", "1800-2FFF"], "they are erased as a whole: 1000-2FFF");
    erase(&["--range", "1000-2FFE"], "they are erased as a whole: 1000-2FFF");
    erase(&["--range", "7F000-80FFF"], "the chip ends at 7FFFFh");
    erase(&[], "--range");
    let classic = Bench::classic();
    rcflash(&["erase", "--all", "--port", &classic.port]).with(3, &["can't write flash"]);
}
