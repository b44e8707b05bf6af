//! Rows of lines, kept as objects hold them: in two bytes each mostly, where a [`LineRow`] takes
//! sixteen. A program has about as many of them as lines, and all stay in memory until the end.

#![deny(clippy::cast_possible_truncation)]

use gimli::leb128::write;
use gimli::{EndianSlice, LittleEndian, Reader};

use super::{LineRow, SectionKind};

/// Kinds of sections by their number.
pub(crate) const KINDS: [SectionKind; 4] =
    [SectionKind::Absolute, SectionKind::Prog, SectionKind::Data, SectionKind::Blank];

/// Flags of a row, below its size.
const IS_CODE: u64 = 1;
const IS_ELSEWHERE: u64 = 2;
const IN_OTHER_FILE: u64 = 4;
const FLAGS: u32 = 3;

/// The bytes that a row takes mostly.
pub(crate) const ROW_BYTES: usize = 2;

/// The number of a kind of section.
pub(crate) fn number_of(kind: SectionKind) -> u64 {
    match kind {
        SectionKind::Absolute => 0,
        SectionKind::Prog => 1,
        SectionKind::Data => 2,
        SectionKind::Blank => 3,
    }
}

/// The rows of a module, in the order of assembly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    bytes: Vec<u8>,
    count: usize,
    last: Told,
}

impl Rows {
    /// Makes room for more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.bytes.reserve(rows * ROW_BYTES);
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, row: &LineRow) {
        self.last.write(row, &mut self.bytes);
        self.count += 1;
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The rows, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = LineRow> {
        let mut rest = EndianSlice::new(&self.bytes, LittleEndian);
        let mut told = Told::default();
        std::iter::from_fn(move || told.read(&mut rest))
    }

    /// The bytes of the rows behind what was told: those of the first, and of all that follow it.
    pub(crate) fn bytes_behind(&self, mut told: Told) -> (Vec<u8>, &[u8]) {
        let mut rest = EndianSlice::new(&self.bytes, LittleEndian);
        let mut first = Vec::new();
        if let Some(row) = Told::default().read(&mut rest) {
            told.write(&row, &mut first);
        }
        (first, rest.slice())
    }
}

impl FromIterator<LineRow> for Rows {
    fn from_iter<I: IntoIterator<Item = LineRow>>(rows: I) -> Self {
        let mut all = Self::default();
        rows.into_iter().for_each(|row| all.push(&row));
        all
    }
}

/// The place that was told last, from which a row says how far on it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Told {
    /// The place behind the bytes of the row before.
    section: SectionKind,
    end: u32,
    file: Option<u32>,
    line: i64,
}

impl Default for Told {
    fn default() -> Self {
        Self { section: SectionKind::Absolute, end: 0, file: None, line: 0 }
    }
}

impl Told {
    /// A line of a file, if a file was told at all, and no bytes.
    pub(crate) fn line(file: Option<u32>, line: i64) -> Self {
        Self { file, line, ..Self::default() }
    }

    #[inline]
    fn write(&mut self, row: &LineRow, bytes: &mut Vec<u8>) {
        let step = i64::from(row.line) - self.line;
        let follows = self.section == row.section && self.end == u32::from(row.offset);
        let same = self.file == Some(row.file);
        let flag = |is_so, flag| if is_so { flag } else { 0 };
        let head = u64::from(row.size) << FLAGS
            | flag(row.is_code, IS_CODE)
            | flag(!follows, IS_ELSEWHERE)
            | flag(!same, IN_OTHER_FILE);
        self.section = row.section;
        self.end = u32::from(row.offset) + row.size;
        self.file = Some(row.file);
        self.line = row.line.into();
        match (u8::try_from(head), i8::try_from(step)) {
            // Most have a byte for each of the two and nothing between, and need no loop.
            (Ok(head @ 0..0x80), Ok(step @ -0x40..0x40)) if follows && same => {
                bytes.extend_from_slice(&[head, step.cast_unsigned() & 0x7F]);
            }
            _ => write_long(row, head, step, bytes),
        }
    }

    /// Reads a row; `None` at the end, and for what makes no sense.
    pub(crate) fn read(&mut self, rest: &mut EndianSlice<'_, LittleEndian>) -> Option<LineRow> {
        let head = rest.read_uleb128().ok()?;
        if head & IS_ELSEWHERE != 0 {
            let number = usize::try_from(rest.read_uleb128().ok()?).ok()?;
            self.section = *KINDS.get(number)?;
            self.end = u16::try_from(rest.read_uleb128().ok()?).ok()?.into();
        }
        let (section, offset) = (self.section, u16::try_from(self.end).ok()?);
        let size = u32::try_from(head >> FLAGS).ok()?;
        self.end = self.end.checked_add(size)?;
        if head & IN_OTHER_FILE != 0 {
            self.file = Some(u32::try_from(rest.read_uleb128().ok()?).ok()?);
        }
        let file = self.file?;
        self.line = self.line.checked_add(rest.read_sleb128().ok()?)?;
        let line = u32::try_from(self.line).ok()?;
        Some(LineRow { section, is_code: head & IS_CODE != 0, offset, size, file, line })
    }
}

/// Writes a row that says more than its size and the step to its line, or has large numbers.
#[cold]
fn write_long(row: &LineRow, head: u64, step: i64, bytes: &mut Vec<u8>) {
    let mut number = |number| {
        // Writing to memory cannot fail.
        let _ = write::unsigned(bytes, number);
    };
    number(head);
    if head & IS_ELSEWHERE != 0 {
        number(number_of(row.section));
        number(row.offset.into());
    }
    if head & IN_OTHER_FILE != 0 {
        number(row.file.into());
    }
    let _ = write::signed(bytes, step);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(section: SectionKind, offset: u16, size: u32, file: u32, line: u32) -> LineRow {
        LineRow { section, is_code: size < 5, offset, size, file, line }
    }

    #[test]
    fn rows_come_back_as_they_went_in() {
        use SectionKind::{Absolute, Data, Prog};
        let rows = vec![
            row(Absolute, 0, 3, 0, 1),
            row(Absolute, 3, 15, 0, 64),
            row(Absolute, 18, 16, 0, 128),
            row(Prog, 34, 1, 0, 2),
            row(Prog, 35, 0x1_0000, 300, u32::MAX),
            row(Data, 35, u32::MAX - 35, 300, 0),
            row(Data, u16::MAX, 1, 0, 1),
            row(Data, 0, 1, 0, 1),
        ];
        let kept: Rows = rows.iter().cloned().collect();
        assert_eq!((kept.len(), kept.is_empty()), (rows.len(), false));
        assert_eq!(kept.iter().collect::<Vec<_>>(), rows);
        assert_eq!(kept.bytes[3..5], [15 << FLAGS, 63]);
    }

    #[test]
    fn rows_go_on_behind_what_was_told() {
        let rows: Rows = (1..4).map(|line| row(SectionKind::Prog, 0, 1, 0, line)).collect();
        let told = Told::line(Some(0), 1);
        let (first, others) = rows.bytes_behind(told);
        let bytes = [&first, others].concat();
        assert_eq!(first.len(), 4, "flags, section, offset and line, but no file");
        let (mut rest, mut told) = (EndianSlice::new(&bytes, LittleEndian), told);
        let read = std::iter::from_fn(|| told.read(&mut rest));
        assert_eq!(read.collect::<Vec<_>>(), rows.iter().collect::<Vec<_>>());
        assert_eq!(Rows::default().bytes_behind(told), (Vec::new(), &[][..]));
    }
}
