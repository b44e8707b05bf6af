//! DWARF of executables: what gimli reads back agrees with the listings, and gdb and GNU objdump
//! say the same.
//!
//! gdb is Debian's `gdb-multiarch`, which knows no Z80 but reads line tables. Where it or the
//! folder in `Z80_ELF_BIN` is missing, its test says so and shows nothing, except where `CI` is
//! set: there it fails.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use gimli::{EndianSlice, LittleEndian, SectionId};
use object::{Object, ObjectSection};
use tdlasm::link::{Layout, PlacedSection, Program, link};
use tdlasm::module::SectionKind;
use tdlasm::object::{read_object, write_executable, write_object};
use tdlasm::source::{Loader, MemoryLoader};
use tdlasm::{Assembly, Options, assemble};
use tempfile::TempDir;

/// Addresses for the evaluator's sections in these tests.
const LAYOUT: &str = "
    [[region]]
    name = \"memory\"
    start = 0x8000
    size = 0x8000
    [[place]]
    section = \".PROG.\"
    region = \"memory\"
    [[place]]
    section = \".DATA.\"
    region = \"memory\"
    align = 256
    [[place]]
    section = \".BLNK.\"
    region = \"memory\"
";

const MACRO: &str = "
\t.DEFINE TWICE[X] = [MVI A,X
\tOUT X
]
START::\tNOP
\tTWICE 5
\t.INSERT INNER.ASM
LAST::\tRET
\t.BLKB 4
TABLE::\t.BYTE 1,2
\t.END
";
const INNER: &str = "; a comment\nINNER::\tINR A\n\tTWICE 6\n\tRET\n";

/// Each address at which a line's bytes begin, with file and line.
type Lines = BTreeMap<u64, (String, u64)>;

fn with_lines() -> Options {
    Options { lines: true, listing: true, ..Options::default() }
}

fn assembled(loader: &dyn Loader, file: &Path) -> Assembly {
    assemble(loader, &[file.to_owned()], &with_lines()).unwrap_or_else(|error| panic!("{error}"))
}

/// Every source of the evaluator that makes code or data.
fn evaluator() -> Vec<Assembly> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sargon-src");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the evaluator's folder")
        .map(|entry| entry.expect("an entry").file_name().into())
        .filter(|path: &PathBuf| path.extension().is_some_and(|extension| extension == "asm"))
        .collect();
    files.sort();
    let text = |file: &PathBuf| std::fs::read(folder.join(file)).expect("a source");
    let loader = files.iter().fold(MemoryLoader::new(), |all, file| all.with(file, text(file)));
    let inserted = ["sargon.asm", "names.asm"];
    // The variants of the fast evaluator export ATTACK and XCHNG once more.
    let fast = ["spread.asm", "xchfst.asm"];
    files
        .retain(|file| !inserted.iter().chain(&fast).any(|name| file.as_path() == Path::new(name)));
    assert!(files.len() > 8, "{files:?}");
    files.iter().map(|file| assembled(&loader, file)).collect()
}

fn linked(assemblies: &[Assembly]) -> Program {
    let modules: Vec<_> = assemblies.iter().flat_map(|one| one.modules.clone()).collect();
    link(&modules, &Layout::parse(LAYOUT).expect("a layout")).expect("a program")
}

fn small() -> Program {
    let loader = MemoryLoader::new().with("outer.asm", MACRO).with("INNER.ASM", INNER);
    linked(&[assembled(&loader, Path::new("outer.asm"))])
}

/// Returns what the listings say: an entry for each statement that made bytes. Text of a macro
/// follows the call that it stands for, which is in no macro itself.
fn listed(assemblies: &[Assembly], program: &Program) -> Lines {
    let mut lines = Lines::new();
    for assembly in assemblies {
        let name = &assembly.modules[0].name;
        let mut place = (String::new(), 0);
        for line in assembly.listing.lines() {
            if line.depth == 0 {
                let at = assembly.sources.location(line.span.start);
                place = (at.source.name.to_string(), at.line.into());
            }
            if !line.bytes.is_empty() {
                let kinds = [SectionKind::Absolute, SectionKind::Prog, SectionKind::Data];
                let kind = kinds[line.address.base as usize];
                let is_it = |one: &&PlacedSection| one.module == *name && one.kind == kind;
                let section = program.sections.iter().find(is_it).expect("a placed section");
                lines.insert((section.address + line.address.number).into(), place.clone());
            }
        }
    }
    lines
}

