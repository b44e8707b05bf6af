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
use gimli::write::{EndianVec, Result, Writer};
use gimli::{EndianSlice, LittleEndian, Reader};

use crate::module::{
    Base, Binding, KINDS, Lines, Module, Place, RowDeltaState, SectionKind, SymbolValue, Target,
    number_among, number_of,
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

/// The files so far, and the previous source line, against which source lines are delta-encoded.
struct PlaceDeltaState {
    files: Vec<Arc<str>>,
    file: Option<u32>,
    line: i64,
}

impl PlaceDeltaState {
    /// Creates the state at the start of the encoding.
    fn of(files: Vec<Arc<str>>) -> Self {
        Self { files, file: None, line: 0 }
    }

    /// Returns the state from which line rows continue.
    fn line_told(&self) -> RowDeltaState {
        RowDeltaState::line(self.file, self.line)
    }
}

/// Encodes a module whose symbols have these indexes and this CRC in the ELF symbol table.
pub(super) fn write(module: &Module, numbers: &[u32], check: u32) -> Result<Vec<u8>> {
    let previous = PlaceDeltaState::of(module.lines.files.clone());
    let mut output = Output { bytes: EndianVec::new(LittleEndian), previous };
    output.bytes.write_u8(FORMAT)?;
    output.bytes.write_u32(check)?;
    output.text(&module.name)?;
    output.files()?;
    output.sections(module)?;
    output.symbols(module, numbers)?;
    output.lines(&module.lines)?;
    output.start(module.start)?;
    Ok(output.bytes.into_vec())
}

struct Output {
    bytes: EndianVec<LittleEndian>,
    previous: PlaceDeltaState,
}

impl Output {
    fn text(&mut self, text: &str) -> Result<()> {
        self.bytes.write_uleb128(text.len() as u64)?;
        self.bytes.write(text.as_bytes())
    }

    fn files(&mut self) -> Result<()> {
        self.bytes.write_uleb128(self.previous.files.len() as u64)?;
        let files = self.previous.files.clone();
        files.iter().try_for_each(|file| self.text(file))
    }

    fn kind(&mut self, kind: SectionKind) -> Result<()> {
        self.bytes.write_uleb128(number_of(kind))
    }

    fn sections(&mut self, module: &Module) -> Result<()> {
        let is_flat = |kind| kind != SectionKind::Absolute;
        let flat = module.sections.iter().filter(|section| is_flat(section.kind));
        self.bytes.write_uleb128(flat.clone().count() as u64)?;
        for section in flat {
            self.kind(section.kind)?;
            self.bytes.write_uleb128(section.runs.len() as u64)?;
            for run in &section.runs {
                self.bytes.write_uleb128(run.offset.into())?;
                self.bytes.write_uleb128(run.bytes.len() as u64)?;
            }
        }
        let absolute = module.sections.iter().find(|section| !is_flat(section.kind));
        self.bytes.write_uleb128(absolute.map_or(0, |section| u64::from(section.size) + 1))
    }

    fn symbols(&mut self, module: &Module, numbers: &[u32]) -> Result<()> {
        self.bytes.write_uleb128(module.symbols.len() as u64)?;
        let mut expected = 0;
        for (symbol, number) in module.symbols.iter().zip(numbers) {
            let number = i64::from(*number);
            let mut head = zigzag(number - expected) << SYMBOL_FLAGS;
            expected = number + 1;
            let is_label = matches!(symbol.value, SymbolValue::InSection(SectionKind::Absolute, _));
            let file =
                symbol.place.as_ref().map(|place| number_among(&self.previous.files, &place.file));
            let other = file.is_some() && file != self.previous.file;
            for (is_so, flag) in [
                (symbol.binding == Binding::Entry, IS_ENTRY),
                (is_label, IS_LABEL),
                (symbol.place.is_some(), HAS_PLACE),
                (other, SYMBOL_IN_OTHER_FILE),
            ] {
                head |= if is_so { flag } else { 0 };
            }
            self.bytes.write_uleb128(head)?;
            if let (Some(place), Some(file)) = (&symbol.place, file) {
                self.place(place, file)?;
            }
        }
        Ok(())
    }

    fn lines(&mut self, lines: &Lines) -> Result<()> {
        self.bytes.write_uleb128(lines.rows.len() as u64)?;
        let mut previous = self.previous.line_told();
        let mut rows = Vec::new();
        lines.rows.iter().for_each(|row| previous.write(row, &mut rows));
        self.bytes.write(&rows)
    }

    fn place(&mut self, place: &Place, file: u32) -> Result<()> {
        if Some(file) != self.previous.file {
            self.bytes.write_uleb128(file.into())?;
            self.previous.file = Some(file);
            if file as usize == self.previous.files.len() {
                self.previous.files.push(Arc::clone(&place.file));
                self.text(&place.file)?;
            }
        }
        self.line(place.line)
    }

    fn line(&mut self, line: u32) -> Result<()> {
        let line = i64::from(line);
        let step = line - self.previous.line;
        self.previous.line = line;
        self.bytes.write_sleb128(step)
    }

    fn start(&mut self, start: Option<Target>) -> Result<()> {
        let Some(start) = start else { return self.bytes.write_u8(NO_START) };
        match start.base {
            Base::Absolute | Base::Section(SectionKind::Absolute) => {
                self.bytes.write_u8(START_FIXED)?;
            }
            Base::Section(kind) => {
                self.bytes.write_u8(START_IN_SECTION)?;
                self.kind(kind)?;
            }
            Base::Symbol(index) => {
                self.bytes.write_u8(START_AT_SYMBOL)?;
                self.bytes.write_uleb128(index as u64)?;
            }
        }
        self.bytes.write_sleb128(start.addend.into())
    }
}

/// Decodes the section, or returns a description of the first error.
pub(super) fn read(data: &[u8]) -> std::result::Result<TdlSection, String> {
    let mut input = Input {
        rest: EndianSlice::new(data, LittleEndian),
        previous: PlaceDeltaState::of(Vec::new()),
    };
    match input.rest.read_u8() {
        Ok(FORMAT) => {}
        Ok(format) => return Err(format!("its format is {format}, and {FORMAT} is known here")),
        Err(_) => return Err("it is empty".to_owned()),
    }
    input.notes().ok_or_else(|| "it is truncated or invalid".to_owned())
}

struct Input<'d> {
    rest: EndianSlice<'d, LittleEndian>,
    previous: PlaceDeltaState,
}

