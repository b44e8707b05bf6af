//! Computes line edits that turn one text into another.

use lsp_types::{Position, Range, TextEdit};

use super::positions::LineIndex;

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
    let edits = differ.map(|line| {
        let start = old.start(line);
        TextEdit::new(old.range(start..start + old.get(line).len()), text(new.get(line)))
    });
    edits.collect()
}
