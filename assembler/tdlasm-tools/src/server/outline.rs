//! What a document contains: symbols, folding ranges, and links to included files.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use crate::mnemonics::ZilogDirective as D;
use crate::statement::StatementParts;
use lsp_types::{
    DocumentLink, FoldingRange, FoldingRangeKind, Location, SymbolInformation, SymbolKind,
};
use tdlasm::references::{NameKind, ReferenceRole};
use tdlasm::syntax::lex;

use super::analysis::{Analysis, FileReference};
use super::positions::LineIndex;
use super::workspace::{File, Workspace};

/// Returns the folding ranges of a file, sorted by start.
pub(super) fn folding(file: &File<'_>) -> Vec<FoldingRange> {
    let lines = file.lines();
    let mut found = comments(&lines);
    for block in blocks(file) {
        let first = lines.line(block.start);
        let last = lines.line(block.end - 1);
        // The line that closes the block stays visible.
        if first + 1 < last {
            found.push(range(first, last - 1, FoldingRangeKind::Region));
        }
    }
    found.sort_by_key(|one| (one.start_line, one.end_line));
    found.dedup();
    found
}

/// Returns the blocks of conditionals and macros, with what opens and closes each: brackets outside
/// of comments and quotes, and directives of M80.
fn blocks(file: &File<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !file.language().is_zilog {
        let brackets = lex::live_brackets(&file.text);
        let places = brackets.map(|(at, sign)| (at..at + 1, sign == b']', sign == b'['));
        pair(places, &mut found);
    }
    if let Some(statements) = file.statements() {
        let directive = |parts: &StatementParts| {
            let word = &file.text[parts.operator.clone()];
            let directive = parts.language.zilog_directive(word)?;
            let closes = matches!(directive, D::Else | D::EndIf | D::EndMacro);
            let opens = matches!(directive, D::Else | D::If(..) | D::Macro | D::Repeat(_));
            Some((parts.operator.clone(), closes, opens))
        };
        let all = statements.list.iter().filter_map(|(_, parts)| parts.as_ref());
        pair(all.filter_map(directive), &mut found);
    }
    found
}

/// Adds the blocks of a list of places, each with whether it closes a block and opens one.
fn pair(places: impl Iterator<Item = (Range<usize>, bool, bool)>, found: &mut Vec<Range<usize>>) {
    let mut open = Vec::new();
    for (place, closes, opens) in places {
        if closes && let Some(start) = open.pop() {
            found.push(start..place.end);
        }
        if opens {
            open.push(place.start);
        }
    }
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
        let inserted = |program: &'_ Analysis| -> Option<_> {
            file.workspace.uri(program.included_file_at(&file.path, parts.operands.start)?)
        };
        if parts.language.takes_file(&file.text[parts.operator.clone()])
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
    // The same place may be read by several programs.
    let mut found = BTreeMap::new();
    for program in workspace.programs() {
        for (index, file) in (0..).zip(&program.files) {
            if path.is_some_and(|path| file != path) {
                continue;
            }
            let Some(uri) = workspace.uri(file) else { continue };
            let lines = LineIndex::new(program.text(index));
            for place in program.references_in(file) {
                let key = (file.as_os_str(), place.start);
                if !found.contains_key(&key)
                    && let Some((name, kind)) = symbol(program, place)
                    && name.to_ascii_uppercase().contains(&query)
                {
                    let location = Location { uri: uri.clone(), range: lines.range(place.range()) };
                    found.insert(key, symbol_information(name, kind, location));
                }
            }
        }
    }
    found.into_values().collect()
}

/// Returns the name and kind of a symbol or macro that is defined at a place.
fn symbol(program: &Analysis, place: &FileReference) -> Option<(String, SymbolKind)> {
    let kind = match program.name(place.name).kind {
        _ if place.role != ReferenceRole::Definition => return None,
        NameKind::Parameter | NameKind::Language => return None,
        NameKind::Label | NameKind::External => SymbolKind::FUNCTION,
        NameKind::Macro => SymbolKind::OPERATOR,
        NameKind::Constant => SymbolKind::CONSTANT,
        NameKind::Variable | NameKind::Undefined => SymbolKind::VARIABLE,
    };
    let name = &program.text(place.file)[place.range()];
    Some((String::from_utf8_lossy(name).into_owned(), kind))
}

#[expect(deprecated, reason = "the field has to be set")]
fn symbol_information(name: String, kind: SymbolKind, location: Location) -> SymbolInformation {
    let (tags, deprecated, container_name) = (None, None, None);
    SymbolInformation { name, kind, tags, deprecated, location, container_name }
}
