//! Open documents of the editor, which override the files on the disk.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

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

const SCHEME: &str = "file://";

/// Returns the path of a URI; a URI of another scheme is returned unchanged.
pub(super) fn to_path(uri: &Uri) -> PathBuf {
    let text = uri.as_str();
    let Some(rest) = text.strip_prefix(SCHEME) else { return text.into() };
    // After the scheme there may be the name of this machine.
    let path = &rest[rest.find('/').unwrap_or(0)..];
    normalize_path(Path::new(&*String::from_utf8_lossy(&percent_decode(path))))
}

fn percent_decode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        (rest, _) = match (first, byte) {
            (b'%', Some(byte)) => (&behind[2..], bytes.push(byte)),
            _ => (behind, bytes.push(*first)),
        };
    }
    bytes
}

/// Returns the URI of a path; `None` if the path has no valid URI.
pub(super) fn from_path(path: &Path) -> Option<Uri> {
    if !path.is_absolute() {
        return Uri::from_str(path.to_str()?).ok();
    }
    let mut text = SCHEME.to_owned();
    for byte in path.to_str()?.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
            byte => text += &format!("%{byte:02X}"),
        }
    }
    Uri::from_str(&text).ok()
}

/// Returns `true` for a test file, which is not a source.
pub(super) fn is_test_file(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".test.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back_from_their_uris() {
        for path in ["/a/b.asm", "/a b/\u{e9}#?%41.asm", "untitled:Untitled-1"] {
            let uri = from_path(Path::new(path)).unwrap();
            assert_eq!(to_path(&uri), Path::new(path), "{}", uri.as_str());
        }
    }

    #[test]
    fn uris_of_other_editors_name_the_same_file() {
        for text in ["file:///a/b%20c/../x.asm", "file://localhost/a/%78.asm", "file:///a/./x.asm"]
        {
            assert_eq!(to_path(&Uri::from_str(text).unwrap()), Path::new("/a/x.asm"));
        }
    }
}
