//! The content of a board: `rcflash read` and `rcflash verify`, in memory and in flash.

use board_simulator::Pace;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;

use crate::commands::bench::{Bench, Folder, RunEnd, rcflash};

/// Bytes that depend on their position.
fn pattern(count: usize) -> Vec<u8> {
    (0..count).map(|index| (index * 7 + index / 256) as u8).collect()
}

fn on(port: &str, arguments: &[&str]) -> RunEnd {
    rcflash(&[arguments, &["--port", port]].concat())
}

fn zed() -> Bench {
    Bench::new("rc2014-zed", Pace::Free)
}

fn on_zed(port: &str, arguments: &[&str]) -> RunEnd {
    on(port, &[arguments, &["--board", "rc2014-zed"]].concat())
}

#[test]
fn what_was_written_is_read_back_and_verified() {
    let bench = Bench::classic();
    let folder = Folder::new();
    let bytes = pattern(3000);
    let file = folder.file("own.bin", &bytes);
    let placed = [&file, "--address", "8765"];
    on(&bench.port, &[&["write", "--no-run"][..], &placed].concat()).assert_ends(0, &["verified"]);
    let back = folder.name("back.bin");
    on(&bench.port, &["read", "--range", "8765-931C", "-o", &back])
        .assert_ends(0, &["back.bin: 3000 bytes from 8765h"]);
    assert_eq!(std::fs::read(back).expect("it was written"), bytes);
    on(&bench.port, &[&["verify"][..], &placed].concat()).assert_ends(0, &["all 3000 bytes"]);
}

#[test]
fn a_binary_is_started_at_the_address_that_is_given() {
    let bench = Bench::classic();
    let folder = Folder::new();
    let file = folder.file("loop.bin", [0x18, 0xFE]); // JR to itself
    let missing = "is a binary: give its address with --address";
    on(&bench.port, &["run", &file]).assert_ends(2, &[missing]);
    on(&bench.port, &["run", &file, "--address", "9000", "--idle-exit", "100ms"])
        .assert_ends(0, &["2 bytes at 9000h", "started at 9000h"]);
}

#[test]
fn a_source_in_zilogs_notation_is_assembled_and_started() {
    let folder = Folder::new();
    let text = "        org 9000h\nagain   ld a,1\n        jr again\n";
    for (name, more) in [("loop.z80", &[][..]), ("loop.asm", &["--zilog"])] {
        // The program keeps the board.
        let bench = Bench::classic();
        let file = folder.file(name, text);
        let run = [&["run", &*file, "--idle-exit", "100ms"], more].concat();
        on(&bench.port, &run).assert_ends(0, &["4 bytes at 9000h", "started at 9000h"]);
    }
    let file = folder.file("loop.asm", text);
    on("/nowhere", &["run", &*file]).assert_ends(1, &["is in Zilog's notation: give --zilog"]);
}

#[test]
fn the_rom_is_read_as_binary_and_as_hex() {
    let bench = Bench::classic();
    let folder = Folder::new();
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let monitor = build(&profile, ProgramKind::Monitor).expect("it is built").bytes;
    for name in ["rom.bin", "rom.hex"] {
        on(&bench.port, &["read", "--range", "0-1FFF", "-o", &folder.name(name)])
            .assert_ends(0, &[]);
    }
    let rom = std::fs::read(folder.path("rom.bin")).expect("it was written");
    assert_eq!((rom.len(), &rom[..monitor.len()]), (0x2000, &monitor[..]));
    let text = std::fs::read_to_string(folder.path("rom.hex")).expect("it was written");
    let (image, _) = tdlasm::image::parse_intel_hex(&text).expect("good records");
    assert_eq!(image.flat(0), rom);
}

#[test]
fn each_differing_byte_is_reported_up_to_a_limit() {
    let bench = Bench::classic();
    let folder = Folder::new();
    let bytes = pattern(9000);
    let file = folder.file("own.bin", &bytes);
    on(&bench.port, &["write", "--no-run", &file, "--address", "9000"]).assert_ends(0, &[]);
    let verify = |changed: &[usize]| {
        let mut other = bytes.clone();
        changed.iter().for_each(|&index| other[index] ^= 0x80);
        let other = folder.file("other.bin", other);
        on(&bench.port, &["verify", &other, "--address", "9000"])
    };
    // 5 * 7 = 23h; 8000 * 7 + 31 = DADFh.
    verify(&[5, 8000]).assert_ends(
        1,
        &[
            "other.bin: 2 of 9000 bytes differ on the board",
            "\n  9005h: 23h, expected A3h",
            "\n  AF40h: DFh, expected 5Fh",
        ],
    );
    let many: Vec<usize> = (100..120).collect();
    verify(&many).assert_ends(1, &["20 of 9000", "\n  906Bh: ", "\n  and 12 more"]);
}

