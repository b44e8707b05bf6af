//! What a document contains: symbols, folding ranges, and links to included files.

use std::path::Path;

use lsp_types::{
    DocumentLink, FoldingRange, FoldingRangeKind, Location, SymbolInformation, SymbolKind,
};
use tdlasm::references::{NameKind, ReferenceRole};
use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::lex;

use super::analysis::{Analysis, FileReference};
use super::positions::LineIndex;
use super::workspace::{File, Workspace};

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
pub(super) fn links(file: &File<'_>) -> Vec<DocumentLink> {
    let Some(statements) = file.statements() else { return Vec::new() };
    let lines = file.lines();
    let mut links = Vec::new();
    for parts in statements.list.iter().filter_map(|(_, parts)| parts.as_ref()) {
        let directive = Directive::from_word(&file.text[parts.operator.clone()]);
        let inserted = |program: &'_ Analysis| -> Option<_> {
            file.workspace.uri(program.included_file_at(&file.path, parts.operands.start)?)
        };
        if directive == Some(Directive::Insert)
            && !parts.operands.is_empty()
            && let target @ Some(_) = file.programs().find_map(inserted)
        {
            let range = lines.range(parts.operands.clone());
            links.push(DocumentLink { range, target, tooltip: None, data: None });
        }
    }
    links
}

/// Returns the definitions of a file, or of all files, whose names contain `query`.
pub(super) fn symbols(
    workspace: &Workspace,
    path: Option<&Path>,
    query: &str,
) -> Vec<SymbolInformation> {
    let query = query.to_ascii_uppercase();
    let mut found: Vec<(&Path, u32, SymbolInformation)> = Vec::new();
    for program in workspace.programs() {
        for places in program.definitions().chunk_by(|one, other| one.file == other.file) {
            let file = program.files[places[0].file as usize].as_path();
            if path.is_none_or(|path| file == path) {
                found.extend(symbols_of_file(workspace, program, places, &query));
            }
        }
    }
    // The same place may be read by several programs.
    found.sort_by_key(|(file, start, _)| (file.as_os_str(), *start));
    found.dedup_by_key(|(file, start, _)| (file.as_os_str(), *start));
    found.into_iter().map(|(_, _, symbol)| symbol).collect()
}

/// Converts those of the definitions of one file whose names contain `query`.
fn symbols_of_file<'w>(
    workspace: &Workspace,
    program: &'w Analysis,
    places: &[FileReference],
    query: &str,
) -> Vec<(&'w Path, u32, SymbolInformation)> {
    let Some(file) = places.first().map(|place| place.file) else { return Vec::new() };
    let path = program.files[file as usize].as_path();
    let Some(uri) = workspace.uri(path) else { return Vec::new() };
    let text = program.text(file);
    let lines = LineIndex::new(text);
    let mut found = Vec::new();
    for place in places.iter().filter(|place| place.role == ReferenceRole::Definition) {
        let kind = match program.name(place.name).kind {
            NameKind::Parameter | NameKind::Language => continue,
            NameKind::Label | NameKind::External => SymbolKind::FUNCTION,
            NameKind::Macro => SymbolKind::OPERATOR,
            NameKind::Constant => SymbolKind::CONSTANT,
            NameKind::Variable | NameKind::Undefined => SymbolKind::VARIABLE,
        };
        let name = String::from_utf8_lossy(&text[place.range()]).into_owned();
        if !name.to_ascii_uppercase().contains(query) {
            continue;
        }
        let location = Location { uri: uri.clone(), range: lines.range(place.range()) };
        #[expect(deprecated, reason = "the field has to be set")]
        let symbol = SymbolInformation {
            name,
            kind,
            tags: None,
            deprecated: None,
            location,
            container_name: None,
        };
        found.push((path, place.start, symbol));
    }
    found
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