/// The DWARF of an executable, as gimli reads it.
fn with_dwarf<T>(
    elf: &[u8],
    look: impl FnOnce(&gimli::Dwarf<EndianSlice<'_, LittleEndian>>) -> T,
) -> T {
    let file = object::File::parse(elf).expect("an ELF file");
    let section = |id: SectionId| -> Result<Vec<u8>, gimli::Error> {
        let found = file.section_by_name(id.name()).and_then(|one| one.data().ok());
        Ok(found.unwrap_or_default().to_vec())
    };
    let sections = gimli::DwarfSections::load(section).expect("the sections");
    look(&sections.borrow(|data| EndianSlice::new(data, LittleEndian)))
}

/// The rows of all line tables, and the addresses at which sequences end.
fn read_lines(elf: &[u8]) -> (Lines, Vec<u64>) {
    with_dwarf(elf, |dwarf| {
        let mut lines = Lines::new();
        let mut ends = Vec::new();
        let mut units = dwarf.units();
        while let Some(header) = units.next().expect("a unit") {
            assert_eq!((header.version(), header.address_size()), (4, 2));
            let unit = dwarf.unit(header).expect("a unit");
            let program = unit.line_program.clone().expect("a line table");
            let mut rows = program.rows();
            while let Some((header, row)) = rows.next_row().expect("a row") {
                if row.end_sequence() {
                    ends.push(row.address());
                    continue;
                }
                let file = row.file(header).expect("a file").path_name();
                let name =
                    dwarf.attr_string(&unit, file).expect("a name").to_string_lossy().into_owned();
                lines.insert(row.address(), (name, row.line().map_or(0, u64::from)));
            }
        }
        (lines, ends)
    })
}

/// The routines by name, each with its first address and its end.
fn read_routines(elf: &[u8]) -> BTreeMap<String, (u64, u64)> {
    with_dwarf(elf, |dwarf| {
        let mut routines = BTreeMap::new();
        let mut units = dwarf.units();
        while let Some(header) = units.next().expect("a unit") {
            let unit = dwarf.unit(header).expect("a unit");
            let mut entries = unit.entries();
            while let Some(entry) = entries.next_dfs().expect("an entry") {
                if entry.tag() != gimli::DW_TAG_subprogram {
                    continue;
                }
                let name = entry.attr_value(gimli::DW_AT_name).expect("a name");
                let name =
                    dwarf.attr_string(&unit, name).expect("a name").to_string_lossy().into_owned();
                let address = |at| match entry.attr_value(at) {
                    Some(gimli::AttributeValue::Addr(value)) => value,
                    other => panic!("{name}: {other:?}"),
                };
                let range = (address(gimli::DW_AT_low_pc), address(gimli::DW_AT_high_pc));
                routines.insert(name, range);
            }
        }
        routines
    })
}

fn at(address: u64, file: &str, line: u64) -> (u64, (String, u64)) {
    (address, (file.to_owned(), line))
}

#[test]
fn every_statement_of_the_evaluator_is_where_its_listing_has_it() {
    let assemblies = evaluator();
    let program = linked(&assemblies);
    let (lines, _) = read_lines(&write_executable(&program));
    let listed = listed(&assemblies, &program);
    assert!(listed.len() > 600, "{} statements", listed.len());
    // A row of the table stands for all statements that its line made up to the next row.
    for (address, place) in &listed {
        assert_eq!(
            lines.range(..=address).next_back().map(|row| row.1),
            Some(place),
            "{address:X}"
        );
    }
    let starts = |row: &u64| listed.contains_key(row);
    assert_eq!(lines.keys().filter(|row| !starts(row)).count(), 0);
}

#[test]
fn macros_have_the_line_of_their_call_and_inserted_files_their_own() {
    let (lines, ends) = read_lines(&write_executable(&small()));
    let expected = [
        at(0x8000, "outer.asm", 5),
        at(0x8001, "outer.asm", 6),
        at(0x8005, "INNER.ASM", 2),
        at(0x8006, "INNER.ASM", 3),
        at(0x800A, "INNER.ASM", 4),
        at(0x800B, "outer.asm", 8),
        at(0x8010, "outer.asm", 10),
    ];
    assert_eq!(lines, Lines::from(expected));
    assert_eq!(ends, [0x800C, 0x8012], "reserved bytes belong to no line");
}

#[test]
fn routines_reach_to_the_next_one_and_data_is_none() {
    let routines = read_routines(&write_executable(&small()));
    let expected =
        [("START", (0x8000, 0x8005)), ("INNER", (0x8005, 0x800B)), ("LAST", (0x800B, 0x800C))];
    assert_eq!(routines, expected.map(|(name, range)| (name.to_owned(), range)).into());
}

#[test]
fn lines_go_through_object_files() {
    let loader = MemoryLoader::new().with("outer.asm", MACRO).with("INNER.ASM", INNER);
    let mut module = assembled(&loader, Path::new("outer.asm")).modules.remove(0);
    module.assembled = None;
    assert_eq!(read_object(&write_object(&module), "other").expect("an object"), module);
}

/// A folder with an executable and its sources, for a program that is not ours.
fn folder_for(program: &Program) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, content) in [
        ("outer.asm", MACRO.as_bytes()),
        ("INNER.ASM", INNER.as_bytes()),
        ("small.elf", &write_executable(program)),
    ] {
        std::fs::write(folder.path().join(name), content).expect("a file");
    }
    folder
}

