//! Code as cells: a byte or a relocatable word, by base and address; a later one replaces an
//! earlier one.

use std::collections::BTreeMap;

use serde_json::Value;
use tdlasm::module::SourceOrderModule;

/// The content of each address, in the notation of the record.
pub(crate) type Cells = BTreeMap<(u32, u16), String>;

/// The code of a module; in HEX files relocatable words are plain bytes.
pub(crate) fn code_of(module: &SourceOrderModule, hex: bool) -> Cells {
    let mut cells = Cells::new();
    for chunk in &module.code {
        let words: BTreeMap<u32, _> = chunk.words.iter().copied().collect();
        let low_bytes: BTreeMap<u32, _> = chunk.low_bytes.iter().copied().collect();
        for (at, byte) in (0u32..).zip(&chunk.bytes) {
            let place = (chunk.start.base, chunk.start.number.wrapping_add(at as u16));
            let first = words.get(&at);
            let second = at.checked_sub(1).and_then(|before| words.get(&before));
            match (first, second) {
                (Some(word), _) if hex => {
                    cells.insert(place, format!("{:02X}", word.number & 0xFF))
                }
                (Some(word), _) => {
                    cells.insert(place, format!("<{}+{:04X}>", word.base, word.number))
                }
                (None, Some(word)) if hex => {
                    cells.insert(place, format!("{:02X}", word.number >> 8))
                }
                (None, Some(_)) => cells.remove(&place),
                (None, None) => cells.insert(
                    place,
                    match low_bytes.get(&at) {
                        Some(low) => format!("<{}:{:02X}>", low.base, low.number & 0xFF),
                        None => format!("{byte:02X}"),
                    },
                ),
            };
        }
    }
    cells
}

/// The recorded code.
pub(crate) fn expected_code(module: &Value) -> Cells {
    let mut cells = Cells::new();
    for run in module["code"].as_array().expect("runs") {
        let base = run[0].as_u64().expect("a base") as u32;
        let digits = run[1].as_str().expect("an address");
        let mut address = u16::from_str_radix(digits, 16).expect("an address");
        let mut rest = run[2].as_str().expect("the bytes");
        while !rest.is_empty() {
            let length =
                if rest.starts_with('<') { rest.find('>').expect("an end") + 1 } else { 2 };
            let (cell, after) = rest.split_at(length);
            cells.insert((base, address), cell.to_owned());
            let is_word = cell.contains('+');
            address = address.wrapping_add(if is_word { 2 } else { 1 });
            rest = after;
        }
    }
    cells
}
