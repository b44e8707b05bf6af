//! The content of the section `.tdl`: what ELF has no room for, in few bytes.
//!
//! Numbers are LEB128 as in DWARF, texts and lists follow their length. In this order:
//!
//! | part | content |
//! |---|---|
//! | format | a byte, 2 |
//! | symbols' check | CRC-32 of the names in the ELF table, in order, to detect changes |
//! | name | that of the module |
//! | files | the names of those that lines are of |
//! | runs | for each flat section its kind, then offset and length of each written range |
//! | absolute | the high-water mark of absolute code and 1, or 0 if there is none |
//! | symbols | in the module's order: flags and the step in ELF's numbers, then the place |
//! | lines | for each: flags and size, where it does not follow the one before, then the place |
//! | start | its base and the addend |
//!
//! A place is the file's number, where it is another than before, and the step from the line
//! before. The first number that is unknown is followed by the name.

#![deny(clippy::cast_possible_truncation)]

use std::sync::Arc;

use crc::{CRC_32_ISO_HDLC, Crc};
use gimli::{EndianSlice, LittleEndian, Reader, leb128};

use crate::module::{
    Base, Binding, LineRow, Lines, Module, Place, SectionKind, Symbol, SymbolValue, Target,
};

const FORMAT: u8 = 2;
/// The base of the start address.
const NO_START: u8 = 0;
const START_FIXED: u8 = 1;
const START_IN_SECTION: u8 = 2;
const START_AT_SYMBOL: u8 = 3;

/// Flags of a symbol, below the step of its index.
const IS_ENTRY: u64 = 1;
const IS_LABEL: u64 = 2;
const HAS_PLACE: u64 = 4;
const SYMBOL_IN_OTHER_FILE: u64 = 8;
const SYMBOL_FLAGS: u32 = 4;

/// Flags of a row of the line table, below its size.
const IS_CODE: u64 = 1;
const IS_ELSEWHERE: u64 = 2;
const ROW_IN_OTHER_FILE: u64 = 4;
const ROW_FLAGS: u32 = 3;

/// What a reader needs in addition to the ELF file to restore the module.
#[derive(Debug)]
pub(super) struct TdlSection {
    pub(super) check: u32,
    pub(super) name: String,
    /// The written ranges of `.text`, `.data` and `.bss`: offset and length.
    pub(super) runs: Vec<(SectionKind, Vec<(u16, u32)>)>,
    /// The high-water mark of absolute code, if there is any.
    pub(super) absolute_size: Option<u32>,
    /// The symbols, in the module's order.
    pub(super) symbols: Vec<SymbolNote>,
    pub(super) lines: Lines,
    pub(super) start: Option<Target>,
}

/// What ELF cannot express about a symbol.
#[derive(Debug)]
pub(super) struct SymbolNote {
    /// The index in the ELF symbol table.
    pub(super) number: u64,
    /// Whether it is a library entry point.
    pub(super) is_entry: bool,
    /// Whether an absolute symbol is a label instead of a plain number.
    pub(super) is_label: bool,
    pub(super) place: Option<Place>,
}

/// Returns the CRC-32 of the names of symbols, in ELF's order and each followed by a zero.
pub(super) fn names_check(names: &[u8]) -> u32 {
    const CRC: Crc<u32, crc::Table<16>> = Crc::<u32, crc::Table<16>>::new(&CRC_32_ISO_HDLC);
    CRC.checksum(names)
}

/// The symbol and the row before, against which the next ones are encoded.
struct Previous {
    /// The files known so far.
    files: Vec<Arc<str>>,
    /// File and line of the place before.
    file: Option<u32>,
    line: i64,
    /// The index in the ELF symbol table that the next symbol has, if their order is the same.
    number: i64,
    /// The address after the row before.
    section: SectionKind,
    end: u32,
}

impl Previous {
    fn new(files: Vec<Arc<str>>) -> Self {
        Self { files, file: None, line: 0, number: 0, section: SectionKind::Absolute, end: 0 }
    }
}

/// Encodes a module whose symbols have these indexes and this CRC in the ELF symbol table.
pub(super) fn write(module: &Module, numbers: &[u32], check: u32) -> Vec<u8> {
    let mut output =
        Output { bytes: vec![FORMAT], previous: Previous::new(module.lines.files.clone()) };
    output.bytes.extend(check.to_le_bytes());
    output.text(&module.name);
    output.number(module.lines.files.len() as u64);
    module.lines.files.iter().for_each(|file| output.text(file));
    output.sections(module);
    output.number(module.symbols.len() as u64);
    for (symbol, number) in module.symbols.iter().zip(numbers) {
        output.symbol(symbol, i64::from(*number));
    }
    output.number(module.lines.rows.len() as u64);
    module.lines.rows.iter().for_each(|row| output.row(row));
    output.start(module.start);
    output.bytes
}

