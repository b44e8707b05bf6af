//! Open documents of the editor, which override the files on the disk.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Component, Path, PathBuf};

use lsp_types::{TextDocumentContentChangeEvent, Uri};
use tdlasm::source::{DiskLoader, Loader};

use super::positions::LineIndex;

#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) uri: Uri,
    /// The editor's version number of the text.
    pub(super) version: i32,
    pub(super) text: String,
}

impl Document {
    /// Applies edits in order.
    pub(super) fn apply_changes(&mut self, changes: Vec<TextDocumentContentChangeEvent>) {
        for TextDocumentContentChangeEvent { range, text, .. } in changes {
            let Some(range) = range else {
                self.text = text;
                continue;
            };
            let lines = LineIndex::new(self.text.as_bytes());
            let start = lines.offset(range.start);
            let end = lines.offset(range.end).max(start);
            self.text.replace_range(start..end, &text);
        }
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
