//! Listings, for what no other file of a tool has.
//!
//! A row of a listing has the number of a source line, the address of its code, the bytes and the
//! text. Rows whose address is not that of the program, as those of an object, are not read.

mod columns;
mod vasm;
mod z80asm;
mod z88dk;
mod zasm;
mod zmac;

use std::sync::Arc;

use super::{DebugInfo, Reader, RelativeSection, SymbolKind, stem};
use crate::error::DebugInfoError;
use crate::number::hexadecimal;

/// Returns the reader of the listing that a text is.
pub(super) fn reader(text: &str, name: &str) -> Option<Reader> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (first, second) = (lines.next()?, lines.next().unwrap_or_default());
    Some(match first.trim_start() {
        mark if mark.starts_with("# file opened: ") => columns::read_sjasmplus,
        mark if mark.starts_with("# File ") => z80asm::read,
        mark if mark.starts_with("AS V") && mark.contains(" - Source File ") => columns::read_asl,
        mark if mark.starts_with("; WLALINK (") => columns::read_wla,
        "Sections:" if text.contains("\nSource: \"") => vasm::read,
        mark if mark.starts_with("F00:0001") => vasm::read_old,
        mark if mark.starts_with("; ----") && second.contains("; zasm: ") => zasm::read,
        _ if zmac::is_row(first) => zmac::read,
        _ if columns::is_uz80as_row(first) => columns::read_uz80as,
        _ if columns::is_sdas_row(first) && !name.ends_with(".lst") => columns::read_sdas,
        _ if z88dk::is_listing(first, second) => z88dk::read,
        _ if is_gas_row(first) || columns::is_sdas_row(first) => refuse_relative,
        _ => return None,
    })
}

/// `   1                 <tab>; the text`, with offsets in sections.
fn is_gas_row(line: &str) -> bool {
    let number = line.get(..4).unwrap_or_default().trim();
    number == "1"
        && line.get(4..22).is_some_and(|rest| rest.trim().is_empty() || rest.len() == 18)
        && line.as_bytes().get(21) == Some(&b'\t')
}

fn refuse_relative(_: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    Err(DebugInfoError::Unusable {
        what: "a listing whose addresses are relative to sections",
        instead: "give the ELF file of ld (as -g), or SDCC's .rst or .noi",
    })
}

/// Returns the label that a source line begins with: a name before a colon, or two.
fn label(text: &str) -> Option<&str> {
    let end = text.find(|c: char| c.is_whitespace() || c == ':' || c == ';')?;
    let name = &text[..end];
    (text[end..].starts_with(':') && !name.is_empty()).then_some(name)
}

/// The source files of a listing that marks lines of included files, but does not name the files.
struct Includes {
    open: Vec<Arc<str>>,
    /// The file that the last line includes.
    included: Option<Arc<str>>,
}

impl Includes {
    fn new(main: &str) -> Self {
        Self { open: vec![Arc::from(main)], included: None }
    }

    /// Returns the file of a line at a depth of inclusion.
    fn file(&mut self, depth: usize) -> &Arc<str> {
        self.open.truncate(depth + 1);
        while self.open.len() <= depth {
            self.open.push(self.included.take().unwrap_or_else(|| Arc::from("")));
        }
        &self.open[depth]
    }

    /// Takes the name of a file to include from the text of a line.
    fn note(&mut self, text: &str) {
        let lower = text.to_ascii_lowercase();
        if let Some(at) = lower.find("include") {
            let name = text[at + "include".len()..].trim();
            let name = name.trim_matches(['"', '\'', '<', '>']).trim();
            self.included = Some(Arc::from(name));
        }
    }
}

/// Adds a symbol of a table, `0x8000 MAIN` without the mark of its notation.
fn add_table_entry(info: &mut DebugInfo, digits: &str, name: &str) {
    if let Some(value) = hexadecimal(digits) {
        info.add_symbol(name, value, SymbolKind::Unknown);
    }
}
