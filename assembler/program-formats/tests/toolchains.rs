//! Reads the files that 17 assemblers and compilers wrote for 11 programs, and compares them with
//! the bytes, symbols and lines that the tools listed themselves (`expect.json`, made by other
//! programs than this one).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use program_formats::{
    DebugInfo, Program, ProgramFormat, SymbolTable, read_debug_info, read_program,
};
use serde_json::Value;
use tdlasm::image::Image;

const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// A program that a tool built.
struct Build {
    folder: PathBuf,
    expect: Value,
}

impl Build {
    fn all() -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/toolchains");
        let folders = |path: &Path| -> BTreeSet<PathBuf> {
            let entries = fs::read_dir(path).expect("a folder");
            entries
                .map(|entry| entry.expect("an entry").path())
                .filter(|path| path.is_dir())
                .collect()
        };
        let all: Vec<Self> = folders(&root)
            .iter()
            .flat_map(|tool| folders(tool))
            .map(|folder| {
                let text = fs::read_to_string(folder.join("expect.json")).expect("expectations");
                Self { folder, expect: serde_json::from_str(&text).expect("JSON") }
            })
            .collect();
        assert_eq!(all.len(), 59);
        all
    }

    fn name(&self) -> String {
        format!("{} {}", self.text("tool"), self.text("program"))
    }

    fn text(&self, key: &str) -> &str {
        self.expect[key].as_str().unwrap_or_default()
    }

    /// Returns names and contents of the files.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(&self.folder).expect("a folder");
        let paths: BTreeSet<PathBuf> = entries
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.is_file())
            .collect();
        let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
        paths.iter().map(|path| (name(path), fs::read(path).expect("a file"))).collect()
    }

    fn segments(&self) -> impl Iterator<Item = &Value> {
        let segments = self.expect["segments"].as_array().expect("segments").iter();
        let is_in_other_file = self.name() == OTHER_FILE.0;
        segments.filter(move |one| !is_in_other_file || number(&one["address"]) != 0x8000)
    }

    /// Returns the programs that are not binaries.
    fn programs(&self) -> Vec<(String, Program)> {
        let read = |(name, content): (String, Vec<u8>)| {
            let program = read_program(&content, &name, None).ok()?;
            (program.format != ProgramFormat::Cmd).then_some((name, program))
        };
        self.files().into_iter().filter_map(read).collect()
    }

    /// Returns what all files say, the most exact ones of lines first.
    fn debug_info(&self) -> DebugInfo {
        // sjasmplus' second program, with pages, has labels of its own.
        let files = self.files().into_iter().filter(|(name, _)| !name.starts_with("paged"));
        let mut infos: Vec<(usize, DebugInfo)> = files
            .filter_map(|(name, content)| {
                let info = read_debug_info(&content, &name).ok()?;
                Some((info.format.contains("listing").into(), info))
            })
            .collect();
        infos.sort_by_key(|(is_listing, info)| (*is_listing, usize::MAX - info.lines.len()));
        let mut all = DebugInfo::default();
        for (_, info) in infos {
            all.merge(info);
        }
        all
    }
}

fn number(value: &Value) -> i64 {
    let text = value.as_str().expect("a number");
    match text.strip_prefix("0x") {
        Some(digits) => match u64::from_str_radix(digits, 16).expect("hexadecimal") {
            value if value > u64::from(u32::MAX) => value.cast_signed(),
            value => i64::from(u32::try_from(value).expect("32 bits").cast_signed()),
        },
        None => text.parse().expect("decimal"),
    }
}

fn checksum(image: &Image, address: u16, length: usize) -> Option<String> {
    let bytes: Option<Vec<u8>> =
        (address..=u16::MAX).take(length).map(|address| image.byte(address)).collect();
    bytes.filter(|bytes| bytes.len() == length).map(|bytes| format!("{:08x}", CRC.checksum(&bytes)))
}

