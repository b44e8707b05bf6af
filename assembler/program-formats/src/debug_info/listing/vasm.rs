//! Listings of vasm: its own form, and the older one of `-Lfmt=old`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{DebugInfo, SymbolKind, add_table_entry};
use crate::error::DebugInfoError;
use crate::number::{hexadecimal, line_number, value};

/// `00:A000 00   <tab>     5: loop: nop` below `Source: "main.asm"`; a row of a macro has a number with
/// `M`, and belongs to the line before. Tables of symbols follow, by name, cut after 31 letters, and
/// by value, whole.
pub(super) fn read(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a listing of vasm", ..DebugInfo::default() };
    let mut file: Arc<str> = Arc::from("");
    let mut lines: HashMap<Arc<str>, u32> = HashMap::new();
    let mut table = Table::None;
    let mut constants: HashSet<String> = HashSet::new();
    for line in text.lines() {
        match line {
            "Symbols by name:" => table = Table::ByName,
            "Symbols by value:" => table = Table::ByValue,
            _ => {}
        }
        if let Some(name) = line.strip_prefix("Source: \"") {
            file = Arc::from(name.trim_end_matches('"'));
            continue;
        }
        match table {
            Table::None => {
                let Some((address, number, text)) = row(line) else { continue };
                let last = lines.entry(Arc::clone(&file)).or_insert(0);
                if let Some(number) = line_number(number) {
                    *last = number;
                }
                if let Some(address) = address {
                    info.add_line_with_text(address, &file, *last, text);
                }
            }
            Table::ByName => {
                let words: Vec<&str> = line.split_whitespace().collect();
                if let [name, place, ..] = words[..]
                    && place.starts_with("E:")
                {
                    constants.insert(name.to_owned());
                }
            }
            Table::ByValue => {
                if let Some((digits, name)) = line.split_once(' ') {
                    add_table_entry(&mut info, digits, name);
                }
            }
        }
    }
    for symbol in &mut info.symbols {
        let is_constant = constants.contains(&symbol.name);
        symbol.kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Address };
    }
    Ok(info)
}

enum Table {
    None,
    ByName,
    ByValue,
}

/// Returns the address, if the row has bytes, the number and the text.
fn row(line: &str) -> Option<(Option<i64>, &str, &str)> {
    let (left, right) = line.split_once('\t')?;
    let (number, text) = right.split_once(':')?;
    let place = left.split_whitespace().next().and_then(|place| place.split_once(':'));
    Some((place.and_then(|(_, address)| hexadecimal(address)), number.trim(), text))
}

/// `F00:0005   loop: nop`, then `S01:0000A000:  00`. Files and macros have numbers, whose names follow,
/// and symbols, `loop EXPR(40960=0xa000) ABS`.
pub(super) fn read_old(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a listing of vasm", ..DebugInfo::default() };
    let files = old_files(text);
    let mut place = None;
    for line in text.lines() {
        if let Some(symbol) = line.split_once(" EXPR(") {
            add_old_symbol(&mut info, symbol);
        } else if let Some((file, number)) = line
            .split_whitespace()
            .next()
            .filter(|_| line.starts_with('F'))
            .and_then(|place| place.split_once(':'))
        {
            // The name of a macro has no extension; its lines belong to the call.
            if let Some(file) = files.get(file).filter(|file| file.contains('.')) {
                place = line_number(number).map(|number| (Arc::clone(file), number));
            }
        } else if let Some(row) = line.trim_start().strip_prefix('S')
            && let [_, address, _] = row.splitn(3, ':').collect::<Vec<_>>()[..]
            && let (Some(address), Some((file, number))) = (hexadecimal(address), &place)
            && !info.lines.last().is_some_and(|last| last.line == *number && last.file == *file)
        {
            info.add_line(address, file, *number);
        }
    }
    Ok(info)
}

/// Returns the names below `Sources:`, by number.
fn old_files(text: &str) -> HashMap<&str, Arc<str>> {
    let (_, names) = text.split_once("\nSources:\n").unwrap_or_default();
    let names = names.lines().take_while(|line| !line.trim().is_empty());
    names.filter_map(|line| line.split_once("  ")).map(|(id, name)| (id, name.into())).collect()
}

fn add_old_symbol(info: &mut DebugInfo, (name, rest): (&str, &str)) {
    let Some((decimal, flags)) = rest.split_once('=') else { return };
    if let Some(value) = value(decimal) {
        // Local names have spaces: ` outer inner`.
        let is_constant = flags.contains(" EQU") || !flags.contains(" ABS");
        let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Address };
        info.add_symbol(name, value, kind);
    }
}
