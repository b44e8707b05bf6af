//! Open documents of the editor, which override the files on the disk.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::{TextDocumentContentChangeEvent, TextDocumentItem, Uri};
use tdlasm::source::{DiskLoader, Loader, normalize_path};

use super::positions::LineIndex;

/// Applies edits to a text in order.
pub(super) fn apply_changes(text: &mut String, changes: Vec<TextDocumentContentChangeEvent>) {
    for TextDocumentContentChangeEvent { range, text: new, .. } in changes {
        let Some(range) = range else {
            *text = new;
            continue;
        };
        let lines = LineIndex::new(text.as_bytes());
        let (start, end) = (lines.offset(range.start), lines.offset(range.end));
        text.replace_range(start..end.max(start), &new);
    }
}

/// All open documents by their paths, and the files of the disk.
#[derive(Debug, Default)]
pub(super) struct Documents {
    pub(super) open: HashMap<PathBuf, TextDocumentItem>,
}

impl Loader for Documents {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = normalize_path(path);
        match self.open.get(&path) {
            Some(document) => Ok(document.text.clone().into_bytes()),
            None => DiskLoader.load(&path),
        }
    }

    fn exists(&self, path: &Path) -> bool {
        let path = normalize_path(path);
        self.open.contains_key(&path) || DiskLoader.exists(&path)
    }
}

/// Returns the path of a URI; a URI of another scheme is returned unchanged.
pub(super) fn to_path(uri: &Uri) -> PathBuf {
    let path = file_path(uri, cfg!(windows));
    path.map_or_else(|| uri.as_str().into(), |path| normalize_path(Path::new(&path)))
}

/// Returns the path of a `file:` URI, as it is written on Windows or elsewhere.
fn file_path(uri: &Uri, is_windows: bool) -> Option<String> {
    let is_file = uri.scheme().is_some_and(|scheme| scheme.eq_lowercase("file"));
    let path = uri.path().as_estr().decode().into_bytes();
    let path = is_file.then(|| String::from_utf8_lossy(&path).into_owned())?;
    if !is_windows {
        return Some(path);
    }
    let host = uri.authority().map_or("", |authority| authority.host().as_str());
    let path = path.replace('/', "\\");
    Some(match host {
        "" | "localhost" => path.trim_start_matches('\\').to_owned(),
        host => format!(r"\\{host}{path}"),
    })
}

/// Returns the URI of a path; `None` if the path has no valid URI.
pub(super) fn from_path(path: &Path) -> Option<Uri> {
    let text = path.to_str()?;
    if !path.is_absolute() {
        return Uri::from_str(text).ok();
    }
    Uri::from_str(&file_uri(text, cfg!(windows))).ok()
}

/// Returns the `file:` URI of an absolute path, as it is written on Windows or elsewhere.
fn file_uri(path: &str, is_windows: bool) -> String {
    let slashes = path.replace('\\', "/");
    let (start, path) = match slashes.strip_prefix("//?/").unwrap_or(&slashes) {
        _ if !is_windows => ("file://", path),
        // The name of a host, or the letter of a drive.
        slashes if slashes.starts_with("//") => ("file:", slashes),
        slashes => ("file:///", slashes),
    };
    let mut uri = start.to_owned();
    for (at, byte) in path.bytes().enumerate() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            b':' if is_windows && at == 1 => uri.push(':'),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
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

    // The forms of the crate url's `from_file_path`, checked wherever the tests run.
    #[test]
    fn paths_of_windows_have_a_drive_or_a_host_and_backslashes() {
        for (path, uri) in [
            (r"c:\x.asm", "file:///c:/x.asm"),
            ("C:\\a b\\\u{e9}#?%41.asm", "file:///C:/a%20b/%C3%A9%23%3F%2541.asm"),
            (r"\\host\share\x.asm", "file://host/share/x.asm"),
        ] {
            assert_eq!(file_uri(path, true), uri);
            assert_eq!(file_path(&Uri::from_str(uri).unwrap(), true).as_deref(), Some(path));
        }
        let path = |uri| file_path(&Uri::from_str(uri).unwrap(), true);
        assert_eq!(path("file:///c%3A/a/x.asm").as_deref(), Some(r"c:\a\x.asm"), "VS Code");
        assert_eq!(path("file://localhost/c:/x.asm").as_deref(), Some(r"c:\x.asm"));
        assert_eq!(path("untitled:Untitled-1"), None);
        assert_eq!(file_uri(r"\\?\C:\x.asm", true), "file:///C:/x.asm", "a canonical path");
    }
}
