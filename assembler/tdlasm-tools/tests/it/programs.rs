//! Whole programs: two in the style of 1978, compared with the output of another assembler, and
//! long generated ones.
//!
//! `programs/NAME.asm` is the source; `NAME.z80` is the same program in Zilog's notation, written
//! by hand from the manual's rules; `NAME.hex` is what `pasmo --hex NAME.z80 NAME.hex` makes of
//! that.

#[cfg(feature = "system-tests")]
mod system;

use crate::generator;

use std::path::{Path, PathBuf};

use tdlasm::link::{Layout, Program, link};
use tdlasm::module::Module;
use tdlasm::object::{read_object, write_object};
use tdlasm::source::{DiskLoader, MemoryLoader};
use tdlasm::{Assembly, Options, assemble};
use tdlasm_tools::fmt;

/// Addresses for the sections of `compare.asm`; `compare.z80` has the same.
const LAYOUT: &str = r#"
    region = [
        { name = "code", start = 0x100, size = 0x200, fill = 0 },
        { name = "data", start = 0x300, size = 0x100 },
        { name = "space", start = 0x400, size = 0x400 },
    ]
    place = [
        { section = ".PROG.", region = "code" },
        { section = ".DATA.", region = "data" },
        { section = ".BLNK.", region = "space" },
    ]
"#;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn assembled(name: &str) -> Assembly {
    let options = Options { defines: vec![("RAMK".into(), 48)], ..Options::default() };
    let assembly = assemble(&DiskLoader, &[folder().join(name)], &options);
    let assembly = assembly.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(assembly.diagnostics.is_empty(), "{name}: {:?}", assembly.diagnostics);
    assembly
}

fn linked(modules: &[Module]) -> Program {
    let layout = Layout::parse(LAYOUT).expect("the layout is right");
    link(modules, &layout).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The bytes of a file in Intel HEX (Intel, "Hexadecimal Object File Format Specification", 1988),
/// from its first address on; its records must follow each other.
fn golden(name: &str) -> (u16, Vec<u8>) {
    let mut start = None;
    let mut bytes = Vec::new();
    for line in read(name).lines() {
        let digits = line.trim().strip_prefix(':').expect("a record");
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("two digits");
        let record: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
        let (&[count, high, low, kind], data) = record.split_first_chunk().expect("a header");
        if kind == 0 {
            let address = u16::from_be_bytes([high, low]);
            let start = *start.get_or_insert(address);
            assert_eq!(usize::from(address - start), bytes.len(), "{name}: {line}");
            bytes.extend(&data[..count.into()]);
        }
    }
    (start.expect("a record of data"), bytes)
}

/// Asserts that a program equals the golden file, naming the first difference.
fn check(program: &Program, name: &str) {
    let (start, wanted) = golden(name);
    assert_eq!(program.image.bounds().map(|(first, _)| first), Some(start));
    same(&program.image.flat(0), &wanted, |at| {
        format!("{name} at {:04X}H", usize::from(start) + at)
    });
}

fn same(found: &[u8], wanted: &[u8], place: impl Fn(usize) -> String) {
    if let Some(at) = found.iter().zip(wanted).position(|(one, other)| one != other) {
        panic!("{}: {:02X}H and not {:02X}H", place(at), found[at], wanted[at]);
    }
    assert_eq!(found.len(), wanted.len());
}

#[test]
fn a_rom_monitor_is_what_another_assembler_makes_of_it() {
    let assembly = assembled("monitor.asm");
    let program = linked(&assembly.modules);
    check(&program, "monitor.hex");
    assert_eq!(program.entry, Some(0xF000));
    assert_eq!(assembly.messages, ["LANTERN MONITOR"]);
}

#[test]
fn a_program_of_three_modules_is_what_another_assembler_makes_of_it() {
    let modules = assembled("compare.asm").modules;
    assert_eq!(modules.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), MODULES);
    let program = linked(&modules);
    check(&program, "compare.hex");
    assert_eq!(program.entry, Some(0x100));
    // 64 bytes of stack, two blocks of 165 bytes, then the shared area.
    assert_eq!(program.symbol("SCRATC"), Some(0x400 + 64 + 330));
}

const MODULES: [&str; 3] = ["COMPAR", "FILES", "OUTPUT"];

#[test]
fn the_modules_link_to_the_same_program_from_object_files() {
    let modules = assembled("compare.asm").modules;
    let through = |module| read_object(&write_object(module), "").expect("our own object");
    check(&linked(&modules.iter().map(through).collect::<Vec<_>>()), "compare.hex");
}

#[test]
fn generated_programs_have_the_bytes_of_their_generator() {
    for (seed, lines) in [(1978, 3_000), (1979, 10_000), (1980, 30_000)] {
        let generated = generator::program(seed, lines);
        assert!((lines - 100..lines + 100).contains(&generated.source.lines().count()));
        let loader = MemoryLoader::new().with("long.asm", generated.source.clone());
        // Instructions and expressions at random, after jumps and in conditionals too.
        let mut options = Options::default();
        for level in ["no-unreachable", "no-shift-sign", "no-zilog-jump"] {
            options.lint_levels.add(level).expect("a warning");
        }
        let assembly = assemble(&loader, &["long.asm".into()], &options);
        let assembly = assembly.unwrap_or_else(|failure| panic!("{failure}"));
        assert!(assembly.diagnostics.is_empty(), "{:?}", assembly.diagnostics);
        let program = linked(&assembly.modules);
        for (name, value) in &generated.labels {
            assert_eq!(program.symbol(name), Some(*value), "{name}");
        }
        same(&program.image.flat(0), &generated.image, |at| {
            let line = generated.lines.partition_point(|start| *start <= at);
            let text = generated.source.lines().nth(line - 1).unwrap_or_default();
            format!("seed {seed}, line {line} ({text})")
        });
    }
}

/// Adds blanks wherever the language allows any.
fn untidy(text: &str) -> String {
    let blanks = ["", "\t", "   ", " \t ", "         ", " ", "\t\t"];
    let mut blank = blanks.iter().cycle();
    let mut next = || blank.next().expect("a cycle has no end");
    let lines = text.lines().map(|line| match line.split_once(' ') {
        // Lines within a text are not changed.
        Some((head, rest)) if head.is_empty() || head.ends_with(':') => {
            format!("{}{head} {}{rest}\n", next(), next())
        }
        _ => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn generated_programs_are_unchanged_by_formatting() {
    let format = |text: &[u8]| {
        let options = fmt::Options::default();
        fmt::format(&DiskLoader, "long.asm".as_ref(), text, &options).expect("no blanks count")
    };
    for seed in 0..20 {
        let generated = generator::program(seed, 1_000);
        let once = format(untidy(&generated.source).as_bytes());
        assert_ne!(once, generated.source.as_bytes());
        let loader = MemoryLoader::new().with("long.asm", once.clone());
        let assembly = assemble(&loader, &["long.asm".into()], &Options::default());
        let assembly = assembly.unwrap_or_else(|failure| panic!("{failure}"));
        let image = linked(&assembly.modules).image.flat(0);
        same(&image, &generated.image, |_| format!("seed {seed}"));
        assert_eq!(format(&once), once);
    }
}
