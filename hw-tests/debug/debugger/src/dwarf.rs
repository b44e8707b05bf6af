//! Reads the line table of an ELF executable from its DWARF sections.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use object::{Object, ObjectSection};
use tdlasm::link::LinkedLine;
use tdlasm::module::Place;

type Slice<'d> = EndianSlice<'d, LittleEndian>;

/// Returns the lines in ascending order of addresses; none without a valid line table.
pub(super) fn read_lines(elf: &[u8]) -> Vec<LinkedLine> {
    let Ok(file) = object::File::parse(elf) else { return Vec::new() };
    let section = |id: SectionId| -> Result<Cow<'_, [u8]>, gimli::Error> {
        let found = file.section_by_name(id.name());
        Ok(found.and_then(|found| found.data().ok()).map_or(Cow::Borrowed(&[]), Cow::Borrowed))
    };
    let Ok(sections) = gimli::DwarfSections::load(section) else { return Vec::new() };
    let dwarf = sections.borrow(|data| EndianSlice::new(data, LittleEndian));
    let mut lines = Vec::new();
    let mut units = dwarf.units();
    let mut module = 0;
    while let Ok(Some(header)) = units.next() {
        // An invalid unit loses only its own lines.
        let _ = add_unit(&dwarf, header, module, &mut lines);
        module += 1;
    }
    lines.sort_by_key(|line| line.address);
    lines.dedup_by_key(|line| line.address);
    lines
}

fn add_unit(
    dwarf: &Dwarf<Slice<'_>>,
    header: gimli::UnitHeader<Slice<'_>>,
    module: usize,
    lines: &mut Vec<LinkedLine>,
) -> gimli::Result<()> {
    let unit = dwarf.unit(header)?;
    let Some(program) = unit.line_program.clone() else { return Ok(()) };
    let mut rows = program.rows();
    let mut open: Option<LinkedLine> = None;
    // By number.
    let mut names: HashMap<u64, Arc<str>> = HashMap::new();
    while let Some((header, row)) = rows.next_row()? {
        let address = u32::try_from(row.address()).unwrap_or(u32::MAX).min(0x1_0000);
        // A row has the start of its line; the next row is its end.
        if let Some(mut line) = open.take() {
            line.size = address.saturating_sub(line.address.into());
            if line.size > 0 {
                lines.push(line);
            }
        }
        let (Some(file), Some(number)) = (row.file(header), row.line()) else { continue };
        let Ok(address) = u16::try_from(address) else { continue };
        if !row.end_sequence() {
            let file = match names.get(&row.file_index()) {
                Some(known) => Arc::clone(known),
                None => {
                    let name = Arc::from(file_name(dwarf, &unit, header, file)?);
                    Arc::clone(names.entry(row.file_index()).or_insert(name))
                }
            };
            let line = u32::try_from(number.get()).unwrap_or(u32::MAX);
            let place = Place { file, line };
            open = Some(LinkedLine { address, size: 0, module, place, is_code: true });
        }
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
