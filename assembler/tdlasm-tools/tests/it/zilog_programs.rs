//! Programs in Zilog's notation, as other assemblers take them, give the bytes that these made.

use std::fs;
use std::path::{Path, PathBuf};

use tdlasm::diag::render;
use tdlasm::image::{Image, parse_intel_hex};
use tdlasm::link::{Layout, link};
use tdlasm::source::DiskLoader;
use tdlasm::{Notation, Options, asm};

/// The programs of which outputs are recorded, by assembler: lines that only describe its memory, or
/// name modules, are left out.
const RECORDED: [(&str, &[&str], &[&str]); 7] = [
    ("pasmo", &["banks", "text"], &[]),
    ("z80asm", &["ring", "text"], &[]),
    ("sjasmplus", &["mul", "text"], &["DEVICE", "SLDOPT"]),
    ("zmac", &["mul", "text"], &[]),
    ("rasm", &["mul", "ring"], &["RUN"]),
    ("vasm", &["banks"], &["dsect", "dend"]),
    ("z88dk-z80asm", &["ring", "text"], &["MODULE", "SECTION"]),
];

fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// Assembles and links a file, and fails with the messages if there are any.
fn image(file: PathBuf) -> Image {
    let assembly = asm::run(
        &DiskLoader,
        &[file],
        &Options { notation: Notation::Zilog, ..Options::default() },
    );
    let messages = render::short(&assembly.diagnostics, &assembly.sources);
    assert!(!assembly.has_errors(), "{messages}");
    link(&assembly.modules, &Layout::flat(0)).expect("a program that links").image
}

fn crc32(bytes: &[u8]) -> String {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    format!("{:08x}", crc.sum())
}

/// Compares an image with the recorded segments of a program.
fn check_segments(image: &Image, expected: &Path, name: &str) {
    let text = fs::read_to_string(expected).expect("the record");
    let expected: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let (first, _) = image.bounds().expect("bytes");
    let mut bytes = image.flat(0);
    // Some write zeros for the room that DS reserves at the end.
    bytes.resize(0x10000 - usize::from(first), 0);
    let segments = expected["segments"].as_array().expect("segments");
    assert!(!segments.is_empty(), "{name}");
    for segment in segments {
        let address = segment["address"].as_str().expect("an address");
        let address = u16::from_str_radix(&address[2..], 16).expect("a number");
        let length = segment["length"].as_u64().expect("a length") as usize;
        let start = usize::from(address - first);
        assert_eq!(segment["crc32"], crc32(&bytes[start..start + length]), "{name}, {address:X}H");
    }
}

#[test]
fn recorded_programs_of_other_assemblers_have_their_bytes() {
    for (tool, programs, left_out) in RECORDED {
        for program in programs {
            let folder = tempfile::tempdir().expect("a folder");
            let sources = path("tests/data/zilog").join(tool);
            let source = sources.join(format!("{program}.asm"));
            let text = fs::read_to_string(source).expect("a source");
            let is_kept = |line: &&str| {
                let word = line.split_whitespace().next();
                !word.is_some_and(|word| left_out.contains(&word))
            };
            let text: Vec<&str> = text.lines().filter(is_kept).collect();
            fs::write(folder.path().join("a.asm"), text.join("\n")).expect("to write it");
            let included = sources.join("ascii.inc");
            if included.exists() {
                fs::copy(included, folder.path().join("ascii.inc")).expect("to copy it");
            }
            let image = image(folder.path().join("a.asm"));
            let recorded = "../program-formats/tests/data/toolchains";
            let expected = path(recorded).join(tool).join(program).join("expect.json");
            check_segments(&image, &expected, &format!("{tool}/{program}"));
        }
    }
}

#[test]
fn long_programs_have_the_bytes_that_pasmo_made() {
    for name in ["monitor", "compare"] {
        let found = image(path(&format!("tests/programs/{name}.z80")));
        let hex = fs::read_to_string(path(&format!("tests/programs/{name}.hex"))).expect("a file");
        let expected = parse_intel_hex(&hex).expect("Intel HEX").0;
        assert_eq!(found.bounds(), expected.bounds(), "{name}");
        assert!(found.flat(0) == expected.flat(0), "{name}");
    }
}
