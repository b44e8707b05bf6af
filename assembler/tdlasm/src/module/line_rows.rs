//! A delta-encoded line table, in the encoding of object files: most rows take two bytes, where a
//! [`LineRow`] takes sixteen. Programs have about as many rows as lines, and all stay in memory.

#![deny(clippy::cast_possible_truncation)]

use gimli::leb128::write;
use gimli::{EndianSlice, LittleEndian, Reader};

use super::{LineRow, SectionKind};

/// The section kinds by their number in the encoding.
pub(crate) const KINDS: [SectionKind; 4] =
    [SectionKind::Absolute, SectionKind::Prog, SectionKind::Data, SectionKind::Blank];

/// Flags of a row, below its size.
const IS_CODE: u64 = 1;
const IS_ELSEWHERE: u64 = 2;
const IN_OTHER_FILE: u64 = 4;
const FLAGS: u32 = 3;
/// Sizes below this one take one byte, together with the flags.
const SHORT_SIZE: u32 = 1 << (7 - FLAGS);

/// The usual size of a row in bytes.
pub(crate) const ROW_BYTES: usize = 2;

pub(crate) fn number_of(kind: SectionKind) -> u64 {
    match kind {
        SectionKind::Absolute => 0,
        SectionKind::Prog => 1,
        SectionKind::Data => 2,
        SectionKind::Blank => 3,
    }
}

/// The rows of a line table, in the order of assembly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineRows {
    bytes: Vec<u8>,
    count: usize,
    last: RowDeltaState,
}

impl LineRows {
    /// Reserves memory for more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.bytes.reserve(rows * ROW_BYTES);
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, row: &LineRow) {
        self.last.write(row, &mut self.bytes);
        self.count += 1;
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the rows.
    pub fn iter(&self) -> impl Iterator<Item = LineRow> {
        let mut rest = EndianSlice::new(&self.bytes, LittleEndian);
        let mut previous = RowDeltaState::default();
        std::iter::from_fn(move || previous.read(&mut rest))
    }

    /// Returns the encoded rows, given the state of the encoder before them: the bytes of the first
    /// row, and the bytes of all others, which do not depend on that state.
    pub(crate) fn bytes_behind(&self, mut previous: RowDeltaState) -> (Vec<u8>, &[u8]) {
        let mut rest = EndianSlice::new(&self.bytes, LittleEndian);
        let mut first = Vec::new();
        if let Some(row) = RowDeltaState::default().read(&mut rest) {
            previous.write(&row, &mut first);
        }
        (first, rest.slice())
    }
}

impl FromIterator<LineRow> for LineRows {
    fn from_iter<I: IntoIterator<Item = LineRow>>(rows: I) -> Self {
        let mut all = Self::default();
        rows.into_iter().for_each(|row| all.push(&row));
        all
    }
}

/// The previous row, against which a row is delta-encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowDeltaState {
    /// The address after the previous row.
    section: SectionKind,
    end: u32,
    file: Option<u32>,
    line: i64,
}

impl Default for RowDeltaState {
    fn default() -> Self {
        Self { section: SectionKind::Absolute, end: 0, file: None, line: 0 }
    }
}

impl RowDeltaState {
    pub(crate) fn line(file: Option<u32>, line: i64) -> Self {
        Self { file, line, ..Self::default() }
    }

    #[inline]
    fn write(&mut self, row: &LineRow, bytes: &mut Vec<u8>) {
        let step = i64::from(row.line) - self.line;
        let follows = self.section == row.section && self.end == u32::from(row.offset);
        let same = self.file == Some(row.file);
        if let (true, 0..SHORT_SIZE, -0x40..0x40) = (follows && same, row.size, step) {
            // The most frequent case: a byte for size and line each, and no gap. It needs no loop.
            let head = row.size.to_le_bytes()[0] << FLAGS | u8::from(row.is_code);
            bytes.extend_from_slice(&[head, step.to_le_bytes()[0] & 0x7F]);
            self.end += row.size;
            self.line = row.line.into();
            return;
        }
        let flag = |is_so, flag| if is_so { flag } else { 0 };
        let head = u64::from(row.size) << FLAGS
            | flag(row.is_code, IS_CODE)
            | flag(!follows, IS_ELSEWHERE)
            | flag(!same, IN_OTHER_FILE);
        self.section = row.section;
        self.end = u32::from(row.offset) + row.size;
        self.file = Some(row.file);
        self.line = row.line.into();
        write_long(row, head, step, bytes);
    }

    /// Reads a row. Returns `None` at the end, and for an invalid row.
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

/// Writes a row that needs more than size and line step, or has large numbers.
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
        let kept: LineRows = rows.iter().cloned().collect();
        assert_eq!((kept.len(), kept.is_empty()), (rows.len(), false));
        assert_eq!(kept.iter().collect::<Vec<_>>(), rows);
        assert_eq!(kept.bytes[3..5], [15 << FLAGS, 63]);
    }

    #[test]
    fn rows_continue_after_the_last_stated_line() {
        let rows: LineRows = (1..4).map(|line| row(SectionKind::Prog, 0, 1, 0, line)).collect();
        let previous = RowDeltaState::line(Some(0), 1);
        let (first, others) = rows.bytes_behind(previous);
        let bytes = [&first, others].concat();
        assert_eq!(first.len(), 4, "flags, section, offset and line, but no file");
        let (mut rest, mut previous) = (EndianSlice::new(&bytes, LittleEndian), previous);
        let read = std::iter::from_fn(|| previous.read(&mut rest));
        assert_eq!(read.collect::<Vec<_>>(), rows.iter().collect::<Vec<_>>());
        assert_eq!(LineRows::default().bytes_behind(previous), (Vec::new(), &[][..]));
    }
}
