//! `.map` of z88dk (its documentation, "Map file").

use std::collections::HashMap;
use std::sync::Arc;

use super::{DebugInfo, Reader, SourceLine, SymbolKind, read_lines, sdcc};
use crate::error::DebugInfoError;
use crate::number::{address, line_number, value};

/// The symbols that `-debug` adds for each line.
const LINE_SYMBOLS: [&str; 2] = ["__ASM_LINE_", "__C_LINE_"];

/// Returns the reader if the first line is one of a map.
pub(super) fn reader(text: &str) -> Option<Reader> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    Entry::parse(first).map(|_| read_map as Reader)
}

/// `main = $8000 ; addr, public, , hello, code, hello.asm:5`.
struct Entry<'t> {
    name: &'t str,
    value: i64,
    is_constant: bool,
    is_public: bool,
    is_defined_by_linker: bool,
    module: &'t str,
    section: &'t str,
    file: &'t str,
    line: Option<u32>,
}

impl<'t> Entry<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let (symbol, description) = text.split_once(';')?;
        let (name, number) = symbol.split_once('=')?;
        let number = value(number.trim()).filter(|_| number.trim().starts_with('$'))?;
        let fields: Vec<&str> = description.splitn(6, ',').map(str::trim).collect();
        let [kind @ ("addr" | "const" | "comput"), scope, def, module, section, place] = fields[..]
        else {
            return None;
        };
        let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
        Some(Self {
            name: name.trim(),
            value: number,
            is_constant: kind != "addr",
            is_public: scope == "public",
            is_defined_by_linker: def == "def",
            module,
            section,
            // The file of a line of C is followed by its scope: `main.c::main::0::5`.
            file: file.split("::").next().unwrap_or(file),
            line: line_number(line),
        })
    }

    fn is_line(&self) -> bool {
        LINE_SYMBOLS.iter().any(|prefix| self.name.starts_with(prefix))
    }
}

/// Returns a name in which `_3a` stands for a colon, and so on.
fn unescape(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => text + &char::from(code).to_string() + &part[2..],
            None => text + "_" + part,
        }
    })
}

/// A symbol, and its line, which is a line of the program if its name is `__ASM_LINE_...` or
/// `__C_LINE_...`. Without such lines, as without `-debug`, those of labels have to do.
fn read_map(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let expected = "of z88dk's .map, as main = $8003 ; addr, public, ...";
    let mut files: HashMap<String, Arc<str>> = HashMap::new();
    let mut of_labels = Vec::new();
    let mut is_relative = false;
    let mut sections: HashMap<String, [Option<i64>; 2]> = HashMap::new();
    let info = read_lines(text, "a map of z88dk", expected, |line, info| {
        let entry = Entry::parse(line)?;
        is_relative |= !entry.is_constant && entry.module.is_empty();
        if let Some(line) = entry.line.filter(|line| *line > 0)
            && !entry.section.is_empty()
            && !entry.is_constant
        {
            let file = files.entry(entry.file.to_owned()).or_insert_with(|| entry.file.into());
            if entry.is_line() {
                info.add_line(entry.value, file, line);
            } else if let Some(address) = address(entry.value) {
                let file = Arc::clone(file);
                of_labels.push(SourceLine { address, file, line, page: None, is_data: false });
            }
        }
        if entry.is_defined_by_linker {
            let ends = [("_head", 0), ("_size", 1)];
            for (end, place) in ends {
                if let Some(section) = entry.name.strip_suffix(end) {
                    let section = section.trim_start_matches('_').to_owned();
                    sections.entry(section).or_default()[place] = Some(entry.value);
                }
            }
        }
        if let Some(record) = entry.name.strip_prefix("__CDBINFO__S_3a") {
            info.parameters.extend(sdcc::parameter(&unescape(record)));
        }
        if !entry.is_line() && !entry.name.starts_with("__CDBINFO__") {
            let is_constant = entry.is_constant;
            let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Address };
            info.add_symbol(entry.name, entry.value, kind);
            info.symbols.last_mut()?.exported = entry.is_public;
        }
        Some(())
    });
    let mut info = info.map_err(DebugInfoError::Line)?;
    if is_relative {
        return Err(DebugInfoError::Unusable {
            what: "symbols of z88dk whose addresses are relative to sections",
            instead: "give the .map (z80asm -m, zcc -m)",
        });
    }
    if info.lines.is_empty() {
        info.lines = of_labels;
    }
    let mut sections: Vec<_> = sections.into_iter().collect();
    sections.sort();
    for (section, range) in sections {
        if let [Some(start), Some(length)] = range {
            info.add_area(&section, start, length);
        }
    }
    Ok(info)
}
