//! The documents that the editor has open, and all other files as they are on the disk.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Component, Path, PathBuf};

use lsp_types::{TextDocumentContentChangeEvent, Uri};

use tdlasm::source::{DiskLoader, Loader};

use super::text::Lines;

/// A document.
#[derive(Debug, Clone)]
pub(super) struct Document {
    /// The editor's name for it.
    pub(super) uri: Uri,
    /// The editor's number for this state of it.
    pub(super) version: i32,
    pub(super) text: String,
}

impl Document {
    /// Takes over what the editor changed, in the order in which it did.
    pub(super) fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>) {
        for TextDocumentContentChangeEvent { range, text, .. } in changes {
            let Some(range) = range else {
                self.text = text;
                continue;
            };
            let lines = Lines::new(self.text.as_bytes());
            let start = lines.offset(range.start);
            let end = lines.offset(range.end);
            self.text.replace_range(start..end.max(start), &text);
        }
    }
}

/// All open documents by their paths.
#[derive(Debug, Default)]
pub(super) struct Documents {
    pub(super) open: HashMap<PathBuf, Document>,
}

impl Documents {
    /// The text of a file as the editor sees it.
    pub(super) fn text(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.open.get(path) {
            Some(document) => Ok(document.text.clone().into_bytes()),
            None => DiskLoader.load(path),
        }
    }
}

/// All files as they would be with some changed.
pub(super) struct Changed<'d> {
    pub(super) documents: &'d Documents,
    pub(super) texts: BTreeMap<PathBuf, Vec<u8>>,
}

impl Loader for Changed<'_> {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        let changed = self.texts.get(&plain(path)).cloned();
        changed.map_or_else(|| self.documents.load(path), Ok)
    }

    fn exists(&self, path: &Path) -> bool {
        self.documents.exists(path)
    }
}

impl Loader for Documents {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.text(&plain(path))
    }

    fn exists(&self, path: &Path) -> bool {
        let path = plain(path);
        self.open.contains_key(&path) || DiskLoader.exists(&path)
    }
}

/// A path without `.` and `..`, so that a file has one name.
pub(super) fn plain(path: &Path) -> PathBuf {
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
