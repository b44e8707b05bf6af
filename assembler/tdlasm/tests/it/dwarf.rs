//! DWARF of executables: gimli reads the lines of the listings, and so do gdb and GNU objdump
//! (`system`).

#[cfg(feature = "system-tests")]
mod system;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gimli::{EndianSlice, LittleEndian, SectionId};
use object::{Object, ObjectSection};
use tdlasm::link::{Layout, PlacedSection, Program, link};
use tdlasm::module::SectionKind;
use tdlasm::object::{read_object, write_executable, write_object};
use tdlasm::source::{Loader, MemoryLoader};
use tdlasm::{Assembly, Options, assemble};

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

/// Assembles every source of the evaluator that has code or data.
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

/// Returns the lines of the listings: an entry for each statement with bytes. The text of a macro
/// counts for its outermost call.
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
    // A row of the table applies to all statements of its line up to the next row.
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
fn a_symbol_has_the_line_it_is_on_also_after_a_text_of_two_lines() {
    let text = " .ASCII /A\n/[EXT#-EXT]\nLAST: .END\n";
    let module =
        assembled(&MemoryLoader::new().with("a.asm", text), Path::new("a.asm")).modules.remove(0);
    let lines = ["EXT", "LAST"].map(|name| {
        let symbol = module.symbols.iter().find(|symbol| symbol.name == name);
        symbol.and_then(|symbol| symbol.place.as_ref()).map(|place| place.line)
    });
    assert_eq!(lines, [Some(2), Some(3)]);
}

#[test]
fn routines_extend_to_the_next_one_and_data_is_not_a_routine() {
    let routines = read_routines(&write_executable(&small()));
    let expected =
        [("START", (0x8000, 0x8005)), ("INNER", (0x8005, 0x800B)), ("LAST", (0x800B, 0x800C))];
    assert_eq!(routines, expected.map(|(name, range)| (name.to_owned(), range)).into());
}

#[test]
fn lines_go_through_object_files() {
    let loader = MemoryLoader::new().with("outer.asm", MACRO).with("INNER.ASM", INNER);
    let mut module = assembled(&loader, Path::new("outer.asm")).modules.remove(0);
    module.source_order = None;
    assert_eq!(read_object(&write_object(&module), "other").expect("an object"), module);
}
