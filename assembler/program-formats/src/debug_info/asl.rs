//! `.map` of asl (its manual, "Format of the debug information").

use std::sync::Arc;

use super::{DebugInfo, SymbolKind};
use crate::error::DebugInfoError;
use crate::number::{hexadecimal, line_number};

/// Below `Segment CODE` and `File main.asm` pairs of lines and addresses, `5:00008000`; below `Symbols
/// in Segment CODE` names with type, value, size, whether they are used, and whether they are
/// constant. The assembler's other sections follow.
pub(super) fn read_map(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a map of asl", ..DebugInfo::default() };
    let mut file: Arc<str> = Arc::from("");
    let mut is_code = true;
    for line in text.lines() {
        if let Some(segment) = line.strip_prefix("Segment ") {
            is_code = segment.trim() == "CODE";
        } else if let Some(segment) = line.strip_prefix("Symbols in Segment ") {
            is_code = segment.trim() == "CODE";
        } else if let Some(name) = line.strip_prefix("File ") {
            file = Arc::from(name.trim());
        } else if let Some((name, value)) = symbol(line) {
            let kind = if is_code { SymbolKind::Address } else { SymbolKind::Constant };
            info.add_symbol(name, value, kind);
        } else if is_code {
            for (line, address) in line.split_whitespace().filter_map(pair) {
                info.add_line(address, &file, line);
            }
        }
    }
    Ok(info)
}

/// `5:00008000`.
fn pair(text: &str) -> Option<(u32, i64)> {
    let (line, address) = text.split_once(':')?;
    Some((line_number(line)?, hexadecimal(address)?))
}

/// `MAIN  Int  8000  -1  1 0`.
fn symbol(line: &str) -> Option<(&str, i64)> {
    let mut words = line.split_whitespace();
    let (name, kind, value) = (words.next()?, words.next()?, words.next()?);
    (kind == "Int").then_some((name, hexadecimal(value)?))
}
