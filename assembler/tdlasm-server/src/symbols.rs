//! The symbols of a file or of the whole workspace.

use std::borrow::Cow;
use std::path::Path;

use lsp_types::{Range, SymbolKind, Uri};
use serde::Serialize;
use tdlasm::references::{NameKind, ReferenceRole};

use super::analysis::{Analysis, FileReference};
use super::positions::LineIndex;
use super::workspace::Workspace;

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
