//! Recognises program files by their content, since their names are unreliable.

use super::read_tdl;

/// A format of program files that their content shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// An ELF object or executable.
    Elf,
    /// Intel HEX.
    IntelHex,
    /// Motorola S-records.
    SRecords,
    /// A TDL object.
    TdlObject,
}

/// Returns the format of a file, which may be damaged; `None` for a text or binary.
///
/// ```
/// use tdlasm::object::{FileKind, file_kind};
///
/// assert_eq!(file_kind(b":00000001FF\n"), Some(FileKind::IntelHex));
/// assert_eq!(file_kind(&[0x3E, 5, 0xC9]), None);
/// ```
pub fn file_kind(content: &[u8]) -> Option<FileKind> {
    // The shortest record of each format has this many digits after its mark.
    let has_digits = |rest: &[u8], count| {
        rest.get(..count).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    match content.trim_ascii_start() {
        _ if content.starts_with(b"\x7FELF") => Some(FileKind::Elf),
        [b':', rest @ ..] if has_digits(rest, 10) => Some(FileKind::IntelHex),
        [b'S' | b's', b'0'..=b'9', rest @ ..] if has_digits(rest, 8) => Some(FileKind::SRecords),
        _ if read_tdl(content, "").is_ok_and(|modules| !modules.is_empty()) => {
            Some(FileKind::TdlObject)
        }
        _ => None,
    }
}
