//! The encoding of line rows in object files, each as the difference from the one before: most take
//! two bytes.

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
pub(crate) fn number_of(kind: SectionKind) -> u64 {
    match kind {
        SectionKind::Absolute => 0,
        SectionKind::Prog => 1,
        SectionKind::Data => 2,
        SectionKind::Blank => 3,
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

    pub(crate) fn write(&mut self, row: &LineRow, bytes: &mut Vec<u8>) {
        let step = i64::from(row.line) - self.line;
        let is_elsewhere = self.section != row.section || self.end != u32::from(row.offset);
        let is_in_other_file = self.file != Some(row.file);
        let flag = |is_so, flag| if is_so { flag } else { 0 };
        let head = u64::from(row.size) << FLAGS
            | flag(row.is_code, IS_CODE)
            | flag(is_elsewhere, IS_ELSEWHERE)
            | flag(is_in_other_file, IN_OTHER_FILE);
        self.section = row.section;
        self.end = u32::from(row.offset) + row.size;
        self.file = Some(row.file);
        self.line = row.line.into();
        let mut number = |number| {
            // Writing to memory cannot fail.
            let _ = write::unsigned(bytes, number);
        };
        number(head);
        if is_elsewhere {
            number(number_of(row.section));
            number(row.offset.into());
        }
        if is_in_other_file {
            number(row.file.into());
        }
        let _ = write::signed(bytes, step);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn row(section: SectionKind, offset: u16, size: u32, file: u32, line: u32) -> LineRow {
        LineRow { section, is_code: size < 5, offset, size, file, line }
    }

    fn encoded(rows: &[LineRow], mut previous: RowDeltaState) -> Vec<u8> {
        let mut bytes = Vec::new();
        rows.iter().for_each(|row| previous.write(row, &mut bytes));
        bytes
    }

    fn decoded(bytes: &[u8], mut previous: RowDeltaState) -> Vec<LineRow> {
        let mut rest = EndianSlice::new(bytes, LittleEndian);
        std::iter::from_fn(|| previous.read(&mut rest)).collect()
    }

    #[test]
    fn rows_come_back_as_they_went_in() {
        use SectionKind::{Absolute, Data, Prog};
        let rows = [
            row(Absolute, 0, 3, 0, 1),
            row(Absolute, 3, 15, 0, 64),
            row(Absolute, 18, 16, 0, 128),
            row(Prog, 34, 1, 0, 2),
            row(Prog, 35, 0x1_0000, 300, u32::MAX),
            row(Data, 35, u32::MAX - 35, 300, 0),
            row(Data, u16::MAX, 1, 0, 1),
            row(Data, 0, 1, 0, 1),
        ];
        let bytes = encoded(&rows, RowDeltaState::default());
        assert_eq!(decoded(&bytes, RowDeltaState::default()), rows);
        assert_eq!(bytes[3..5], [15 << FLAGS, 63]);
    }

    #[test]
    fn rows_continue_after_the_last_stated_line() {
        let rows = [1, 2, 3].map(|line| row(SectionKind::Prog, 0, 1, 0, line));
        let previous = RowDeltaState::line(Some(0), 1);
        let bytes = encoded(&rows, previous);
        assert_eq!(decoded(&bytes, previous), rows);
        assert_eq!(encoded(&rows[..1], previous).len(), 4, "flags, section, offset, line, no file");
    }
}
