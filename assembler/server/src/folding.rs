//! The stretches that can be folded: texts in brackets, as of macros and conditionals, and comments
//! of several lines.

use lsp_types::{FoldingRange, FoldingRangeKind};

use tdlasm::syntax::lex;

use super::text::Lines;

/// The foldable stretches of a text, by where they begin.
pub(super) fn folding(text: &[u8], brackets: &[(u32, u32)]) -> Vec<FoldingRange> {
    let lines = Lines::new(text);
    let mut found = comments(&lines);
    for (open, close) in brackets {
        let first = lines.line(*open as usize);
        let last = lines.line(*close as usize);
        // The line of the closing bracket stays to be seen.
        if first + 1 < last {
            found.push(range(first, last - 1, FoldingRangeKind::Region));
        }
    }
    found.sort_by_key(|one| (one.start_line, one.end_line));
    found.dedup();
    found
}

fn range(first: usize, last: usize, kind: FoldingRangeKind) -> FoldingRange {
    let start_line = first as u32;
    let end_line = last as u32;
    FoldingRange { start_line, end_line, kind: Some(kind), ..FoldingRange::default() }
}

/// Runs of lines that are only comments.
fn comments(lines: &Lines<'_>) -> Vec<FoldingRange> {
    let is_comment = |line: &usize| {
        let text = lines.get(*line);
        text.iter().find(|byte| !lex::is_blank(**byte)) == Some(&b';')
    };
    let all: Vec<usize> = (0..lines.count()).filter(is_comment).collect();
    let runs = all.chunk_by(|one, next| one + 1 == *next).filter(|run| run.len() > 1);
    runs.map(|run| range(run[0], run[run.len() - 1], FoldingRangeKind::Comment)).collect()
}
