//! Listings of z88dk, whose addresses are offsets in sections; the `.map` has the addresses of labels.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DebugInfo, RelativeSection, label};
use crate::error::DebugInfoError;
use crate::number::{hexadecimal, line_number};

/// The columns of offset and text.
const OFFSET: std::ops::Range<usize> = 8..12;
const TEXT: usize = 32;

/// `main.asm:`, then `     9  0000  c30000   jp   BOOT8`.
pub(super) fn is_listing(first: &str, second: &str) -> bool {
    first.ends_with(':') && second.starts_with("     1  ")
}

pub(super) fn read(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a listing of z88dk", ..DebugInfo::default() };
    let mut sections: BTreeMap<String, RelativeSection> = BTreeMap::new();
    let mut section = String::new();
    let mut file: Arc<str> = Arc::from("");
    // Labels are at the next offset.
    let mut labels: Vec<String> = Vec::new();
    for row in text.lines() {
        let Some(number) = row.get(..6).and_then(|number| line_number(number.trim())) else {
            if let Some(name) = row.strip_suffix(':').filter(|_| !row.starts_with(' ')) {
                file = Arc::from(name);
            }
            continue;
        };
        let text = row.get(TEXT..).unwrap_or_default();
        let mut words = text.split_whitespace();
        if words.next().is_some_and(|word| word.eq_ignore_ascii_case("section")) {
            section = words.next().unwrap_or_default().to_owned();
            labels.clear();
        }
        labels.extend(label(text).map(str::to_owned));
        if let Some(offset) = row.get(OFFSET).and_then(hexadecimal) {
            let section = sections.entry(section.clone()).or_default();
            section.labels.extend(labels.drain(..).map(|label| (label, offset)));
            section.lines.push((offset, Arc::clone(&file), number));
        }
    }
    info.relative = sections.into_values().filter(|one| !one.labels.is_empty()).collect();
    Ok(info)
}
