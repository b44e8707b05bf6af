//! Writes DWARF for executables: the line table and the exported routines, with one unit per
//! module.
//!
//! DWARF 4 with addresses of two bytes, which gdb and binutils accept for the Z80. Files are named
//! as given to the assembler, without a compilation directory, so that the same sources give the
//! same bytes everywhere.

use std::collections::HashMap;

use gimli::write::{
    Address, AttributeValue, Dwarf, EndianVec, FileId, LineProgram, LineString, Range, RangeList,
    Sections, Unit, UnitEntryId,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian, SectionId};

use crate::link::{LinkedLine, LinkedSymbol, Program};
use crate::module::{Binding, Place};

const ENCODING: Encoding = Encoding { format: Format::Dwarf32, version: 4, address_size: 2 };
/// The last address at which a range of two-byte addresses can end.
const LAST_END: u32 = 0xFFFF;

/// Returns the debug sections by name, in order; none if the program has no line table.
pub(super) fn debug_sections(program: &Program) -> Vec<(&'static str, Vec<u8>)> {
    let mut dwarf = Dwarf::new();
    for (module, name) in program.lines.modules().iter().enumerate() {
        let lines: Vec<&LinkedLine> =
            program.lines.iter().filter(|line| line.module == module).collect();
        if !lines.is_empty() {
            add_unit(&mut dwarf, program, name, &lines);
        }
    }
    let mut sections = Sections::new(EndianVec::new(LittleEndian));
    let mut written = Vec::new();
    // Every reference is to an entry of the same unit and every address has two bytes, so writing
    // cannot fail.
    if dwarf.write(&mut sections).is_ok() {
        let _ = sections.for_each(|id: SectionId, data| {
            if !data.slice().is_empty() {
                written.push((id.name(), data.slice().to_vec()));
            }
            Ok::<(), gimli::write::Error>(())
        });
    }
    written
}

fn add_unit(dwarf: &mut Dwarf, program: &Program, name: &str, lines: &[&LinkedLine]) {
    let (line_program, files) = line_program(lines);
    let covered = covered_ranges(lines);
    let mut unit = Unit::new(ENCODING, line_program);
    let ranges = covered.iter().filter_map(|&(begin, end)| range(begin, end)).collect();
    let ranges = unit.ranges.add(RangeList(ranges));
    let producer = concat!("tdlasm ", env!("CARGO_PKG_VERSION"));
    let file = &*lines[0].place.file;
    let mut strings = |text: &str| AttributeValue::StringRef(dwarf.strings.add(without_nul(text)));
    let attributes = [
        (gimli::DW_AT_producer, strings(producer)),
        (gimli::DW_AT_name, strings(file)),
        (gimli::DW_AT_language, AttributeValue::Language(gimli::DW_LANG_Mips_Assembler)),
        // The base of the ranges: 0, as they contain absolute addresses.
        (gimli::DW_AT_low_pc, AttributeValue::Address(Address::Constant(0))),
        (gimli::DW_AT_ranges, AttributeValue::RangeListRef(ranges)),
    ];
    let root = unit.root();
    set(&mut unit, root, attributes);
    for (routine, end) in routines(program, name, lines, &covered) {
        let entry = unit.add(root, gimli::DW_TAG_subprogram);
        let address = |value: u32| AttributeValue::Address(Address::Constant(value.into()));
        let attributes = [
            (gimli::DW_AT_name, strings(&routine.name)),
            (gimli::DW_AT_external, AttributeValue::Flag(true)),
            (gimli::DW_AT_low_pc, address(routine.value.into())),
            (gimli::DW_AT_high_pc, address(end.min(LAST_END))),
        ];
        set(&mut unit, entry, attributes);
        if let Some((place, file)) =
            routine.place.as_ref().and_then(|at| Some((at, *files.get(&*at.file)?)))
        {
            let file = AttributeValue::FileIndex(Some(file));
            let line = AttributeValue::Udata(place.line.into());
            set(&mut unit, entry, [(gimli::DW_AT_decl_file, file), (gimli::DW_AT_decl_line, line)]);
        }
    }
    dwarf.units.add(unit);
}

