//! Listings in which number, address, bytes and text of each line have columns of their own.

use std::sync::Arc;

use super::{DebugInfo, Includes, SymbolKind, add_table_entry, label, stem};
use crate::error::DebugInfoError;
use crate::number::{hexadecimal, line_number, value};

/// Returns `true` if a text begins with two hexadecimal digits, as bytes do.
fn begins_with_byte(text: &str) -> bool {
    text.get(..2).is_some_and(|byte| byte.bytes().all(|digit| digit.is_ascii_hexdigit()))
        && text.as_bytes().get(2).is_none_or(|next| matches!(next, b' ' | b'.'))
}

/// ` 6    0000 C3 00 80   jp   BOOT8` between `# file opened: main.asm` and `# file closed:
/// main.asm`; rows of a macro have the number of its call. With --lstlab a table of symbols follows,
/// `0x8000 X MAIN`; X is one that is not used.
pub(super) fn read_sjasmplus(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a listing of sjasmplus", ..DebugInfo::default() };
    let mut open: Vec<Arc<str>> = Vec::new();
    for line in text.lines() {
        if let Some(file) = line.strip_prefix("# file opened: ") {
            open.push(Arc::from(file.trim()));
        } else if line.starts_with("# file closed: ") {
            open.pop();
        } else if let Some(file) = open.last() {
            if let Some((line, address, true)) = sjasmplus_row(line) {
                info.add_line(address, file, line);
            }
        } else if let Some(entry) = line.strip_prefix("0x") {
            let (digits, name) = entry.split_once(' ').unwrap_or((entry, ""));
            let name = name.trim();
            add_table_entry(&mut info, digits, name.strip_prefix("X ").unwrap_or(name));
        }
    }
    Ok(info)
}

/// Returns number, address, and whether there are bytes.
fn sjasmplus_row(line: &str) -> Option<(u32, i64, bool)> {
    let (number, rest) = line.trim_start().split_once(' ')?;
    let number = line_number(number.trim_end_matches('+'))?;
    let rest = rest.trim_start();
    let (address, bytes) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((number, hexadecimal(address)?, begins_with_byte(bytes)))
}

/// `0012   9000 21 26 90            SAY(HELLO)`; `+` after the number for each file that includes the
/// line's, and `~` after the address for a line that is not assembled.
pub(super) fn is_uz80as_row(line: &str) -> bool {
    uz80as_row(line).is_some()
}

/// The listing has no table of symbols, but its labels.
pub(super) fn read_uz80as(text: &str, name: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a listing of uz80as", ..DebugInfo::default() };
    let mut includes = Includes::new(stem(name));
    for line in text.lines() {
        let Some(row) = uz80as_row(line) else { continue };
        let file = Arc::clone(includes.file(row.depth));
        includes.note(row.text);
        if row.is_assembled && row.has_bytes {
            info.add_line_with_text(row.address, &file, row.line, row.text);
        }
        if let Some(name) = label(row.text).filter(|_| row.is_assembled) {
            info.add_symbol(name, row.address, SymbolKind::Address);
        }
    }
    Ok(info)
}

struct Row<'t> {
    line: u32,
    depth: usize,
    address: i64,
    is_assembled: bool,
    has_bytes: bool,
    text: &'t str,
}

fn uz80as_row(line: &str) -> Option<Row<'_>> {
    let (number, rest) = (line.get(..4)?, line.get(4..)?);
    let depth = rest.len() - rest.trim_start_matches('+').len();
    let address = line.get(7..11)?;
    let mark = line.get(11..12).unwrap_or(" ");
    (line.get(4 + depth..7)?.trim().is_empty() && matches!(mark, " " | "~")).then_some(())?;
    Some(Row {
        line: line_number(number)?,
        depth,
        address: hexadecimal(address)?,
        is_assembled: mark == " ",
        has_bytes: begins_with_byte(line.get(12..).unwrap_or_default()),
        text: line.get(24..).unwrap_or_default(),
    })
}

/// The columns of an `.rst` of sdas and sdld.
const SDAS_NUMBER: std::ops::Range<usize> = 33..39;
const SDAS_TEXT: usize = 40;