/// Programs without a file that has all bytes at their addresses: z80asm writes no gaps.
const WITHOUT_GAPS: [&str; 1] = ["z80asm banks"];
/// z88dk writes a section with an origin of its own to another file, with its name.
const OTHER_FILE: (&str, &str, u16) = ("z88dk-z80asm banks", "banks_high.bin", 0x8000);

#[test]
fn programs_have_the_bytes_and_the_start_that_their_tools_list() {
    let mut wrong = Vec::new();
    for build in Build::all() {
        let name = build.name();
        let mut programs = build.programs();
        if programs.is_empty() {
            let origin = u16::try_from(number(&build.expect["load"])).expect("an address");
            let binary = |(name, content): &(String, Vec<u8>)| {
                let is_whole = Some(content.len() as u64) == build.expect["length"].as_u64();
                let is_binary = [".bin", ".cim"].iter().any(|end| name.ends_with(end));
                let program = read_program(content, name, Some(origin));
                (is_whole && is_binary).then(|| (name.clone(), program.expect("a binary")))
            };
            programs = build.files().iter().filter_map(binary).collect();
        }
        if programs.is_empty() && !WITHOUT_GAPS.contains(&&*name) {
            wrong.push(format!("{name}: no program"));
        }
        for (file, program) in &programs {
            for segment in build.segments() {
                let address = u16::try_from(number(&segment["address"])).expect("an address");
                let length = segment["length"].as_u64().expect("a length") as usize;
                let found = checksum(&program.image, address, length);
                if found.as_deref() != segment["crc32"].as_str() {
                    wrong.push(format!("{name}: {file}: {address:04X}H: {found:?}, not {segment}"));
                }
            }
            let start = build.expect["start"].as_str().and_then(|start| start.split(' ').next());
            let start = start.map(|start| u16::from_str_radix(&start[2..], 16).expect("a start"));
            let can_have_start = !file.ends_with(".s19") && program.format != ProgramFormat::Binary;
            if can_have_start && program.start != start {
                wrong.push(format!("{name}: {file}: start {:?}, not {start:?}", program.start));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn binaries_have_the_bytes_of_their_files() {
    let mut count = 0;
    for build in Build::all() {
        for (name, content) in build.files() {
            let Some(expected) = build.expect["binaries"].get(&name) else { continue };
            let Ok(program) = read_program(&content, &name, Some(0)) else {
                assert!(content.is_empty(), "{name}");
                continue;
            };
            if program.format == ProgramFormat::Binary {
                let length = expected["length"].as_u64().expect("a length") as usize;
                let found = checksum(&program.image, 0, length);
                assert_eq!(found.as_deref(), expected["crc32"].as_str(), "{} {name}", build.name());
                count += 1;
            }
        }
    }
    assert!(count > 50, "{count}");
    let banks = Build::all().into_iter().find(|build| build.name() == OTHER_FILE.0).expect("banks");
    let segment = &banks.expect["segments"][1];
    let (_, content) =
        banks.files().into_iter().find(|(name, _)| name == OTHER_FILE.1).expect("its file");
    let program = read_program(&content, OTHER_FILE.1, Some(OTHER_FILE.2)).expect("a binary");
    assert_eq!(checksum(&program.image, OTHER_FILE.2, 32).as_deref(), segment["crc32"].as_str());
}

#[test]
fn symbols_have_the_values_that_their_tools_list() {
    let mut wrong = Vec::new();
    for build in Build::all() {
        let name = build.name();
        let info = build.debug_info();
        let mut table = SymbolTable::default();
        table.add_all(&info.symbols);
        for kind in ["symbols", "local_labels", "linker_symbols", "labels_in_listing"] {
            for (symbol, value) in build.expect[kind].as_object().into_iter().flatten() {
                let value = number(value);
                let is_known =
                    info.symbols.iter().any(|one| one.name == *symbol && one.value == value);
                if !is_known {
                    let others: Vec<_> =
                        info.symbols.iter().filter(|one| one.name == *symbol).collect();
                    wrong.push(format!("{name}: {kind}: {symbol} = {value:X}, not {others:?}"));
                }
                let found = table.find(symbol);
                let is_address = (-0x8000..0x1_0000).contains(&value);
                if is_address && found != Ok(Some((value & 0xFFFF) as u16)) {
                    wrong.push(format!("{name}: {kind}: {symbol} is found as {found:?}"));
                }
            }
        }
        for (symbol, value) in build.expect["static"].as_object().into_iter().flatten() {
            let found = table.find(symbol);
            if found != Ok(Some((number(value) & 0xFFFF) as u16)) {
                wrong.push(format!("{name}: static {symbol} is found as {found:?}, not {value}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tools none of whose files has lines, neither by number nor by the text of the source.
const WITHOUT_LINES: [&str; 2] = ["rasm", "pasmo"];

#[test]
fn lines_have_the_addresses_that_their_tools_list() {
    let mut wrong = Vec::new();
    for build in Build::all().iter().filter(|one| !WITHOUT_LINES.contains(&one.text("tool"))) {
        let name = build.name();
        let info = build.debug_info();
        for line in build.expect["lines"].as_array().expect("lines") {
            let address = number(&line["address"]);
            let number = line["line"].as_u64().expect("a line") as u32;
            let file = line["file"].as_str().unwrap_or(build.text("source"));
            let stem = Path::new(file).file_stem().expect("a name").to_string_lossy();
            let is_same = |one: &program_formats::SourceLine| {
                let path = Path::new(&*one.file);
                i64::from(one.address) == address
                    && one.line == number
                    && path.file_stem().is_some_and(|other| other.to_string_lossy() == stem)
            };
            if !info.lines.iter().any(is_same) {
                let others: Vec<_> =
                    info.lines.iter().filter(|one| i64::from(one.address) == address).collect();
                wrong.push(format!("{name}: {file}:{number} at {address:04X}H, not {others:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files that are of no use as symbols, and what the message says.
const REFUSED: [(&str, &str); 14] = [
    ("gas/mul/mul.lst", "relative to sections: give the ELF file"),
    ("gas/mul/mul.o", "not an executable for the Z80"),
    ("gas/mul/mul.coff.o", "an object file: link it first"),
    ("gas/mul/mul.hex", "mul.hex:1: ':10800000"),
    ("sdas/mul/mul.lst", "relative to sections"),
    ("sdas/mul/mul.sym", "relative to areas: give the .noi"),
    ("sdas/mul/mul.rel", "an object of sdas: link it"),
    ("z88dk-z80asm/banks/banks.sym", "relative to sections: give the .map"),
    ("z88dk-z80asm/mul/mul.o", "a binary file"),
    ("zmac/mul/mul.mds", "mul.mds:1: 'b@$8000=$21' is not of a format"),
    ("zmac/mul/mul.cim", "a binary file"),
    ("asl/mul/mul.p", "a binary file"),
    ("asl/mul/mul.obj", "a binary file"),
    ("sjasmplus/mul/mul.exp", "the file has no symbols"),
];

/// Files that are no programs, and what the message says.
const NO_PROGRAMS: [(&str, &str); 12] = [
    ("gas/mul/mul.o", "an object file: link it first"),
    ("gas/mul/mul.coff.o", "an object file: link it first"),
    ("sdas/mul/mul.rel", "an object of sdas: link it with sdcc"),
    ("sdas/mul/mul.s19", "SDCC's sdldz80, which writes a byte 00 before the data"),
    ("z88dk-z80asm/mul/mul.o", "an object of z88dk"),
    ("wla-dx/mul/mul.o", "an object of WLA DX"),
    ("vasm/names/names.vobj", "an object of vasm"),
    ("asl/mul/mul.p", "a code file of asl"),
    ("asl/mul/mul.obj", "a debug file of asl"),
    ("zmac/mul/mul.lst", "text, not a program"),
    ("zmac/mul/mul.cim", "give the origin"),
    ("z88dk-z80asm/mul/mul.bin", "the program has no bytes"),
];

#[test]
fn files_that_are_of_no_use_are_named_as_what_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/toolchains");
    let content = |path: &str| fs::read(root.join(path)).expect("a file");
    let name = |path: &str| path.rsplit('/').next().expect("a name").to_owned();
    for (path, expected) in REFUSED {
        let error = read_debug_info(&content(path), &name(path)).expect_err(path);
        let message = error.in_file(&name(path));
        assert!(message.contains(expected), "{path}: {message}");
    }
    for (path, expected) in NO_PROGRAMS {
        let origin = path.ends_with("mul.bin").then_some(0);
        let error = read_program(&content(path), &name(path), origin).expect_err(path).to_string();
        assert!(error.contains(expected), "{path}: {error}");
    }
}

#[test]
fn functions_of_c_that_begin_without_a_line_have_that_of_their_next_code() {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/toolchains/sdcc-call1/c-sort");
    for name in ["sort.noi", "sort.cdb", "sort.map"] {
        let info = read_debug_info(&fs::read(root.join(name)).expect("a file"), name).expect(name);
        let at = |address: u16| info.lines.iter().find(|line| line.address == address);
        // `_half` is in line 27 of sort.c; its only line record is at 8139H.
        assert_eq!(at(0x8135).map(|line| (&*line.file, line.line)), Some(("sort.c", 27)), "{name}");
        assert_eq!(at(0x9000), None, "a variable");
    }
}

#[test]
fn what_may_be_misread_is_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/toolchains");
    for (path, note) in [
        ("sjasmplus/banks/paged.lab", "the format is a guess"),
        ("rasm/names/names.zx.sym", "is not read: rasm -sz writes variables without line ends"),
        ("sdas/ring/ring.map", "cut names after 9 letters"),
    ] {
        let info = read_debug_info(&fs::read(root.join(path)).expect("a file"), path).expect(path);
        assert!(info.notes.iter().any(|text| text.contains(note)), "{path}: {:?}", info.notes);
    }
}

/// Pseudo-random numbers from a fixed start (Numerical Recipes' linear congruential generator).
struct Random(u32);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % limit.max(1)
    }
}

/// Changes, removes, repeats or inserts a few bytes.
fn damage(content: &[u8], random: &mut Random) -> Vec<u8> {
    const WORDS: [&[u8]; 8] =
        [b"\n", b":", b"0", b"FFFFFFFF", b"\xC3\xA4", b"\xFF", b" ", b"\x7FELF"];
    let mut bytes = content.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        let length = random.below(12).min(bytes.len() - at);
        match random.below(4) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..at + length)),
            2 => drop(bytes.splice(at..at, WORDS[random.below(WORDS.len())].iter().copied())),
            _ if at < bytes.len() => bytes[at] = random.below(256) as u8,
            _ => {}
        }
    }
    bytes
}

#[test]
fn damaged_files_are_read_or_refused() {
    let mut random = Random(1978);
    for build in Build::all() {
        for (name, content) in build.files().iter().filter(|(_, content)| content.len() < 20_000) {
            for _ in 0..4 {
                let bytes = damage(content, &mut random);
                if let Ok(program) = read_program(&bytes, name, Some(0x8000)) {
                    assert!(program.image.bounds().is_some());
                }
                match read_debug_info(&bytes, name) {
                    Ok(info) => {
                        let mut table = SymbolTable::default();
                        table.add_all(&info.symbols);
                        for symbol in &info.symbols {
                            let _ = table.find(&symbol.name);
                        }
                    }
                    Err(error) => assert!(error.in_file(name).starts_with(name.as_str())),
                }
            }
        }
    }
}

#[test]
fn rows_of_a_listing_of_sdas_with_t_states_have_lines() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/toolchains/sdas/mul/mul.rst");
    let info = read_debug_info(&std::fs::read(path).expect("a listing"), "mul.rst").expect("read");
    let line = |address| info.lines.iter().find(|one| one.address == address).map(|one| one.line);
    // `008000 21 00 00 [10] 9`, `008003 55 [ 4] 10`.
    assert_eq!([line(0x8000), line(0x8003), line(0x8001)], [Some(9), Some(10), None]);
}
