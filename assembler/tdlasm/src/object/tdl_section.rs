//! The content of the section `.tdl`: what ELF has no room for.
//!
//! A byte for the format, then [`TdlSection`] as encoded by `postcard`: the fields in their order,
//! numbers in as many bytes as they need, texts and lists after their length.

#![deny(clippy::cast_possible_truncation)]

use std::sync::Arc;

use crc::{CRC_32_ISO_HDLC, Crc};
use serde::{Deserialize, Serialize};

use crate::module::{
    Base, Binding, FIRST_EXTERNAL, LineRow, Lines, Module, Place, Section, SectionKind,
    SymbolValue, Target,
};

const FORMAT: u8 = 3;

/// What a reader needs in addition to the ELF file to restore the module. Sections have their
/// numbers as relocation bases.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TdlSection {
    /// The [`names_check`] of the ELF symbol table, to detect changes.
    #[serde(with = "postcard::fixint::le")]
    pub(super) check: u32,
    pub(super) name: String,
    /// The written ranges of `.text`, `.data` and `.bss`: offset and length.
    runs: Vec<(u8, Vec<(u16, u32)>)>,
    /// The high-water mark of absolute code, if there is any.
    pub(super) absolute_size: Option<u32>,
    /// The symbols, in the module's order.
    pub(super) symbols: Vec<SymbolNote>,
    symbol_files: Vec<Arc<str>>,
    lines: Vec<LineNote>,
    line_files: Vec<Arc<str>>,
    /// The relocation base of the start address, where externals are all symbols, and the addend.
    start: Option<(usize, i32)>,
}

/// What ELF cannot express about a symbol.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SymbolNote {
    /// The index in the ELF symbol table.
    pub(super) number: usize,
    /// Whether it is a library entry point.
    pub(super) is_entry: bool,
    /// Whether an absolute symbol is a label instead of a plain number.
    pub(super) is_label: bool,
    /// The index of the file and the line.
    place: Option<(u32, u32)>,
}

/// A row of the line table.
#[derive(Debug, Serialize, Deserialize)]
struct LineNote {
    section: u8,
    offset: u16,
    size: u32,
    file: u32,
    line: u32,
    is_code: bool,
}

/// Returns the CRC-32 of the names of symbols, in ELF's order and each followed by a zero.
pub(super) fn names_check(names: &[u8]) -> u32 {
    const CRC: Crc<u32, crc::Table<16>> = Crc::<u32, crc::Table<16>>::new(&CRC_32_ISO_HDLC);
    CRC.checksum(names)
}

/// Encodes a module whose symbols have these indexes and this CRC in the ELF symbol table.
pub(super) fn write(module: &Module, numbers: &[u32], check: u32) -> Vec<u8> {
    let mut symbol_files = Lines::default();
    let symbols = module.symbols.iter().zip(numbers).map(|(symbol, number)| SymbolNote {
        number: *number as usize,
        is_entry: symbol.binding == Binding::Entry,
        is_label: matches!(symbol.value, SymbolValue::InSection(SectionKind::Absolute, _)),
        place: (symbol.place.as_ref()).map(|at| (symbol_files.file_index(&at.file), at.line)),
    });
    let symbols = symbols.collect();
    let lines = module.lines.rows.iter().map(|row| {
        let LineRow { section, offset, size, file, line, is_code } = *row;
        LineNote { section: section.base(), offset, size, file, line, is_code }
    });
    let flat = module.sections.iter().filter(|section| section.kind != SectionKind::Absolute);
    let section = TdlSection {
        check,
        name: module.name.clone(),
        runs: flat.map(ranges).collect(),
        absolute_size: module.section(SectionKind::Absolute).map(|section| section.size),
        symbols,
        symbol_files: symbol_files.files,
        lines: lines.collect(),
        line_files: module.lines.files.clone(),
        start: module.start.map(|start| (number_of(start.base), start.addend)),
    };
    postcard::to_extend(&section, vec![FORMAT]).expect("memory takes what is written")
}

fn ranges(section: &Section) -> (u8, Vec<(u16, u32)>) {
    let runs = section.runs.iter().map(|run| (run.offset, run.end() - u32::from(run.offset)));
    (section.kind.base(), runs.collect())
}

fn number_of(base: Base) -> usize {
    match base {
        Base::Absolute => 0,
        Base::Section(kind) => kind.base().into(),
        Base::Symbol(index) => usize::from(FIRST_EXTERNAL) + index,
    }
}

