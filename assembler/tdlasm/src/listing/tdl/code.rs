//! The code columns.

use std::ops::Range;

use super::super::options::ListingOptions;
use super::super::statement::{BYTES_A_ROW, ListingLine, WORDS_A_ROW};
use super::reloc_mark::reloc_mark;
use crate::isa::{Slot, decode};

/// Formats the code of a row, which begins with some bytes of a statement.
pub(super) fn row(
    line: &ListingLine,
    bytes: Range<usize>,
    options: &ListingOptions,
) -> Option<String> {
    let shown = &line.bytes[bytes.clone()];
    if shown.is_empty() {
        return None;
    }
    if line.words {
        let firsts = bytes.step_by(2).take(WORDS_A_ROW as usize);
        let words: Vec<String> = firsts.map(|at| word(line, at, options)).collect();
        return Some(words.join(gap(options)));
    }
    let has_word = || decode(shown).is_some_and(|found| found.form.slots.contains(&Slot::Word));
    if line.clocks.is_some() && shown.len() > 2 && has_word() {
        let opcode = shown.len() - 2;
        let word = word(line, opcode, options);
        return Some(digits(&shown[..opcode]) + gap(options) + word.trim_end());
    }
    Some(digits(&shown[..shown.len().min(BYTES_A_ROW as usize)]))
}

/// Returns what precedes a word, other than the first of a row.
fn gap(options: &ListingOptions) -> &'static str {
    if options.low_first { "" } else { " " }
}

/// Formats a word and its relocation mark, padded to the width of the longest mark.
fn word(line: &ListingLine, at: usize, options: &ListingOptions) -> String {
    let bytes = [line.bytes[at], line.bytes[at + 1]];
    let number =
        if options.low_first { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    let reloc = line.relocs.iter().find(|reloc| reloc.at as usize == at);
    let mark = reloc.map_or(String::new(), |reloc| reloc_mark(reloc.base));
    format!("{number:04X}{mark:<3}")
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}