/// `      009000 21 26 90  [10]  27         ld   hl,#HELLO`; `000005  7 COUNT = 5` with the value in
/// the column before the number.
pub(super) fn is_sdas_row(line: &str) -> bool {
    let number = line.get(SDAS_NUMBER).map(str::trim);
    number == Some("1") && line[..SDAS_NUMBER.start].trim().is_empty()
}

/// The `.rst` of sdld, which is the listing of sdas with final addresses; the `.lst` has those that
/// are relative to areas. It has the labels that are not exported.
pub(super) fn read_sdas(text: &str, name: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a listing of sdas", ..DebugInfo::default() };
    let file: Arc<str> = Arc::from(stem(name));
    // An included file begins at line 1 again; macros, too.
    let mut last = 0;
    let mut is_included = false;
    for line in text.lines() {
        let Some(number) = line.get(SDAS_NUMBER).and_then(|number| line_number(number.trim()))
        else {
            continue;
        };
        let left = &line[..SDAS_NUMBER.start];
        let text = line.get(SDAS_TEXT..).unwrap_or_default();
        is_included = if number == last + 1 { is_included } else { number < last };
        if !is_included || number > last {
            last = number;
        }
        let words: Vec<&str> = left.split_whitespace().collect();
        let is_value = left.len() - left.trim_start().len() > 20;
        let Some(value) = words.first().and_then(|digits| hexadecimal(digits)) else { continue };
        if is_value {
            if let Some((name, _)) = text.split_once('=') {
                info.add_symbol(name.trim(), value, SymbolKind::Constant);
            }
            continue;
        }
        if let Some(name) = label(text) {
            info.add_symbol(name, value, SymbolKind::Address);
        }
        if words.get(1).is_some_and(|byte| begins_with_byte(byte)) && !is_included {
            info.add_line_with_text(value, &file, number, text);
        }
    }
    Ok(info)
}

/// `       6/      66 : F5      push af`, with `(1)` before the number of a line in an included file.
pub(super) fn read_asl(text: &str, name: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a listing of asl", ..DebugInfo::default() };
    let (_, header) = text.split_once(" - Source File ").unwrap_or(("", name));
    let main = header.split(" - ").next().unwrap_or(name);
    let mut includes = Includes::new(main);
    for line in text.lines() {
        let Some((place, rest)) = line.split_once('/') else { continue };
        let Some((address, bytes)) = rest.split_once(" : ") else { continue };
        let place = place.trim();
        let (depth, number) = match place.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((depth, number)) => (depth.parse().unwrap_or(0), number.trim()),
            None => (0usize, place),
        };
        let (Some(number), Some(address)) = (line_number(number), hexadecimal(address.trim()))
        else {
            continue;
        };
        let file = Arc::clone(includes.file(depth.min(64)));
        let text = bytes.get(20..).unwrap_or_default();
        includes.note(text);
        if begins_with_byte(bytes) {
            info.add_line_with_text(address, &file, number, text);
        } else if let Some(number) = bytes.strip_prefix('=') {
            // An EQU: `=1021H   POLY equ 1021h`.
            let number = number.split_whitespace().next().and_then(value);
            if let (Some(value), Some(name)) = (number, text.split_whitespace().next()) {
                info.add_symbol(name, value, SymbolKind::Constant);
            }
        }
        if let Some(name) = label(text) {
            info.add_symbol(name, address, SymbolKind::Address);
        }
    }
    Ok(info)
}

/// `   22 0000 0000 8000 0000   F3   di`: line, bank, slot, address, offset in the ROM, bytes.
pub(super) fn read_wla(text: &str, name: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a listing of WLA DX", ..DebugInfo::default() };
    let file: Arc<str> = Arc::from(stem(name));
    let mut last = 0;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [number, bank, slot, address, offset, byte, ..] = words[..] else { continue };
        let are_numbers = [bank, slot, offset].iter().all(|word| hexadecimal(word).is_some());
        let (Some(number), Some(address)) = (line_number(number), hexadecimal(address)) else {
            continue;
        };
        // The lines of a macro have the numbers of its definition.
        if are_numbers && address <= 0xFFFF && byte.len() == 2 && number >= last {
            last = number;
            info.add_line(address, &file, number);
        }
    }
    Ok(info)
}
