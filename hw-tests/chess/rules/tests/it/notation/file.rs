//! The positions of `truth.jsonl.gz`; `data/README.md` describes its fields.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;

/// A position with its expected moves and values.
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) fen: String,
    pub(crate) shredder: Option<String>,
    pub(crate) chess960: bool,
    /// Legal captures: UCI to SAN.
    pub(crate) captures: BTreeMap<String, String>,
    /// Captures that are not legal, with the reason.
    pub(crate) illegal: BTreeMap<String, String>,
    /// Legal moves with their exchange values.
    pub(crate) see: BTreeMap<String, Value>,
}

/// Reads all positions.
pub(crate) fn truth() -> Vec<Entry> {
    let packed: &[u8] = include_bytes!("../../data/truth.jsonl.gz");
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).expect("it is whole");
    let entries: Vec<_> = text.lines().map(entry).collect();
    assert_eq!(entries.len(), 4534);
    entries
}

fn entry(line: &str) -> Entry {
    let value: Value = serde_json::from_str(line).expect("JSON");
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let object = |name: &str| value[name].as_object().cloned().unwrap_or_default();
    let texts = |name: &str| {
        let pair = |(key, value): (String, Value)| (key, value.as_str().unwrap_or("").to_owned());
        object(name).into_iter().map(pair).collect()
    };
    Entry {
        id: text("id").expect("an id"),
        fen: text("fen").expect("a FEN"),
        shredder: text("shredder"),
        chess960: value["chess960"] == true,
        captures: texts("captures"),
        illegal: texts("illegal"),
        see: object("see").into_iter().collect(),
    }
}