struct Output {
    bytes: Vec<u8>,
    previous: Previous,
}

impl Output {
    fn number(&mut self, number: u64) {
        // Writing to memory cannot fail.
        let _ = leb128::write::unsigned(&mut self.bytes, number);
    }

    fn signed(&mut self, number: i64) {
        let _ = leb128::write::signed(&mut self.bytes, number);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn sections(&mut self, module: &Module) {
        let is_flat = |kind| kind != SectionKind::Absolute;
        let flat = module.sections.iter().filter(|section| is_flat(section.kind));
        self.number(flat.clone().count() as u64);
        for section in flat {
            self.number(section.kind.base().into());
            self.number(section.runs.len() as u64);
            for run in &section.runs {
                self.number(run.offset.into());
                self.number(run.bytes.len() as u64);
            }
        }
        let absolute = module.section(SectionKind::Absolute);
        self.number(absolute.map_or(0, |section| u64::from(section.size) + 1));
    }

    fn symbol(&mut self, symbol: &Symbol, number: i64) {
        let is_label = matches!(symbol.value, SymbolValue::InSection(SectionKind::Absolute, _));
        let files = &self.previous.files;
        let file = symbol.place.as_ref().map(|place| Lines::index_among(files, &place.file));
        self.number(
            zigzag(number - self.previous.number) << SYMBOL_FLAGS
                | flag(symbol.binding == Binding::Entry, IS_ENTRY)
                | flag(is_label, IS_LABEL)
                | flag(file.is_some(), HAS_PLACE)
                | flag(file.is_some() && file != self.previous.file, SYMBOL_IN_OTHER_FILE),
        );
        self.previous.number = number + 1;
        if let (Some(place), Some(file)) = (&symbol.place, file) {
            self.file(file);
            if file as usize == self.previous.files.len() {
                self.previous.files.push(Arc::clone(&place.file));
                self.text(&place.file);
            }
            self.line(place.line);
        }
    }

    fn row(&mut self, row: &LineRow) {
        let Previous { section, end, file, .. } = self.previous;
        let is_elsewhere = section != row.section || end != u32::from(row.offset);
        self.number(
            u64::from(row.size) << ROW_FLAGS
                | flag(row.is_code, IS_CODE)
                | flag(is_elsewhere, IS_ELSEWHERE)
                | flag(file != Some(row.file), ROW_IN_OTHER_FILE),
        );
        if is_elsewhere {
            self.number(row.section.base().into());
            self.number(row.offset.into());
        }
        (self.previous.section, self.previous.end) =
            (row.section, u32::from(row.offset) + row.size);
        self.file(row.file);
        self.line(row.line);
    }

    /// Writes the number of a file, if it is not that of the place before.
    fn file(&mut self, file: u32) {
        if self.previous.file.replace(file) != Some(file) {
            self.number(file.into());
        }
    }

    fn line(&mut self, line: u32) {
        let before = std::mem::replace(&mut self.previous.line, line.into());
        self.signed(i64::from(line) - before);
    }

    fn start(&mut self, start: Option<Target>) {
        let Some(start) = start else { return self.bytes.push(NO_START) };
        match start.base {
            Base::Absolute | Base::Section(SectionKind::Absolute) => self.bytes.push(START_FIXED),
            Base::Section(kind) => {
                self.bytes.push(START_IN_SECTION);
                self.number(kind.base().into());
            }
            Base::Symbol(index) => {
                self.bytes.push(START_AT_SYMBOL);
                self.number(index as u64);
            }
        }
        self.signed(start.addend.into());
    }
}

fn flag(is_set: bool, flag: u64) -> u64 {
    if is_set { flag } else { 0 }
}

/// Decodes the section, or returns a description of the first error.
pub(super) fn read(data: &[u8]) -> Result<TdlSection, String> {
    let rest = EndianSlice::new(data, LittleEndian);
    let mut input = Input { rest, previous: Previous::new(Vec::new()) };
    match input.rest.read_u8() {
        Ok(FORMAT) => {}
        Ok(format) => return Err(format!("its format is {format}, and {FORMAT} is known here")),
        Err(_) => return Err("it is empty".to_owned()),
    }
    input.notes().ok_or_else(|| "it is truncated or invalid".to_owned())
}

struct Input<'d> {
    rest: EndianSlice<'d, LittleEndian>,
    previous: Previous,
}

