//! Folding ranges: texts in brackets, as of macros and conditionals, and comments of several lines.

use lsp_types::{FoldingRange, FoldingRangeKind};
use tdlasm::syntax::lex;

use super::positions::LineIndex;

/// Returns the folding ranges of a text, sorted by start.
pub(super) fn folding(text: &[u8]) -> Vec<FoldingRange> {
    let lines = LineIndex::new(text);
    let mut found = comments(&lines);
    for Brackets { open, close } in pairs(text) {
        let first = lines.line(open);
        let last = lines.line(close);
        // The line of the closing bracket stays visible.
        if first + 1 < last {
            found.push(range(first, last - 1, FoldingRangeKind::Region));
        }
    }
    found.sort_by_key(|one| (one.start_line, one.end_line));
    found.dedup();
    found
}

/// The offsets of two matching brackets.
pub(super) struct Brackets {
    pub(super) open: usize,
    pub(super) close: usize,
}

/// Returns the pairs of matching brackets, without those in comments and quotes.
pub(super) fn pairs(text: &[u8]) -> Vec<Brackets> {
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (at, bracket) in lex::live_brackets(text) {
        if bracket == b'[' {
            open.push(at);
        } else if let Some(open) = open.pop() {
            found.push(Brackets { open, close: at });
        }
    }
    found
}

fn range(first: usize, last: usize, kind: FoldingRangeKind) -> FoldingRange {
    let start_line = first as u32;
    let end_line = last as u32;
    FoldingRange { start_line, end_line, kind: Some(kind), ..FoldingRange::default() }
}

/// Runs of lines that are only comments.
fn comments(lines: &LineIndex<'_>) -> Vec<FoldingRange> {
    let is_comment = |line: &usize| {
        let text = lines.get(*line);
        text.iter().find(|byte| !lex::is_blank(**byte)) == Some(&b';')
    };
    let all: Vec<usize> = (0..lines.count()).filter(is_comment).collect();
    let runs = all.chunk_by(|one, next| one + 1 == *next).filter(|run| run.len() > 1);
    runs.map(|run| range(run[0], run[run.len() - 1], FoldingRangeKind::Comment)).collect()
}

#[cfg(test)]
mod tests {
    use super::folding;

    #[test]
    fn brackets_in_comments_and_quotes_neither_begin_nor_end_a_fold() {
        let folds = |text: &str| -> Vec<_> {
            let found = folding(text.as_bytes());
            found.iter().map(|one| (one.start_line, one.end_line)).collect()
        };
        let text = " .IFE 0,[ ; see ]\n .BYTE ']','['\n NOP\n]\n .BYTE 1\n";
        assert_eq!(folds(text), [(0, 2)]);
        assert_eq!(folds(" NOP ; [\n NOP\n NOP\n NOP ; ]\n"), []);
    }
}
