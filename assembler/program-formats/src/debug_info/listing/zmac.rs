//! Listings of zmac.

use std::sync::Arc;

use super::{DebugInfo, SymbolKind, stem};
use crate::error::DebugInfoError;
use crate::number::{hexadecimal, line_number};

/// `   3:    0+4<tab>A000  00      <tab>loop: nop`; without the option for T-states the second column
/// is missing.
pub(super) fn is_row(line: &str) -> bool {
    line.split_once(":\t").is_some_and(|(number, _)| number.trim() == "1")
}

/// Rows; `**** main.z ****` where the file changes; a table of symbols, with `=` before the values of
/// EQUs.
pub(super) fn read(text: &str, name: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a listing of zmac", ..DebugInfo::default() };
    let (rows, table) = text.split_once("\nSymbol Table:").unwrap_or((text, ""));
    // The main file is named after the first file that it includes.
    let name = stem(name);
    let mut file: Arc<str> = Arc::from(name);
    for line in rows.lines() {
        if let Some(next) = line.strip_prefix("**** ").and_then(|rest| rest.strip_suffix(" ****")) {
            let is_main = next.rsplit_once('.').is_some_and(|(stem, _)| stem == name);
            file = Arc::from(if is_main { name } else { next });
        } else if let Some((number, address)) = row(line) {
            let text = line.rsplit('\t').next().unwrap_or_default();
            info.add_line_with_text(address, &file, number, text);
        }
    }
    for (name, value, kind) in table.lines().filter_map(symbol) {
        info.add_symbol(name, value, kind);
    }
    Ok(info)
}

/// Returns number and address of a row with bytes.
fn row(line: &str) -> Option<(u32, i64)> {
    let (number, rest) = line.split_once(':')?;
    let number = line_number(number.trim())?;
    let code = rest.split('\t').find(|column| {
        column.get(..4).is_some_and(|address| hexadecimal(address).is_some())
            && column.as_bytes().get(4) == Some(&b' ')
    })?;
    let (address, bytes) = code.split_once(' ')?;
    let is_code = bytes.split_whitespace().next().is_some_and(|one| hexadecimal(one).is_some());
    Some((number, hexadecimal(address).filter(|_| is_code)?))
}

/// `MAIN  A000  40960`, `COUNT =05  5`.
fn symbol(line: &str) -> Option<(&str, i64, SymbolKind)> {
    let (rest, decimal) = line.trim_end().rsplit_once(' ')?;
    let (name, _) = rest.trim_end().rsplit_once([' ', '='])?;
    let value = decimal.parse().ok()?;
    let is_constant = rest[name.len()..].starts_with('=') || name.ends_with('=');
    let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Address };
    let name = name.trim_end_matches('=').trim_end();
    (!name.is_empty()).then_some((name, value, kind))
}