#[test]
fn the_running_evaluator_is_verified_where_it_was_loaded() {
    let bench = Bench::classic();
    on(&bench.port, &["verify"]).assert_ends(1, &["the built-in exchange evaluator: "]);
    on(&bench.port, &["write"]).assert_ends(0, &["running"]);
    on(&bench.port, &["verify"]).assert_ends(0, &["the built-in exchange evaluator: verified"]);
    on(&bench.port, &["verify", "--behaviour", "original"]).assert_ends(1, &["bytes differ"]);
}

#[test]
fn flash_is_verified_whether_its_program_starts_by_itself_or_not() {
    let bench = zed();
    let verify = || on_zed(&bench.port, &["verify", "--flash", "--boot-sector"]);
    verify().assert_ends(1, &["SST39SF040", "\n  1000h: FFh, expected 53h"]);
    for more in [&["--no-run"][..], &["--no-run", "--autostart"]] {
        on_zed(&bench.port, &[&["write", "--flash"], more].concat()).assert_ends(0, &["verified"]);
        verify().assert_ends(0, &["verified"]);
    }
}

#[test]
fn flash_is_read_in_part_and_whole() {
    let bench = zed();
    let folder = Folder::new();
    let bytes = pattern(9000);
    let file = folder.file("data.bin", &bytes);
    let write = ["write", "--flash", &file, "--address", "13F00"];
    on_zed(&bench.port, &write).assert_ends(0, &["verified"]);
    let part = folder.name("part.bin");
    on_zed(&bench.port, &["read", "--flash", "--range", "13F00-16227", "-o", &part])
        .assert_ends(0, &["9000 bytes from 13F00h"]);
    assert_eq!(std::fs::read(part).expect("it was written"), bytes);
    let hex = folder.name("part.hex");
    on_zed(&bench.port, &["read", "--flash", "--range", "13F00-13F03", "-o", &hex])
        .assert_ends(0, &[]);
    let text = std::fs::read_to_string(hex).expect("it was written");
    assert!(text.starts_with(":020000040001F9\n:043F0000"), "the upper address first: {text}");
    let whole = folder.name("chip.bin");
    on_zed(&bench.port, &["read", "--flash", "-o", &whole]).assert_ends(0, &["524288 bytes"]);
    let chip = std::fs::read(&whole).expect("it was written");
    assert_eq!((chip.len(), &chip[0x13F00..0x16228]), (0x8_0000, &bytes[..]));
    on_zed(&bench.port, &["verify", "--flash", &whole, "--address", "0"])
        .assert_ends(0, &["all 524288"]);
}

#[test]
fn memory_that_cannot_be_read_is_reported_and_no_file_is_created() {
    let bench = zed();
    let folder = Folder::new();
    let refused = |more: &[&str], code, text| {
        let output = folder.name("x.hex");
        let order = [&["read", "-o", &output], more].concat();
        on_zed(&bench.port, &order).assert_ends(code, &[text]);
        assert!(!folder.path("x.hex").exists());
    };
    refused(&["--range", "9000"], 2, "invalid range '9000'");
    refused(&["--range", "9000-8000"], 2, "invalid range '9000-8000'");
    refused(&["--range", "F000-10000"], 2, "memory ends at FFFFh; use --flash to read the chip");
    refused(&[], 2, "--range");
    refused(&["--flash", "--range", "0-80000"], 2, "the chip ends at 7FFFFh");
    let named = ["read", "--range", "0-F", "-o", &folder.name("y.txt")];
    on_zed(&bench.port, &named).assert_ends(2, &["unknown file extension"]);
    let classic = Bench::classic();
    let more = ["read", "--flash", "-o", &folder.name("y.bin")];
    on(&classic.port, &more).assert_ends(3, &["can't write flash"]);
}

#[test]
fn a_dry_run_for_flash_needs_no_port() {
    let plan = ["write", "--board", "rc2014-zed", "--flash", "--dry-run"];
    rcflash(&plan)
        .assert_ends(0, &["of 2 sectors those that differ would be written: 1, 2;", "--port"]);
}

#[test]
fn a_full_disk_and_a_read_only_file_are_reported() {
    let bench = Bench::classic();
    let folder = Folder::new();
    let full = folder.path("full.bin");
    std::os::unix::fs::symlink("/dev/full", &full).expect("a link");
    let kept = folder.file("kept.bin", "kept");
    let mut mode = std::fs::metadata(&kept).expect("it is there").permissions();
    mode.set_readonly(true);
    std::fs::set_permissions(&kept, mode).expect("it is ours");
    for (file, problem) in [(folder.name("full.bin"), "No space left"), (kept.clone(), "read-only")]
    {
        let parts = [&format!("cannot write {file}: ")[..], problem];
        on(&bench.port, &["read", "--range", "0-1FFF", "-o", &file]).assert_ends(3, &parts);
        rcflash(&["image", "-o", &file]).assert_ends(3, &parts);
    }
    assert_eq!(std::fs::read(kept).expect("it is there"), b"kept");
    assert!(full.is_symlink());
}