/// Returns what a program prints, or `None` where it is not installed.
fn asked(command: &mut Command, hint: &str) -> Option<String> {
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{command:?}: {said}");
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{command:?}: {error}");
            let _ = writeln!(std::io::stderr(), "{command:?}: {error}; {hint}");
            None
        }
    }
}

#[test]
fn gdb_knows_the_lines_of_tdl_source() {
    let folder = folder_for(&small());
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args([
        "-nx",
        "-batch",
        "small.elf",
        "-ex",
        "info line outer.asm:6",
        "-ex",
        "list INNER,INNER",
    ]);
    gdb.args(["-ex", "info line *0x8007", "-ex", "info symbol LAST"]).current_dir(folder.path());
    let Some(said) = asked(&mut gdb, "nothing tested; .ci/packages installs it") else { return };
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "Line 6 of \"outer.asm\" starts at address 0x8001 <START+1> and ends at 0x8005 \
             <INNER>.",
            "2\tINNER::\tINR A",
            "Line 3 of \"INNER.ASM\" starts at address 0x8006 <INNER+1> and ends at 0x800a \
             <INNER+5>.",
            "LAST in section .mem.8000",
        ]
    );
}

#[test]
fn objdump_decodes_the_same_lines() {
    let program = linked(&evaluator());
    let elf = write_executable(&program);
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("evaluator.elf"), &elf).expect("a file");
    let bin = std::env::var_os("Z80_ELF_BIN").unwrap_or_else(|| "Z80_ELF_BIN is not set".into());
    let mut objdump = Command::new(Path::new(&bin).join("objdump"));
    objdump.args(["--dwarf=decodedline", "evaluator.elf"]).current_dir(folder.path());
    let hint = "nothing tested; export Z80_ELF_BIN=$(.ci/binutils-z80-elf)";
    let Some(said) = asked(&mut objdump, hint) else { return };
    let mut found = Lines::new();
    for row in said.lines() {
        if let [file, line, address, ..] = row.split_whitespace().collect::<Vec<_>>()[..]
            && let (Ok(line), Ok(address)) = (line.parse(), parse_address(address))
        {
            found.insert(address, (file.to_owned(), line));
        }
    }
    assert_eq!(found, read_lines(&elf).0);
}

/// An address as objdump prints it: 0 without its `0x`.
fn parse_address(text: &str) -> Result<u64, std::num::ParseIntError> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16)
}
