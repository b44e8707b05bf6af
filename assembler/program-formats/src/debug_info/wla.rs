//! Symbol files and JSON of WLA DX (its documentation, "WLA Symbols").

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::{DebugInfo, SymbolKind};
use crate::error::{DebugInfoError, LineError};
use crate::number::{address, hexadecimal, line_number};

/// Sections of INI form: `[labels]` with `01:8000 MAIN`, `[definitions]` with `00000005 COUNT`,
/// `[source files v2]` with `0001:0002 6f8a1b3c main.s`, `[addr-to-line mapping v2]` with
/// `00000000 00:0000 8000 0001:0002:0000000c`, which is an offset in the ROM, bank and offset, the
/// address, the file and its line. All numbers are hexadecimal.
pub(super) fn read_symbols(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "symbols of WLA DX", ..DebugInfo::default() };
    let mut files: HashMap<&str, Arc<str>> = HashMap::new();
    let mut section = "";
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with(';') {
            continue;
        }
        if let Some(name) = text.strip_prefix('[') {
            section = name.trim_end_matches(']');
            continue;
        }
        let wrong =
            |expected| DebugInfoError::Line(LineError { line, text: text.to_owned(), expected });
        match section {
            "labels" => {
                let label = label(text).ok_or_else(|| wrong("a label, as in 01:8000 MAIN"))?;
                info.add_paged(label.1, label.0.1, SymbolKind::Address, label.0.0);
            }
            "definitions" => {
                let (value, name) = text.split_once(' ').unwrap_or((text, ""));
                let value = hexadecimal(value).filter(|_| !name.is_empty());
                let value = value.ok_or_else(|| wrong("a definition, as in 00000005 COUNT"))?;
                info.add_symbol(name.trim(), value, SymbolKind::Constant);
            }
            "source files v2" | "source files" => {
                let mut words = text.splitn(3, ' ');
                if let (Some(number), Some(_), Some(name)) =
                    (words.next(), words.next(), words.next())
                {
                    files.insert(number, Arc::from(name.trim()));
                }
            }
            "addr-to-line mapping v2" => {
                let expected = "an address and its line, as in 00000000 00:0000 8000 0001:0002:0c";
                let (address, file, line) = mapping(text).ok_or_else(|| wrong(expected))?;
                if let Some(file) = files.get(file) {
                    info.add_line(address, file, line);
                }
            }
            // Breakpoints, checksums and what later versions add.
            _ => {}
        }
    }
    Ok(info)
}

fn label(text: &str) -> Option<((Option<u32>, i64), &str)> {
    let (place, name) = text.split_once(' ')?;
    let (bank, number) = place.split_once(':')?;
    let bank = u32::try_from(hexadecimal(bank)?).ok();
    Some(((bank, i64::from(address(hexadecimal(number)?)?)), name.trim()))
}

fn mapping(text: &str) -> Option<(i64, &str, u32)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, _, address, place] = words[..] else { return None };
    let (file, line) = place.rsplit_once(':')?;
    Some((hexadecimal(address)?, file, u32::try_from(hexadecimal(line)?).ok()?))
}

/// `labels` and `mappings` of the debug file in JSON.
pub(super) fn read_json(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a debug file of WLA DX", ..DebugInfo::default() };
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let line = error.line();
        let text = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim().to_owned();
        DebugInfoError::Line(LineError { line, text, expected: "JSON" })
    })?;
    let list = |name: &str| value[name].as_array().cloned().unwrap_or_default();
    for label in list("labels") {
        if let (Some(name), Some(value)) = (label["name"].as_str(), label["address"].as_i64()) {
            let is_label = label["kind"] == "label";
            let kind = if is_label { SymbolKind::Address } else { SymbolKind::Constant };
            let bank = label["bank"].as_u64().and_then(|bank| u32::try_from(bank).ok());
            info.add_paged(name, value, kind, bank.filter(|_| is_label));
        }
    }
    let mut files: HashMap<String, Arc<str>> = HashMap::new();
    for mapping in list("mappings") {
        let line = mapping["line"].as_u64().map(|line| line.to_string());
        if let (Some(address), Some(file), Some(line)) = (
            mapping["pcAddress"].as_i64(),
            mapping["source"].as_str(),
            line.as_deref().and_then(line_number),
        ) {
            let file = files.entry(file.to_owned()).or_insert_with(|| Arc::from(file));
            info.add_line(address, file, line);
        }
    }
    Ok(info)
}