impl Input<'_> {
    fn notes(&mut self) -> Option<TdlSection> {
        let check = self.rest.read_u32().ok()?;
        let name = self.text()?;
        let files: Vec<Arc<str>> = self.list(|input| input.text().map(Arc::from))?;
        self.previous.files.clone_from(&files);
        let runs = self.list(Self::section)?;
        let absolute_size = self.small::<u32>()?.checked_sub(1);
        let mut expected = 0;
        let symbols: Vec<SymbolNote> = self.list(|input| input.symbol(&mut expected))?;
        let mut previous = self.previous.line_told();
        let rows = self.list(|input| {
            previous.read(&mut input.rest).filter(|row| (row.file as usize) < files.len())
        })?;
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
        let number = self.small::<usize>()?;
        KINDS.get(number).copied()
    }

    fn section(&mut self) -> Option<(SectionKind, Vec<(u16, u32)>)> {
        Some((self.kind()?, self.list(|input| Some((input.small()?, input.small()?)))?))
    }

    fn symbol(&mut self, expected: &mut i64) -> Option<SymbolNote> {
        let head = self.number()?;
        let number = expected.checked_add(unzigzag(head >> SYMBOL_FLAGS))?;
        *expected = number.checked_add(1)?;
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
        Some(Place { file, line: self.line_number()? })
    }

    fn line_number(&mut self) -> Option<u32> {
        self.previous.line = self.previous.line.checked_add(self.rest.read_sleb128().ok()?)?;
        u32::try_from(self.previous.line).ok()
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