fn set<const N: usize>(
    unit: &mut Unit,
    entry: UnitEntryId,
    attributes: [(gimli::DwAt, AttributeValue); N],
) {
    for (name, value) in attributes {
        unit.get_mut(entry).set(name, value);
    }
}

/// Returns the line table, with a sequence per range of addresses without a gap, and its files.
fn line_program<'l>(lines: &[&'l LinkedLine]) -> (LineProgram, HashMap<&'l str, FileId>) {
    let folder = LineString::String(b".".to_vec());
    let main = file_name(&lines[0].place);
    let encoding = LineEncoding::default();
    let mut table = LineProgram::new(ENCODING, encoding, folder, None, main, None);
    let here = table.default_directory();
    let mut files = HashMap::new();
    for sequence in lines.chunk_by(|a, b| a.end() == u32::from(b.address)) {
        let first = sequence[0];
        let last = sequence[sequence.len() - 1];
        table.begin_sequence(Some(Address::Constant(first.address.into())));
        for line in sequence {
            let file = *files
                .entry(&*line.place.file)
                .or_insert_with(|| table.add_file(file_name(&line.place), here, None));
            let row = table.row();
            row.address_offset = u64::from(line.address - first.address);
            (row.file, row.line) = (file, line.place.line.into());
            table.generate_row();
        }
        table.end_sequence(u64::from(last.end() - u32::from(first.address)));
    }
    (table, files)
}

/// Returns a file name that is valid in a line table: not empty, and without zeros.
fn file_name(place: &Place) -> LineString {
    let name = without_nul(&place.file);
    LineString::String(if name.is_empty() { b"-".to_vec() } else { name })
}

fn without_nul(text: &str) -> Vec<u8> {
    text.bytes().filter(|byte| *byte != 0).collect()
}

/// Returns the first address and the end of each range without a gap.
fn covered_ranges(lines: &[&LinkedLine]) -> Vec<(u32, u32)> {
    let joined = lines.chunk_by(|a, b| a.end() == u32::from(b.address));
    joined.map(|chunk| (chunk[0].address.into(), chunk[chunk.len() - 1].end())).collect()
}

fn range(begin: u32, end: u32) -> Option<Range> {
    let end = end.min(LAST_END);
    let (begin, length) = (Address::Constant(begin.into()), u64::from(end.checked_sub(begin)?));
    (length > 0).then_some(Range::StartLength { begin, length })
}

/// Returns the exported routines of a module; each ends at the next or with the module.
fn routines<'p>(
    program: &'p Program,
    module: &str,
    lines: &[&LinkedLine],
    ranges: &[(u32, u32)],
) -> Vec<(&'p LinkedSymbol, u32)> {
    let starts_code = |at: u16| {
        lines.binary_search_by_key(&at, |line| line.address).is_ok_and(|found| lines[found].is_code)
    };
    let mut labels: Vec<&LinkedSymbol> = (program.symbols.iter())
        .filter(|one| one.module.as_deref() == Some(module) && one.binding != Binding::Local)
        .filter(|one| one.is_address && starts_code(one.value))
        .collect();
    labels.sort_by_key(|label| label.value);
    let next = |at: usize| {
        let value = labels[at].value;
        labels[at..].iter().map(|label| label.value).find(|other| *other > value)
    };
    let end = |at: usize| {
        let start = u32::from(labels[at].value);
        let (_, end) = ranges.iter().find(|(first, end)| (*first..*end).contains(&start))?;
        Some(next(at).map_or(*end, |next| (*end).min(next.into())))
    };
    labels.iter().enumerate().filter_map(|(at, label)| Some((*label, end(at)?))).collect()
}
