//! Programs in Zilog's notation, as other assemblers take them, give the bytes that these made.

use std::fs;
use std::path::{Path, PathBuf};

use tdlasm::diag::render;
use tdlasm::image::{Image, parse_intel_hex};
use tdlasm::link::{Layout, link};
use tdlasm::source::DiskLoader;
use tdlasm::{Notation, Options, asm};
use tdlasm_tools::fmt::format;

use crate::generator::random::Random;
use crate::zilog_forms::instructions;

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

fn zilog() -> Options {
    Options { notation: Notation::Zilog, ..Options::default() }.for_source("a.z80".as_ref())
}

/// Lays a file out, as it is and untidied. Its bytes stay the same, and a second time its text, too.
fn check_layout(file: &Path) {
    let before = image(file.to_owned()).flat(0);
    let text = fs::read_to_string(file).expect("a source");
    for text in [untidy(&text), text] {
        let layout = |text: &[u8]| format(&DiskLoader, file, text, &zilog());
        let once = layout(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(layout(&once).as_ref() == Ok(&once), "{text}");
        fs::write(file, once).expect("to write it");
        assert!(image(file.to_owned()).flat(0) == before, "{text}");
    }
}

/// Moves what begins with blanks, and widens the blank that is first behind a word.
fn untidy(text: &str) -> String {
    let mut blanks = [" ", "\t", "   ", " \t ", "         "].iter().cycle();
    let mut line = |line: &str| {
        let mut blank = || blanks.next().expect("a cycle has no end");
        let indented = line.starts_with([' ', '\t']);
        let code = line.trim_start();
        let (head, rest) = code.split_once([' ', '\t']).unwrap_or((code, ""));
        format!("{}{head}{}{}\n", if indented { blank() } else { "" }, blank(), rest.trim_start())
    };
    text.lines().map(&mut line).collect()
}

/// Assembles and links a file, and fails with the messages if there are any.
fn image(file: PathBuf) -> Image {
    let assembly = asm::run(&DiskLoader, &[file], &zilog());
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
            let file = folder.path().join("a.asm");
            let image = image(file.clone());
            check_layout(&file);
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

/// Lines in which `@` is an instruction, `#` a number of their own, and `_` some blanks.
const LINES: [&str; 12] = [
    "_@",
    "L#_@_;_it's (\"",
    "L#:_@;c",
    "L#::@",
    "L#:_NOP\n.p#:_@\n.q#_DJNZ_.p#",
    "V#_EQU_#_;_c",
    "V#:_EQU_#",
    "V#_=_#\nV#=#+1",
    "_DB_\"a;  b\",_'it''s;',#_;_c",
    "_IF_1_;_c\n_@\n_ELSE\nnot_read_' (\n_ENDIF",
    "M#_MACRO_P1,Q1\n_J&P1_$+3\nX#&P1_@\n_&Q1_NZ,5_;_c\nY#&P1&Q1:NOP\n_ENDM\n_M#_R,JP",
    "_REPT_2\n_@\n_ENDM\n_IRP_R,<B,_C>\n_LD_R,#&255\n_ENDM",
];

/// Returns a program with these instructions and blanks of all kinds.
fn generated(seed: u64, instructions: &[String]) -> String {
    let mut random = Random::new(seed);
    let mut text = "\tORG 100H\n".to_owned();
    for number in 0..60 {
        for sign in random.pick(&LINES).chars() {
            match sign {
                '@' => text.push_str(&instructions[random.below(instructions.len())]),
                '#' => text.push_str(&number.to_string()),
                '_' => text.push_str(random.pick(&[" ", "\t", "   ", " \t ", "         "])),
                other => text.push(other),
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn programs_in_zilogs_notation_have_the_same_bytes_in_another_layout() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.asm");
    let long = ["monitor", "compare"]
        .map(|name| fs::read(path(&format!("tests/programs/{name}.z80"))).expect("a source"));
    let forms: Vec<String> = instructions().into_iter().map(|one| one.text).collect();
    let generated = (1..=50).map(|seed| generated(seed, &forms).into_bytes());
    let forms = format!("\tORG 100H\n\t{}\n", forms.join("\n\t")).into_bytes();
    for text in long.into_iter().chain(generated).chain([forms]) {
        fs::write(&file, text).expect("to write it");
        check_layout(&file);
    }
}
