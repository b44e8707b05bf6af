//! `.map` of GNU ld, which has exported symbols and sections.

use super::{DebugInfo, SymbolKind};
use crate::error::DebugInfoError;
use crate::number::value;

/// `.bss  0x00008100  0x23` for a section of the output, and `0x00008000  main` for a symbol.
pub(super) fn read_map(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a map of GNU ld", ..DebugInfo::default() };
    let (_, memory) = text.split_once("\nLinker script and memory map").unwrap_or(("", text));
    for line in memory.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_indented = line.starts_with(' ');
        match words[..] {
            [number, name] if is_indented && number.starts_with("0x") => {
                if let Some(value) = value(number) {
                    info.add_symbol(name, value, SymbolKind::Address);
                }
            }
            [name, start, length] if !is_indented && is_memory(name) => {
                if let (Some(start), Some(length)) = (value(start), value(length)) {
                    info.add_area(name, start, length);
                }
            }
            _ => {}
        }
    }
    Ok(info)
}

/// Returns `true` for a section that is part of the program.
fn is_memory(section: &str) -> bool {
    section.starts_with('.')
        && ![".debug", ".stab", ".comment", ".note"].iter().any(|other| section.starts_with(other))
}
