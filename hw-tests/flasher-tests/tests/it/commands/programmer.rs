//! Files for EPROM programmers, and writing chips through a stand-in for `minipro`.

use std::path::Path;

use crate::commands::bench::{Folder, RunEnd, finish, program, rcflash};

/// Folder of the stand-in, first in `PATH`.
const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/commands/stand-in");

/// A folder for the file and the chip.
struct Bench(Folder);

impl Bench {
    fn new() -> Self {
        Self(Folder::new())
    }

    fn image(&self, mood: &str, arguments: &[&str]) -> RunEnd {
        let usual = std::env::var("PATH").expect("there is one");
        let path = format!("{STAND_IN}:{usual}");
        let mut command = program();
        command.env("PATH", path).env("MOOD", mood).env("CHIP", self.0.path("chip"));
        command.args(["image", "-o", &self.0.name("rom.bin")]);
        let ended = finish(command.args(arguments).spawn().expect("it starts"), b"");
        let left = std::fs::read_dir(self.0.path("")).expect("the folder").flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().contains(".read")), "{left:?}");
        ended
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.0.path("chip.log")).unwrap_or_default()
    }
}

const PROGRAM: [&str; 3] = ["--chip", "28c256", "--program"];

#[test]
fn a_chip_is_written_read_back_and_compared() {
    let bench = Bench::new();
    let ended = bench.image("", &PROGRAM);
    let ended = ended
        .assert_ends(0, &["software data protection", "Verification OK", "read back and compared"]);
    assert!(!ended.messages.contains(['\x1B', '\r']), "{:?}", ended.messages);
    let rom = bench.0.path("rom.bin");
    let chip = bench.0.path("chip");
    let rom = std::fs::read(rom).expect("the file is kept");
    assert_eq!(rom.len(), 32 * 1024);
    assert_eq!(rom, std::fs::read(chip).expect("the chip"));
    let log = bench.log();
    let name = bench.0.name("rom.bin");
    assert!(log.starts_with(&format!("-p AT28C256 -u -w {name}\n-p AT28C256 -r ")), "{log}");
}

#[test]
fn protection_and_device_are_set_by_options() {
    let bench = Bench::new();
    bench
        .image(
            "",
            &[&PROGRAM[..], &["--protect", "--no-unprotect", "--device", "X28C256"]].concat(),
        )
        .assert_ends(0, &[]);
    let log = bench.log();
    assert!(log.starts_with(&format!("-p X28C256 -w {} -P\n", bench.0.name("rom.bin"))), "{log}");
    bench.image("", &["--protect"]).assert_ends(2, &["28C series"]);
}

#[test]
fn each_failure_of_the_programmer_has_its_message_and_code() {
    for (mood, code, parts) in [
        ("absent", 3, ["No programmer found", "Is it plugged in"]),
        ("identity", 3, ["Chip ID mismatch", "--device names another"]),
        (
            "mismatch",
            1,
            ["Verification failed at address 0x0001", "does not contain what was written"],
        ),
        ("forgetful", 1, ["1 bytes of the chip differ", "first at 00007h: 00h, expected"]),
        ("blank", 1, ["all of it reads FFh", "protected"]),
        ("short", 1, ["read back 1 bytes of a chip of 32768", "the right one?"]),
        ("silent", 0, ["printed no verification result", "read back and compared"]),
    ] {
        let ended = Bench::new().image(mood, &PROGRAM);
        assert_eq!(ended.code, Some(code), "{mood}: {}", ended.messages);
        ended.assert_ends(code, &parts);
    }
}

#[test]
fn a_hanging_programmer_is_killed_at_its_deadline() {
    let bench = Bench::new();
    let given = [&PROGRAM[..], &["--deadline", "1s"]].concat();
    bench.image("hang", &given).assert_ends(3, &["writing: minipro did not exit within 1 s"]);
    let pid = std::fs::read_to_string(bench.0.path("chip.pid")).expect("it ran");
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "it was killed");
}

#[test]
fn without_minipro_the_message_names_its_source_and_the_file_is_written() {
    let folder = Folder::new();
    let mut command = program();
    let rom = folder.name("rom.bin");
    let child =
        command.env("PATH", folder.name("")).args(["image", "--program", "-o", &rom]).spawn();
    finish(child.expect("it starts"), b"")
        .assert_ends(3, &["minipro not found", "gitlab.com/DavidGriffith/minipro"]);
    assert!(folder.path("rom.bin").exists());
}

#[test]
fn the_command_alone_goes_to_standard_output() {
    let folder = Folder::new();
    let rom = folder.name("rom.hex");
    let ended =
        rcflash(&["image", "-o", &rom, "--chip", "SST39SF010A"]).assert_ends(0, &["131072 bytes"]);
    assert_eq!(ended.text(), format!("minipro -p SST39SF010A -w {rom}\n"));
    let text = std::fs::read_to_string(&rom).expect("HEX");
    assert!(text.starts_with(":020000040000FA\n") && text.contains("\n:020000040001F9\n"));
    let listed = rcflash(&["image", "--list-chips"]).assert_ends(0, &[]);
    assert_eq!(listed.text().lines().count(), 9, "{}", listed.text());
}

