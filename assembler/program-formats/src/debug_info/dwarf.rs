//! Reads symbols, sections and the line table of an ELF executable.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolSection, elf};
use tdlasm::object::{ObjectError, read_executable};

use super::{Area, DebugInfo, SourceLine, Symbol, SymbolKind};

type Slice<'d> = EndianSlice<'d, LittleEndian>;

/// Reads an executable.
///
/// # Errors
/// Returns [`ObjectError`] if the file is not an ELF executable for the Z80, or is damaged. A damaged
/// line table only loses lines.
pub(crate) fn read_elf(data: &[u8]) -> Result<DebugInfo, ObjectError> {
    read_executable(data)?;
    let file = object::File::parse(data)?;
    Ok(DebugInfo {
        format: "an ELF executable",
        symbols: file.symbols().filter_map(|symbol| self::symbol(&symbol)).collect(),
        lines: read_lines(&file),
        areas: file.sections().filter_map(|section| area(&section)).collect(),
        ..DebugInfo::default()
    })
}

fn symbol<'d>(symbol: &impl ObjectSymbol<'d>) -> Option<Symbol> {
    let kind = match symbol.section() {
        SymbolSection::Section(_) => SymbolKind::Address,
        SymbolSection::Absolute => SymbolKind::Constant,
        _ => return None,
    };
    if matches!(symbol.kind(), object::SymbolKind::Section | object::SymbolKind::File) {
        return None;
    }
    // Negative numbers have 32 bits.
    let value = u32::try_from(symbol.address()).ok()?.cast_signed();
    Some(Symbol {
        name: symbol.name().ok().filter(|name| !name.is_empty())?.to_owned(),
        value: value.into(),
        kind,
        exported: symbol.is_global(),
        page: None,
    })
}

/// Returns a section that the program may write, or that has no bytes.
fn area<'d>(section: &impl ObjectSection<'d>) -> Option<Area> {
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return None };
    let is_memory = sh_flags.contains(elf::SHF_ALLOC) && sh_flags.contains(elf::SHF_WRITE);
    let start = u32::try_from(section.address()).ok()?;
    let end = start.checked_add(u32::try_from(section.size()).ok()?)?;
    let name = section.name().unwrap_or_default().to_owned();
    let is_within = start < end && end <= 0x1_0000;
    (is_memory && is_within).then_some(Area { name, addresses: start..end, is_writable: true })
}

fn read_lines(file: &object::File<'_>) -> Vec<SourceLine> {
    let section = |id: SectionId| -> Result<Cow<'_, [u8]>, gimli::Error> {
        let found = file.section_by_name(id.name());
        Ok(found.and_then(|found| found.data().ok()).map_or(Cow::Borrowed(&[]), Cow::Borrowed))
    };
    let Ok(sections) = gimli::DwarfSections::load(section) else { return Vec::new() };
    let dwarf = sections.borrow(|data| EndianSlice::new(data, LittleEndian));
    let mut lines = Vec::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        // An invalid unit loses only its own lines.
        let _ = add_unit(&dwarf, header, &mut lines);
    }
    lines
}

fn add_unit(
    dwarf: &Dwarf<Slice<'_>>,
    header: gimli::UnitHeader<Slice<'_>>,
    lines: &mut Vec<SourceLine>,
) -> gimli::Result<()> {
    let unit = dwarf.unit(header)?;
    let Some(program) = unit.line_program.clone() else { return Ok(()) };
    let mut rows = program.rows();
    // By number.
    let mut names: HashMap<u64, Arc<str>> = HashMap::new();
    while let Some((header, row)) = rows.next_row()? {
        let Ok(address) = u16::try_from(row.address()) else { continue };
        if row.end_sequence() {
            lines.push(SourceLine {
                address,
                file: Arc::from(""),
                line: 0,
                page: None,
                is_data: false,
            });
            continue;
        }
        let (Some(file), Some(line)) = (row.file(header), row.line()) else { continue };
        let Ok(line) = u32::try_from(line.get()) else { continue };
        let file = match names.get(&row.file_index()) {
            Some(known) => Arc::clone(known),
            None => {
                let name = Arc::from(file_name(dwarf, &unit, header, file)?);
                Arc::clone(names.entry(row.file_index()).or_insert(name))
            }
        };
        lines.push(SourceLine { address, file, line, page: None, is_data: false });
    }
    Ok(())
}

/// Returns the path of a file, as the compiler had it. A folder is relative to that of the
/// compilation; where that is relative, too, it is the current one.
fn file_name(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &gimli::Unit<Slice<'_>>,
    header: &gimli::LineProgramHeader<Slice<'_>>,
    file: &gimli::FileEntry<Slice<'_>>,
) -> gimli::Result<String> {
    let name = dwarf.attr_string(unit, file.path_name())?.to_string_lossy().into_owned();
    let folder = match file.directory(header).filter(|_| file.directory_index() != 0) {
        Some(folder) => dwarf.attr_string(unit, folder)?.to_string_lossy().into_owned(),
        None => String::new(),
    };
    let compiled_in = unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned());
    let parts = [compiled_in.unwrap_or_default(), folder, name];
    let path =
        parts.iter().filter(|part| *part != ".").fold(String::new(), |path, part| {
            match part.starts_with('/') || path.is_empty() {
                true => part.clone(),
                false if part.is_empty() => path,
                false => format!("{path}/{part}"),
            }
        });
    Ok(path)
}