impl Input<'_> {
    fn notes(&mut self) -> Option<TdlSection> {
        let check = self.rest.read_u32().ok()?;
        let name = self.text()?;
        let files: Vec<Arc<str>> = self.list(|input| input.text().map(Arc::from))?;
        self.previous.files.clone_from(&files);
        let runs = self.list(Self::section)?;
        let absolute_size = self.small::<u32>()?.checked_sub(1);
        let symbols: Vec<SymbolNote> = self.list(Self::symbol)?;
        let rows = self.list(|input| input.row(files.len()))?;
        let start = self.start(symbols.len())?;
        let lines = Lines { files, rows };
        Some(TdlSection { check, name, runs, absolute_size, symbols, lines, start })
    }

    fn number(&mut self) -> Option<u64> {
        self.rest.read_uleb128().ok()
    }

    /// Reads a number that fits a smaller type.
    fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    /// Reads a list after its length. Each item takes at least a byte, so that a length cannot
    /// cause an allocation that is large compared with the input.
    fn list<T, L: FromIterator<T>>(
        &mut self,
        mut part: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<L> {
        let count = self.small::<usize>()?;
        if count > self.rest.len() {
            return None;
        }
        (0..count).map(|_| part(self)).collect()
    }

    fn text(&mut self) -> Option<String> {
        let length = self.small()?;
        let bytes = self.rest.split(length).ok()?;
        String::from_utf8(bytes.slice().to_vec()).ok()
    }

    fn kind(&mut self) -> Option<SectionKind> {
        SectionKind::from_base(self.small()?)
    }

    fn section(&mut self) -> Option<(SectionKind, Vec<(u16, u32)>)> {
        Some((self.kind()?, self.list(|input| Some((input.small()?, input.small()?)))?))
    }

    fn symbol(&mut self) -> Option<SymbolNote> {
        let head = self.number()?;
        let number = self.previous.number.checked_add(unzigzag(head >> SYMBOL_FLAGS))?;
        self.previous.number = number.checked_add(1)?;
        let has_place = head & HAS_PLACE != 0;
        let place =
            if has_place { Some(self.place(head & SYMBOL_IN_OTHER_FILE != 0)?) } else { None };
        Some(SymbolNote {
            number: u64::try_from(number).ok()?,
            is_entry: head & IS_ENTRY != 0,
            is_label: head & IS_LABEL != 0,
            place,
        })
    }

    fn place(&mut self, is_in_other_file: bool) -> Option<Place> {
        if is_in_other_file {
            let file = self.small()?;
            if file as usize == self.previous.files.len() {
                let name = self.text()?;
                self.previous.files.push(name.into());
            }
            self.previous.file = Some(file);
        }
        let file = Arc::clone(self.previous.files.get(self.previous.file? as usize)?);
        Some(Place { file, line: self.line()? })
    }

    fn line(&mut self) -> Option<u32> {
        self.previous.line = self.previous.line.checked_add(self.rest.read_sleb128().ok()?)?;
        u32::try_from(self.previous.line).ok()
    }

    /// Reads a row of the line table, whose file is one of the first `files`.
    fn row(&mut self, files: usize) -> Option<LineRow> {
        let head = self.number()?;
        if head & IS_ELSEWHERE != 0 {
            self.previous.section = self.kind()?;
            self.previous.end = self.small::<u16>()?.into();
        }
        let (section, offset) = (self.previous.section, u16::try_from(self.previous.end).ok()?);
        let size = u32::try_from(head >> ROW_FLAGS).ok()?;
        self.previous.end = self.previous.end.checked_add(size)?;
        if head & ROW_IN_OTHER_FILE != 0 {
            self.previous.file = Some(self.small()?);
        }
        let file = self.previous.file.filter(|file| (*file as usize) < files)?;
        let line = self.line()?;
        Some(LineRow { section, is_code: head & IS_CODE != 0, offset, size, file, line })
    }

    /// The outer `Option` is `None` for invalid data.
    fn start(&mut self, symbols: usize) -> Option<Option<Target>> {
        let base = match self.rest.read_u8().ok()? {
            NO_START => return Some(None),
            START_FIXED => Base::Absolute,
            START_IN_SECTION => Base::Section(self.kind()?),
            START_AT_SYMBOL => {
                Base::Symbol(self.small::<usize>().filter(|index| *index < symbols)?)
            }
            _ => return None,
        };
        let addend = i32::try_from(self.rest.read_sleb128().ok()?).ok()?;
        Some(Some(Target { base, addend }))
    }
}

/// Maps signed numbers to unsigned ones, so that small amounts become small numbers.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
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
        assert_eq!(read(&bytes).map(|notes| notes.lines), Ok(lines));
    }

    #[test]
    fn a_row_that_follows_the_one_before_takes_two_bytes() {
        let rows = |count: u16| {
            let rows = (0..count).map(|at| row(SectionKind::Absolute, at, 1, 0, at.into()));
            encoded(rows.collect()).1.len()
        };
        assert_eq!(rows(4) - rows(3), 2);
    }

    #[test]
    fn a_row_of_an_unknown_file_is_invalid() {
        let (_, bytes) = encoded(vec![row(SectionKind::Prog, 0, 1, 301, 1)]);
        assert!(read(&bytes).is_err());
    }
}
