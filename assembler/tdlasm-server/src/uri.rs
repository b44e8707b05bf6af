//! Conversion between paths and URIs.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;

use super::documents::normalize_path;

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
