//! Positions: the protocol counts lines from 0 and units of UTF-16, the assembler bytes.

use lsp_types::{Position, Range, TextEdit};
use tdlasm::source::line_starts;

#[derive(Debug, Clone)]
pub(super) struct LineIndex<'t> {
    text: &'t [u8],
    starts: Vec<u32>,
}

impl<'t> LineIndex<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text, starts: line_starts(text) }
    }

    /// Returns the line, from 0, that contains an offset.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start as usize <= offset).saturating_sub(1)
    }

    /// Returns the start of a line, or the text's end for a line beyond the last.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts.get(line).map_or(self.text.len(), |start| *start as usize)
    }

    /// Returns the number of lines; a final line end is followed by an empty line.
    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn get(&self, line: usize) -> &'t [u8] {
        let text = &self.text[self.start(line)..self.start(line + 1)];
        let ends = text.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        &text[..text.len() - ends]
    }

    /// Returns the range of a line, without its end.
    pub(super) fn line_range(&self, line: usize) -> std::ops::Range<usize> {
        self.start(line)..self.start(line) + self.get(line).len()
    }

    pub(super) fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        let mut units = position.character as usize;
        let mut at = self.start(line);
        for (bytes, length) in characters(self.get(line)) {
            if units < length {
                break;
            }
            units -= length;
            at += bytes;
        }
        at
    }

    pub(super) fn position(&self, offset: usize) -> Position {
        let line = self.line(offset);
        let start = self.start(line);
        Position::new(
            line as u32,
            utf16_len(&self.text[start..offset.clamp(start, self.text.len())]),
        )
    }

    pub(super) fn range(&self, range: std::ops::Range<usize>) -> Range {
        Range::new(self.position(range.start), self.position(range.end))
    }
}

/// Returns the length of a text in units of UTF-16.
pub(super) fn utf16_len(text: &[u8]) -> u32 {
    characters(text).map(|(_, units)| units as u32).sum()
}

/// Returns the length of each character in bytes and UTF-16 units; an invalid byte counts as one.
fn characters(text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    text.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid().chars().map(|one| (one.len_utf8(), one.len_utf16()));
        valid.chain(chunk.invalid().iter().map(|_| (1, 1)))
    })
}

pub(super) fn edits_in_range(edits: Vec<TextEdit>, range: Range) -> Vec<TextEdit> {
    let lines = range.start.line..=range.end.line;
    edits
        .into_iter()
        .filter(|one| one.range.start.line == one.range.end.line)
        .filter(|one| lines.contains(&one.range.start.line))
        .collect()
}

/// Returns the edits that turn `before` into `after`: the lines that differ if both have the same
/// number of lines, else the whole text.
pub(super) fn diff_lines(before: &[u8], after: &[u8]) -> Vec<TextEdit> {
    let old = LineIndex::new(before);
    let new = LineIndex::new(after);
    let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    if old.count() != new.count() {
        let range = Range::new(Position::new(0, 0), old.position(before.len()));
        return vec![TextEdit::new(range, text(after))];
    }
    let differ = (0..old.count()).filter(|line| old.get(*line) != new.get(*line));
    differ.map(|line| TextEdit::new(old.range(old.line_range(line)), text(new.get(line)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_count_as_in_utf16() {
        // U+00E9 has one unit and two bytes, U+1F600 two units and four bytes.
        let text = "; \u{e9}\u{1F600}x\r\nNOP\rEND\n".as_bytes();
        let lines = LineIndex::new(text);
        let positions =
            [(0, 0, 0), (2, 0, 2), (4, 0, 3), (8, 0, 5), (9, 0, 6), (11, 1, 0), (15, 2, 0)];
        for (offset, line, character) in positions {
            assert_eq!(lines.position(offset), Position::new(line, character));
            assert_eq!(lines.offset(Position::new(line, character)), offset);
        }
    }

    #[test]
    fn positions_beyond_ends_and_within_characters_have_an_offset() {
        let lines = LineIndex::new("\u{1F600}\nAB\n".as_bytes());
        let at = |line, character| lines.offset(Position::new(line, character));
        assert_eq!([at(0, 1), at(0, 9), at(1, 9), at(2, 0), at(7, 3)], [0, 4, 7, 8, 8]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_a_character_each() {
        let lines = LineIndex::new(b"\xE9\xFFA");
        assert_eq!(lines.position(2), Position::new(0, 2));
        assert_eq!(lines.offset(Position::new(0, 3)), 3);
    }
}
