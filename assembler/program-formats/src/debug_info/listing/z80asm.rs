//! Listings of z80asm.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::DebugInfo;
use crate::error::DebugInfoError;
use crate::number::hexadecimal;

/// `9003 cd 13 90<tab><tab>        call PUTS` for each line of the source, without its number, from
/// `# File main.asm` to `# End of file main.asm`. The lines of an included file follow the line that
/// includes it, those of a macro its call, and a mark ends both.
pub(super) fn read(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a listing of z80asm", ..DebugInfo::default() };
    let rows: Vec<&str> = text.lines().collect();
    let nested = find_nested(&rows);
    let mut open = vec![Place { file: Arc::from(""), line: 0, is_macro: false }];
    for (at, row) in rows.iter().enumerate() {
        if let Some(file) = row.strip_prefix("# File ") {
            open = vec![Place { file: Arc::from(file.trim()), line: 0, is_macro: false }];
        } else if row.starts_with("# End of ") {
            if open.len() > 1 {
                open.pop();
            }
        } else if let Some(place) = open.last_mut() {
            place.line += u32::from(!place.is_macro);
            if let Some(address) = address(row) {
                info.add_line_with_text(address, &place.file, place.line, statement(row));
            }
            match nested.get(&at) {
                Some(Nested::Macro) => {
                    let call = place.clone();
                    open.push(Place { is_macro: true, ..call });
                }
                Some(Nested::File(file)) => {
                    open.push(Place { file: Arc::from(*file), line: 0, is_macro: false });
                }
                None => {}
            }
        }
    }
    Ok(info)
}

#[derive(Clone)]
struct Place {
    file: Arc<str>,
    line: u32,
    is_macro: bool,
}

/// What follows a row.
enum Nested<'t> {
    Macro,
    File(&'t str),
}

/// Returns the rows that a macro or an included file follows: for each mark of an end, the nearest row
/// before it that has the name and no end yet. A call that a condition excludes has none.
fn find_nested<'t>(rows: &[&'t str]) -> HashMap<usize, Nested<'t>> {
    let mut found = HashMap::new();
    let mut taken: HashSet<usize> = HashSet::new();
    for (end, row) in rows.iter().enumerate() {
        let (name, is_macro) = if let Some(name) = row.strip_prefix("# End of macro ") {
            (name.trim(), true)
        } else if let Some(name) = row.strip_prefix("# End of file ") {
            (name.trim(), false)
        } else {
            continue;
        };
        let names = |at: &usize| {
            let text = statement(rows[*at]);
            let has_name = match is_macro {
                true => text.split_whitespace().take(2).any(|word| word == name),
                false => text.contains("include") && text.contains(name),
            };
            has_name && !taken.contains(at)
        };
        if let Some(start) = (0..end).rev().find(names) {
            taken.insert(start);
            found.insert(start, if is_macro { Nested::Macro } else { Nested::File(name) });
        }
    }
    found
}

fn statement(row: &str) -> &str {
    row.trim_start_matches(|c: char| c.is_ascii_hexdigit() || c == ' ' || c == '.').trim()
}

/// Returns the address of a row with bytes.
fn address(row: &str) -> Option<i64> {
    let (code, _) = row.split_once('\t')?;
    let (address, _) = code.split_once(' ')?;
    hexadecimal(address)
}
