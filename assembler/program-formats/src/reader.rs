//! Reads symbols and lines of any file.

use crate::debug_info::{DebugInfo, read_elf, read_text};
use crate::{DebugInfoError, coff};

/// The bytes that a text begins without.
const CONTROL: std::ops::Range<u8> = 0..b'\t';

/// Reads a file with symbols or lines. `name` is its name, by which the source file of a listing is
/// called if the listing does not name it.
///
/// # Errors
/// Returns [`DebugInfoError`] if the file is of no known format, if a line is not of its format, or
/// if its addresses are not final.
pub fn read_debug_info(content: &[u8], name: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = match content {
        [0x7F, b'E', b'L', b'F', ..] => read_elf(content)?,
        _ if coff::is_coff(content) => coff::debug_info(content)?,
        _ if content.iter().take(512).any(|byte| CONTROL.contains(byte)) => {
            return Err(DebugInfoError::Unusable {
                what: "a binary file, not one of symbols",
                instead: "give the symbol file, map or listing of the assembler or linker",
            });
        }
        _ => read_text(content, name)?,
    };
    info.notes.extend(info.pages().note());
    if info.is_empty() { Err(DebugInfoError::Empty) } else { Ok(info) }
}
