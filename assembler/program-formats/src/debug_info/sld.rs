//! `.sld` of sjasmplus (its documentation, "Source Level Debugging data").

use std::collections::HashMap;
use std::sync::Arc;

use super::{DebugInfo, SymbolKind, read_lines};
use crate::error::DebugInfoError;
use crate::number::{line_number, value};

/// `source|line|definition file|line|page|value|type|data`: `T` is an instruction, `L` a label, as
/// `module,main,local,+flags`. `F` and `D` repeat labels and EQUs.
pub(super) fn read(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let expected = "of sjasmplus' .sld, as a.asm|5||0|2|32771|T|";
    let mut files: HashMap<String, Arc<str>> = HashMap::new();
    let info = read_lines(text, "sjasmplus' .sld", expected, |line, info| {
        let fields: Vec<&str> = line.split('|').collect();
        if let ["", "SLD.data.version", _] | [_, "", _, ..] = fields[..] {
            return Some(()); // the first line, or a comment
        }
        let [file, at, _, _, page, number, kind, data] = fields[..] else { return None };
        let address = value(number)?;
        let page = page.parse().ok();
        match kind {
            "T" => {
                // The line may be followed by columns.
                let line = line_number(at.split(':').next()?)?;
                let file = files.entry(file.to_owned()).or_insert_with(|| Arc::from(file));
                let count = info.lines.len();
                info.add_line(address, file, line);
                if let Some(added) = info.lines.get_mut(count) {
                    added.page = page;
                }
            }
            "L" => {
                let parts = data.split(',').take(3).filter(|part| !part.is_empty());
                let name = parts.collect::<Vec<_>>().join(".");
                let flags: Vec<&str> = data.split(',').skip(3).collect();
                let kind = match flags.contains(&"+equ") {
                    true => SymbolKind::Constant,
                    false => SymbolKind::Address,
                };
                info.add_paged(&name, address, kind, page);
            }
            _ => {}
        }
        Some(())
    });
    info.map_err(DebugInfoError::Line)
}
