//! Open documents of the editor, which override the files on the disk.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use lsp_types::{TextDocumentContentChangeEvent, Uri};
use tdlasm::source::{DiskLoader, Loader, Origin, SourceMap};

use super::pass_plan;
use super::positions::LineIndex;

#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) uri: Uri,
    /// The editor's version number of the text.
    pub(super) version: i32,
    pub(super) text: String,
}

impl Document {
    /// Applies edits in order; returns `true` if the text probably needs two passes now.
    pub(super) fn apply_changes(&mut self, changes: Vec<TextDocumentContentChangeEvent>) -> bool {
        let mut expect_two_passes = false;
        for TextDocumentContentChangeEvent { range, text, .. } in changes {
            let Some(range) = range else {
                self.text = text;
                continue;
            };
            let lines = LineIndex::new(self.text.as_bytes());
            let start = lines.offset(range.start);
            let end = lines.offset(range.end).max(start);
            let before = self.text[pass_plan::touched_lines(&self.text, start..end)].to_owned();
            self.text.replace_range(start..end, &text);
            let after = pass_plan::touched_lines(&self.text, start..start + text.len());
            expect_two_passes |=
                pass_plan::likely_needs_two_passes(&before, &self.text[after], &self.text);
        }
        expect_two_passes
    }
}

/// All open documents by their paths.
#[derive(Debug, Default)]
pub(super) struct Documents {
    pub(super) open: HashMap<PathBuf, Document>,
}

impl Documents {
    /// Returns the text of a file, from the editor if it is open there.
    pub(super) fn text(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.open.get(path) {
            Some(document) => Ok(document.text.clone().into_bytes()),
            None => DiskLoader.load(path),
        }
    }
}

/// The files of the workspace with some texts replaced.
pub(super) struct Overlay<'d> {
    pub(super) documents: &'d Documents,
    pub(super) texts: BTreeMap<PathBuf, Vec<u8>>,
}

impl Loader for Overlay<'_> {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        let changed = self.texts.get(&normalize_path(path)).cloned();
        changed.map_or_else(|| self.documents.load(path), Ok)
    }

    fn exists(&self, path: &Path) -> bool {
        self.documents.exists(path)
    }
}

impl Loader for Documents {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.text(&normalize_path(path))
    }

    fn exists(&self, path: &Path) -> bool {
        let path = normalize_path(path);
        self.open.contains_key(&path) || DiskLoader.exists(&path)
    }
}

/// The texts of an earlier assembly.
pub(super) struct Snapshot {
    texts: HashMap<PathBuf, Arc<Vec<u8>>>,
}

impl Snapshot {
    /// The files in a source map.
    pub(super) fn of(sources: &SourceMap) -> Self {
        let files = sources.iter().filter(|one| !matches!(one.origin, Origin::Macro(_)));
        let texts = files.map(|one| (PathBuf::from(&*one.name), Arc::clone(&one.text)));
        Self { texts: texts.collect() }
    }
}

impl Loader for Snapshot {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        let text = self.texts.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(text.to_vec())
    }

    fn exists(&self, path: &Path) -> bool {
        self.texts.contains_key(path)
    }
}

/// Returns a path without `.` and `..`, so that equal files have equal paths.
pub(super) fn normalize_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
