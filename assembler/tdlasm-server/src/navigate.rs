//! Definitions and references.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lsp_types::{DocumentHighlight, DocumentHighlightKind, Location, Range};
use tdlasm::references::ReferenceRole;

use super::positions::LineIndex;
use super::symbol_identity::{self, Occurrence};
use super::workspace::Workspace;

/// Converts offsets of files to locations of the protocol.
pub(super) struct Locator<'w> {
    workspace: &'w Workspace,
    texts: BTreeMap<PathBuf, Vec<u8>>,
}

impl<'w> Locator<'w> {
    pub(super) fn new(workspace: &'w Workspace) -> Self {
        Self { workspace, texts: BTreeMap::new() }
    }

    pub(super) fn located<'f>(
        &mut self,
        found: &[Occurrence<'f>],
    ) -> Vec<(Occurrence<'f>, Location)> {
        let mut located = Vec::new();
        for group in found.chunk_by(|one, other| one.path().as_os_str() == other.path().as_os_str())
        {
            let path = group[0].path();
            let Some(uri) = self.workspace.uri(path) else { continue };
            let workspace = self.workspace;
            let read = || workspace.text(path).unwrap_or_default();
            let lines = LineIndex::new(self.texts.entry(path.to_owned()).or_insert_with(read));
            located.extend(group.iter().map(|one| {
                let range = lines.range(one.place.range());
                (*one, Location { uri: uri.clone(), range })
            }));
        }
        located
    }

    fn locations(&mut self, found: &[Occurrence<'_>]) -> Vec<Location> {
        let mut all: Vec<_> =
            self.located(found).into_iter().map(|(_, location)| location).collect();
        all.dedup();
        all
    }
}

/// Returns the definition of the symbol at an offset; for the name of an included file, the file.
pub(super) fn definition(workspace: &Workspace, path: &Path, offset: usize) -> Vec<Location> {
    for program in workspace.programs_including(path) {
        if let Some(file) = program.included_file_at(path, offset) {
            let location = |uri| Location { uri, range: Range::default() };
            return workspace.uri(file).map(location).into_iter().collect();
        }
    }
    let Some(target) = symbol_identity::identify_at(workspace, path, offset) else {
        return Vec::new();
    };
    let places = target.places(workspace);
    let with = |role| -> Vec<Occurrence<'_>> {
        places.iter().filter(|one| one.place.role == role).copied().collect()
    };
    let mut found = with(ReferenceRole::Definition);
    if found.is_empty() {
        found = with(ReferenceRole::Declaration);
    }
    Locator::new(workspace).locations(&found)
}

/// Returns all references to the symbol at an offset; definitions are included only on request.
pub(super) fn references(
    workspace: &Workspace,
    path: &Path,
    offset: usize,
    wanted: bool,
) -> Vec<Location> {
    let Some(target) = symbol_identity::identify_at(workspace, path, offset) else {
        return Vec::new();
    };
    let mut found = target.places(workspace);
    found.retain(|one| wanted || one.place.role == ReferenceRole::Use);
    Locator::new(workspace).locations(&found)
}

/// Returns the references in the same file.
pub(super) fn highlights(
    workspace: &Workspace,
    path: &Path,
    offset: usize,
) -> Vec<DocumentHighlight> {
    let Some(target) = symbol_identity::identify_at(workspace, path, offset) else {
        return Vec::new();
    };
    let mut found = target.places(workspace);
    found.retain(|one| one.path() == path);
    let shown = Locator::new(workspace).located(&found).into_iter().map(|(one, location)| {
        let kind = match one.place.role {
            ReferenceRole::Use => DocumentHighlightKind::READ,
            ReferenceRole::Definition | ReferenceRole::Declaration => DocumentHighlightKind::WRITE,
        };
        DocumentHighlight { range: location.range, kind: Some(kind) }
    });
    shown.collect()
}
