//! The content of the section `.tdl`: what ELF has no room for.
//!
//! A byte for the format, then [`TdlSection`] and each row of the line table as its [`difference`]
//! from the row before, as encoded by `postcard`: the fields in their order, numbers in as many
//! bytes as they need, texts and lists after their length.

#![deny(clippy::cast_possible_truncation)]

use std::sync::Arc;

use crc::{CRC_32_ISO_HDLC, Crc};
use postcard::ser_flavors::Flavor;
use serde::{Deserialize, Serialize};

use crate::module::{
    Base, Binding, LineRow, Lines, Module, Place, Section, SectionKind, SymbolValue, Target,
};

const FORMAT: u8 = 4;

/// What a reader needs in addition to the ELF file to restore the module.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TdlSection {
    /// The [`names_check`] of the ELF symbol table, to detect changes.
    #[serde(with = "postcard::fixint::le")]
    pub(super) check: u32,
    pub(super) name: String,
    /// The written ranges of `.text`, `.data` and `.bss`: offset and length.
    runs: Vec<(SectionKind, Vec<(u16, u32)>)>,
    /// The high-water mark of absolute code, if there is any.
    pub(super) absolute_size: Option<u32>,
    /// The symbols, in the module's order.
    pub(super) symbols: Vec<SymbolNote>,
    symbol_files: Vec<Arc<str>>,
    pub(super) start: Option<Target>,
    /// The files of the line table.
    pub(super) files: Vec<Arc<str>>,
    row_count: usize,
    /// The rows of the line table, which follow the other fields.
    #[serde(skip)]
    pub(super) rows: Vec<LineRow>,
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

/// Returns a row of the line table with distances in place of offset and line: from the end of the
/// bytes of the row before it, and from its line.
fn difference(row: &LineRow, before: &LineRow) -> LineRow {
    let offset = row.offset.wrapping_sub(next_offset(before));
    LineRow { offset, line: row.line.wrapping_sub(before.line), ..*row }
}

/// Returns the row of a [`difference`].
fn sum(difference: &LineRow, before: &LineRow) -> LineRow {
    let offset = difference.offset.wrapping_add(next_offset(before));
    LineRow { offset, line: difference.line.wrapping_add(before.line), ..*difference }
}

#[expect(clippy::cast_possible_truncation, reason = "offsets are modulo 65536")]
fn next_offset(row: &LineRow) -> u16 {
    row.offset.wrapping_add(row.size as u16)
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
    let flat = module.sections.iter().filter(|section| section.kind != SectionKind::Absolute);
    let section = TdlSection {
        check,
        name: module.name.clone(),
        runs: flat.map(ranges).collect(),
        absolute_size: module.section(SectionKind::Absolute).map(|section| section.size),
        symbols,
        symbol_files: symbol_files.files,
        start: module.start,
        files: module.lines.files.clone(),
        row_count: module.lines.rows.len(),
        rows: Vec::new(),
    };
    let mut bytes = append(vec![FORMAT], &section);
    let mut before = &LineRow::default();
    for row in &module.lines.rows {
        bytes = append(bytes, &difference(row, before));
        before = row;
    }
    bytes
}

fn append(bytes: Vec<u8>, item: &impl Serialize) -> Vec<u8> {
    postcard::serialize_with_flavor(item, Bytes(bytes)).expect("memory takes what is written")
}

/// Takes each byte by itself: most numbers are single bytes, which take longer to copy.
struct Bytes(Vec<u8>);

impl Flavor for Bytes {
    type Output = Vec<u8>;

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

fn ranges(section: &Section) -> (SectionKind, Vec<(u16, u32)>) {
    let runs = section.runs.iter().map(|run| (run.offset, run.end() - u32::from(run.offset)));
    (section.kind, runs.collect())
}

/// Decodes the section, or returns a description of the first error.
pub(super) fn read(data: &[u8]) -> Result<TdlSection, String> {
    let section = match data.split_first() {
        Some((&FORMAT, content)) => read_notes(content).ok(),
        Some((format, _)) => {
            return Err(format!("its format is {format}, and {FORMAT} is known here"));
        }
        None => return Err("it is empty".to_owned()),
    };
    let valid = section.filter(TdlSection::is_valid);
    valid.ok_or_else(|| "it is truncated or invalid".to_owned())
}

fn read_notes(content: &[u8]) -> postcard::Result<TdlSection> {
    let (mut section, mut rest) = postcard::take_from_bytes::<TdlSection>(content)?;
    let mut row = LineRow::default();
    for _ in 0..section.row_count {
        let (difference, behind) = postcard::take_from_bytes(rest)?;
        (row, rest) = (sum(&difference, &row), behind);
        section.rows.push(row.clone());
    }
    Ok(section)
}

impl TdlSection {
    /// Returns `true` if all indexes are those of elements.
    fn is_valid(&self) -> bool {
        let has_file = |symbol: &SymbolNote| {
            symbol.place.is_none_or(|(file, _)| (file as usize) < self.symbol_files.len())
        };
        let is_start = |start: Target| match start.base {
            Base::Symbol(index) => index < self.symbols.len(),
            Base::Absolute | Base::Section(_) => true,
        };
        let files = self.files.len();
        self.symbols.iter().all(has_file)
            && self.rows.iter().all(|row| (row.file as usize) < files)
            && self.start.is_none_or(is_start)
    }

    /// Returns offset and length of the written ranges of a section.
    pub(super) fn runs(&self, kind: SectionKind) -> Option<&[(u16, u32)]> {
        let found = self.runs.iter().find(|(section, _)| *section == kind);
        found.map(|(_, runs)| runs.as_slice())
    }

    /// Returns the source line of a symbol.
    pub(super) fn place(&self, symbol: &SymbolNote) -> Option<Place> {
        let (file, line) = symbol.place?;
        Some(Place { file: Arc::clone(&self.symbol_files[file as usize]), line })
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
        let read = read(&bytes).map(|notes| Lines { files: notes.files, rows: notes.rows });
        assert_eq!(read, Ok(lines));
        for length in 1..bytes.len() {
            assert!(super::read(&bytes[..length]).is_err(), "{length}");
        }
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