#[test]
fn banks_contain_their_files_and_jumper_settings_are_printed() {
    let folder = Folder::new();
    let basic = folder.file("basic.rom", [0x42; 0x2000]);
    let scm = folder.file("scm.rom", [0x53; 0x4000]);
    let rom = folder.name("rom.bin");
    let given =
        ["image", "-o", &rom, "--bank", &format!("1={basic}"), "--bank", &format!("6={scm}")];
    rcflash(&given).assert_ends(
        0,
        &["bank 1 (A15=0 A14=0 A13=1): ", "bank 7 (A15=1 A14=1 A13=1): ", "scm.rom"],
    );
    let chip = std::fs::read(&rom).expect("the chip");
    assert_eq!(chip[0x2000..0x4000], [0x42; 0x2000]);
    assert_eq!(chip[0xC000..], [0x53; 0x4000]);
    assert_eq!(chip[..0x2000], chip[0xA000..0xC000], "the monitor is in the others");
    rcflash(&["image", &scm, "-o", &rom, "--bank", "4", "--fill", "00"])
        .assert_ends(0, &["bank 0", "blank"]);
    let chip = std::fs::read(&rom).expect("the chip");
    assert_eq!((chip[0x7FFF], chip[0x8000], chip[0xBFFF], chip[0xC000]), (0, 0x53, 0x53, 0));
}

#[test]
fn an_image_of_several_chips_is_split() {
    let folder = Folder::new();
    let big: Vec<u8> = (0..0xC000u32).map(|index| (index >> 8) as u8).collect();
    let big = folder.file("big.bin", big);
    let rom = folder.name("rom.bin");
    rcflash(&["image", &big, "-o", &rom, "--chip", "27c256"])
        .assert_ends(2, &["16384 too many", "--split"]);
    let ended = rcflash(&["image", &big, "-o", &rom, "--chip", "27c256", "--split"])
        .assert_ends(0, &["part 2"]);
    assert_eq!(ended.text().lines().count(), 2, "a command for each");
    let part = |name| std::fs::read(folder.path(name)).expect("a part");
    let first = part("rom-1.bin");
    let second = part("rom-2.bin");
    assert_eq!((first.len(), second.len()), (0x8000, 0x8000));
    assert_eq!(
        (first[0x7FFF], second[0], second[0x3FFF], second[0x4000]),
        (0x7F, 0x80, 0xBF, 0xFF)
    );
}

#[test]
fn invalid_options_are_rejected_and_nothing_is_written() {
    let folder = Folder::new();
    let (rom, odd, hex) = (folder.name("rom.bin"), folder.name("rom.txt"), folder.name("rom.hex"));
    let empty = folder.file("empty.bin", "");
    let disguised = folder.file("text.bin", ":0100000000FF\n:00000001FF\n");
    let large = folder.file("large.bin", [0; 0x2001]);
    let cases: [(&[&str], &str); 9] = [
        (&["-o", &odd], "unknown file extension '.txt'"),
        (&["-o", &hex, "--format", "binary"], "extension .hex means Intel HEX"),
        (&["-o", &rom, "--chip", "27c16"], "invalid chip '27c16': expected 27c64, 27c128"),
        (&["-o", &rom, "--chip", "27c256", "--size", "64"], "27c256, which has 32 KiB"),
        (&["-o", &rom, "--page", "3"], "invalid page size 3 KiB"),
        (&["-o", &rom, "--bank", "8"], "invalid bank 8: the chip has banks 0 to 7"),
        (&["-o", &rom, "--size", "32", "--program"], "name the chip with --chip"),
        (&["-o", &rom, &empty], "is empty"),
        (&["-o", &rom, &large], "8193 bytes, too many for pages of 8 KiB"),
    ];
    for (arguments, message) in cases {
        rcflash(&[&["image"], arguments].concat()).assert_ends(2, &[message]);
        for name in ["rom.bin", "rom.txt", "rom.hex"] {
            assert!(!folder.path(name).exists(), "{arguments:?}");
        }
    }
    // Intel HEX is detected by its content.
    rcflash(&["image", "-o", &rom, &disguised])
        .assert_ends(0, &["of the board rc2014-classic, 65528 of them fill"]);
}

/// The sum is 123456789 in ASCII added up by hand; the CRC is that of Python's zlib.
#[test]
fn the_checksums_that_programmers_show_are_printed() {
    let folder = Folder::new();
    let [file, rom] = ["in.bin", "rom.bin"].map(|name| folder.name(name));
    std::fs::write(&file, "123456789").expect("it is written");
    let image = ["image", &file, "-o", &rom, "--chip", "27c64", "--fill", "00", "--page", "8"];
    rcflash(&image).assert_ends(0, &["checksum 000001DD (the sum of all bytes), CRC-32 6C3EFBF8"]);
}
