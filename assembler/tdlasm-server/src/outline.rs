//! What a document contains: symbols, folding ranges, and links to included files.

use std::borrow::Cow;
use std::path::Path;

use lsp_types::{DocumentLink, FoldingRange, FoldingRangeKind, Range, SymbolKind, Uri};
use serde::Serialize;
use tdlasm::references::{NameKind, ReferenceRole};
use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::lex;

use super::analysis::{Analysis, FileReference};
use super::positions::LineIndex;
use super::workspace::Workspace;

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

/// Returns the links in a file; an included file that is not found has none.
pub(super) fn links(workspace: &Workspace, path: &Path, text: &[u8]) -> Vec<DocumentLink> {
    let Some(statements) = workspace.statements(path, text) else { return Vec::new() };
    let lines = LineIndex::new(text);
    let link = |operands: &std::ops::Range<usize>| {
        let found = workspace
            .programs_including(path)
            .find_map(|one| one.included_file_at(path, operands.start))?;
        Some(DocumentLink {
            range: lines.range(operands.clone()),
            target: Some(workspace.uri(found)?),
            tooltip: None,
            data: None,
        })
    };
    let inserts = statements.list.iter().filter_map(|(_, parts)| parts.as_ref()).filter(|parts| {
        let directive = Directive::from_word(&text[parts.operator.clone()]);
        directive == Some(Directive::Insert) && !parts.operands.is_empty()
    });
    inserts.filter_map(|parts| link(&parts.operands)).collect()
}

/// A symbol of the protocol without its optional fields, since files have thousands of symbols.
#[derive(Debug, Serialize)]
pub(super) struct Symbol<'w> {
    name: Cow<'w, str>,
    kind: SymbolKind,
    location: Location,
}

#[derive(Debug, Serialize)]
struct Location {
    uri: Uri,
    range: Range,
}

/// Returns the definitions of a file, or of all files, whose names contain `query`.
pub(super) fn symbols<'w>(
    workspace: &'w Workspace,
    path: Option<&Path>,
    query: &str,
) -> Vec<Symbol<'w>> {
    let query = query.to_ascii_uppercase();
    let mut found: Vec<(&Path, FileReference, Symbol<'_>)> = Vec::new();
    let is_asked = |program: &&Analysis| path.is_none_or(|path| program.includes_file(path));
    for program in workspace.programs().filter(is_asked) {
        for places in program.definitions().chunk_by(|one, other| one.file == other.file) {
            let file = &program.files[places[0].file as usize];
            if path.is_none_or(|path| file == path) {
                found.extend(of_file(workspace, program, places, &query));
            }
        }
    }
    // The same place may be read by several programs.
    found.sort_by(|(one, place, _), (other, other_place, _)| {
        (one.as_os_str(), place.start).cmp(&(other.as_os_str(), other_place.start))
    });
    found.dedup_by(|(one, place, _), (other, other_place, _)| {
        place.start == other_place.start && one.as_os_str() == other.as_os_str()
    });
    found.into_iter().map(|(_, _, symbol)| symbol).collect()
}

/// Converts those of the definitions of one file whose names contain `query`.
fn of_file<'w>(
    workspace: &'w Workspace,
    program: &'w Analysis,
    places: &[FileReference],
    query: &str,
) -> Vec<(&'w Path, FileReference, Symbol<'w>)> {
    let Some(file) = places.first().map(|place| place.file) else { return Vec::new() };
    let path = &*program.files[file as usize];
    let Some(uri) = workspace.uri(path) else { return Vec::new() };
    let text = program.text(file);
    let lines = LineIndex::new(text);
    let wanted = places.iter().filter(|place| {
        let kind = program.name(place.name).kind;
        place.role == ReferenceRole::Definition
            && !matches!(kind, NameKind::Parameter | NameKind::Language)
            && has(&text[place.range()], query)
    });
    let symbol = |place: FileReference| {
        let kind = match program.name(place.name).kind {
            NameKind::Label | NameKind::External => SymbolKind::FUNCTION,
            NameKind::Macro => SymbolKind::OPERATOR,
            NameKind::Constant => SymbolKind::CONSTANT,
            _ => SymbolKind::VARIABLE,
        };
        let name = String::from_utf8_lossy(&text[place.range()]);
        let location = Location { uri: uri.clone(), range: lines.range(place.range()) };
        (path, place, Symbol { name, kind, location })
    };
    wanted.cloned().map(symbol).collect()
}

/// Returns `true` if a name contains `query`, which is in upper case.
fn has(name: &[u8], query: &str) -> bool {
    let parts = || name.to_ascii_uppercase();
    query.is_empty() || parts().windows(query.len()).any(|part| part == query.as_bytes())
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
