//! Listings of zasm, with the table of symbols of the option -w, which has their lines.

use std::collections::HashMap;
use std::sync::Arc;

use super::{DebugInfo, SymbolKind};
use crate::error::DebugInfoError;
use crate::number::{line_number, value};

/// `9000: 212690   [10]   ld   hl,HELLO`, then `MAIN = $9000 = 36864 CODE main.asm:20 (unused)` and
/// `#DATA VARS = $C000 = 49152, size = $0100 = 256`.
///
/// Rows have no numbers. Those between two labels have, if as many lines are between them in the
/// listing as in their file; elsewhere, as in macros, there are none.
pub(super) fn read(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a listing of zasm", ..DebugInfo::default() };
    let (rows, tables) = text.split_once("\n; +++ ").unwrap_or((text, ""));
    let mut places = LabelPlaces::new();
    for line in tables.lines() {
        if let Some(segment) = line.strip_prefix("#DATA ").or_else(|| line.strip_prefix("#CODE ")) {
            add_segment(&mut info, segment);
        } else if let Some(symbol) = Symbol::parse(line) {
            let kind = if symbol.is_address { SymbolKind::Address } else { SymbolKind::Constant };
            info.add_symbol(symbol.name, symbol.value, kind);
            if let Some((file, number)) = symbol.place {
                let name = symbol.name.to_owned();
                places.entry(symbol.value).or_default().push((Arc::from(file), number, name));
            }
        }
    }
    add_lines(&mut info, rows, &places);
    Ok(info)
}

fn add_segment(info: &mut DebugInfo, line: &str) {
    let parts: Vec<&str> = line.split(['=', ',']).map(str::trim).collect();
    if let [name, start, _, "size", length, ..] = parts[..]
        && let (Some(start), Some(length)) = (value(start), value(length))
    {
        info.add_area(name, start, length);
    }
}

struct Symbol<'t> {
    name: &'t str,
    value: i64,
    is_address: bool,
    place: Option<(&'t str, u32)>,
}

impl<'t> Symbol<'t> {
    /// The decimal number has all digits: `BIG = $2345 = 74565`.
    fn parse(line: &'t str) -> Option<Self> {
        let (name, rest) = line.split_once('=')?;
        let (hexadecimal, rest) = rest.split_once('=')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let value = words.first()?.parse().ok().filter(|_| hexadecimal.trim().starts_with('$'))?;
        let place = words.iter().find_map(|word| {
            let (file, line) = word.rsplit_once(':')?;
            Some((file, line_number(line)?))
        });
        // A number has `_` for the segment, or none.
        let is_address = words.len() > 2 && words[1] != "_" && !words[1].contains(':');
        Some(Self { name: name.trim(), value, is_address, place })
    }
}

/// File, line and name of labels by their values.
type LabelPlaces = HashMap<i64, Vec<(Arc<str>, u32, String)>>;

/// A row of the listing: its address, whether it has bytes, and its text.
type Row<'t> = (Option<i64>, bool, &'t str);

/// A row with a label whose line is known.
struct Anchor<'a> {
    row: usize,
    file: &'a Arc<str>,
    line: u32,
}

fn add_lines(info: &mut DebugInfo, rows: &str, places: &LabelPlaces) {
    let rows: Vec<Row> = rows.lines().map(row).collect();
    let mut known: Vec<Anchor> = Vec::new();
    for (row, (address, _, text)) in rows.iter().enumerate() {
        let labels =
            address.and_then(|address| places.get(&address)).map_or(&[][..], Vec::as_slice);
        let begins = |name: &str| {
            text.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', ' ', '\t']))
        };
        if let Some((file, line, _)) = labels.iter().find(|(.., name)| begins(name)) {
            known.push(Anchor { row, file, line: *line });
        }
    }
    for pair in known.windows(2) {
        let [first, second] = pair else { continue };
        let is_counted = first.file == second.file
            && second.line.checked_sub(first.line).map(|count| count as usize)
                == Some(count_lines(&rows[first.row..second.row]));
        let last = if is_counted { second.row } else { first.row + 1 };
        add_rows(info, first, &rows[first.row..last]);
    }
    if let Some(last) = known.last() {
        add_rows(info, last, &rows[last.row..=last.row]);
    }
}

/// A row of more bytes has no text.
fn count_lines(rows: &[Row]) -> usize {
    rows.iter().filter(|(_, has_bytes, text)| !has_bytes || !text.is_empty()).count()
}

fn add_rows(info: &mut DebugInfo, anchor: &Anchor, rows: &[Row]) {
    let mut line = anchor.line;
    for (address, has_bytes, text) in rows {
        if *has_bytes && text.is_empty() {
            continue;
        }
        if let Some(address) = address.filter(|_| *has_bytes) {
            info.add_line(address, anchor.file, line);
        }
        line += 1;
    }
}

/// Returns the address, whether there are bytes, and the text: from column 24, or after a tab in a
/// listing without T-states.
fn row(line: &str) -> Row<'_> {
    let text = match line.split_once('\t') {
        Some((_, text)) if line.find('\t') == Some(14) => text,
        _ => line.get(24..).unwrap_or_default(),
    };
    let place = line.get(..5).and_then(|place| place.strip_suffix(':'));
    let address = place.and_then(crate::number::hexadecimal);
    let byte = line.get(6..8).filter(|_| address.is_some());
    (address, byte.and_then(crate::number::hexadecimal).is_some(), text.trim_end())
}