/// Decodes the section, or returns a description of the first error.
pub(super) fn read(data: &[u8]) -> Result<TdlSection, String> {
    let section: Option<TdlSection> = match data.split_first() {
        Some((&FORMAT, content)) => postcard::from_bytes(content).ok(),
        Some((format, _)) => {
            return Err(format!("its format is {format}, and {FORMAT} is known here"));
        }
        None => return Err("it is empty".to_owned()),
    };
    let valid = section.filter(TdlSection::is_valid);
    valid.ok_or_else(|| "it is truncated or invalid".to_owned())
}

impl TdlSection {
    /// Returns `true` if all indexes are those of elements.
    fn is_valid(&self) -> bool {
        let has_file = |symbol: &SymbolNote| {
            symbol.place.is_none_or(|(file, _)| (file as usize) < self.symbol_files.len())
        };
        let is_placed = |line: &LineNote| {
            usize::from(line.section) < SectionKind::ALL.len()
                && (line.file as usize) < self.line_files.len()
        };
        let bases = usize::from(FIRST_EXTERNAL) + self.symbols.len();
        self.symbols.iter().all(has_file)
            && self.lines.iter().all(is_placed)
            && self.start.is_none_or(|(base, _)| base < bases)
    }

    /// Returns offset and length of the written ranges of a section.
    pub(super) fn runs(&self, kind: SectionKind) -> Option<&[(u16, u32)]> {
        let found = self.runs.iter().find(|(section, _)| *section == kind.base());
        found.map(|(_, runs)| runs.as_slice())
    }

    /// Returns the source line of a symbol.
    pub(super) fn place(&self, symbol: &SymbolNote) -> Option<Place> {
        let (file, line) = symbol.place?;
        Some(Place { file: Arc::clone(&self.symbol_files[file as usize]), line })
    }

    pub(super) fn line_table(&self) -> Lines {
        let rows = self.lines.iter().map(|note| {
            let LineNote { section, offset, size, file, line, is_code } = *note;
            let section = SectionKind::ALL[usize::from(section)];
            LineRow { section, offset, size, file, line, is_code }
        });
        Lines { files: self.line_files.clone(), rows: rows.collect() }
    }

    pub(super) fn start(&self) -> Option<Target> {
        let (base, addend) = self.start?;
        let base = match base.checked_sub(FIRST_EXTERNAL.into()) {
            Some(index) => Base::Symbol(index),
            None if base == 0 => Base::Absolute,
            None => Base::Section(SectionKind::ALL[base]),
        };
        Some(Target { base, addend })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(section: SectionKind, offset: u16, size: u32, file: u32, line: u32) -> LineRow {
        LineRow { section, is_code: size < 5, offset, size, file, line }
    }

    fn encoded(rows: Vec<LineRow>) -> (Lines, Vec<u8>) {
        let files = vec![Arc::from("a.asm"); 301];
        let lines = Lines { files, rows };
        let bytes = write(&Module { lines: lines.clone(), ..Module::default() }, &[], 7);
        (lines, bytes)
    }

    #[test]
    fn rows_come_back_as_they_went_in() {
        use SectionKind::{Absolute, Data, Prog};
        let (lines, bytes) = encoded(vec![
            row(Absolute, 0, 3, 0, 1),
            row(Absolute, 3, 15, 0, 64),
            row(Absolute, 18, 16, 0, 128),
            row(Prog, 34, 1, 0, 2),
            row(Prog, 35, 0x1_0000, 300, u32::MAX),
            row(Data, 35, u32::MAX - 35, 300, 0),
            row(Data, u16::MAX, 1, 0, 1),
            row(Data, 0, 1, 0, 1),
        ]);
        assert_eq!(read(&bytes).map(|notes| notes.line_table()), Ok(lines));
    }

    #[test]
    fn a_row_of_an_unknown_file_is_invalid() {
        let (_, bytes) = encoded(vec![row(SectionKind::Prog, 0, 1, 301, 1)]);
        assert!(read(&bytes).is_err());
    }

    #[test]
    fn a_list_longer_than_the_section_is_an_error_without_room_for_it() {
        // After the check and the empty name, a list with as many elements as a number can state.
        let bytes = [&[FORMAT, 0, 0, 0, 0, 0][..], &[0xFF; 9], &[1]].concat();
        assert!(read(&bytes).is_err());
    }
}
