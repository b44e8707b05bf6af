//! The code columns.

use super::super::rows::{ListingOptions, push_hex, push_word};
use super::super::statement::ListingLine;
use super::reloc_mark::reloc_mark;
use crate::isa::{Slot, decode};

const BYTES_A_ROW: usize = 6;
const WORDS_A_ROW: usize = 2;
/// The width of a word of `.WORD`: digits, relocation mark, blank.
const WORD_WIDTH: usize = 8;

pub(super) fn rows(line: &ListingLine<'_>, options: &ListingOptions) -> Vec<String> {
    if line.words {
        return words(line, options);
    }
    let operand = decode(line.bytes)
        .filter(|found| line.clocks.is_some() && found.form.slots.contains(&Slot::Word));
    if operand.is_some() && line.bytes.len() > 2 {
        let opcode = line.bytes.len() - 2;
        let text = format!("{} {}", digits(&line.bytes[..opcode]), word(line, opcode, options));
        return vec![text];
    }
    line.bytes.chunks(BYTES_A_ROW).map(digits).collect()
}

fn words(line: &ListingLine<'_>, options: &ListingOptions) -> Vec<String> {
    let count = line.bytes.len() / 2;
    (0..count)
        .step_by(WORDS_A_ROW)
        .map(|first| {
            let shown = WORDS_A_ROW.min(count - first);
            let mut text = word(line, 2 * first, options);
            if shown > 1 {
                text = format!("{text:<WORD_WIDTH$}{}", word(line, 2 * first + 2, options));
                let width = WORDS_A_ROW * WORD_WIDTH - 1;
                text = format!("{text:<width$}");
            }
            text
        })
        .collect()
}

fn word(line: &ListingLine<'_>, at: usize, options: &ListingOptions) -> String {
    let bytes = [line.bytes[at], line.bytes[at + 1]];
    let mut text = String::new();
    let shown =
        if options.low_first { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    push_word(&mut text, shown);
    if let Some(reloc) = line.relocs.iter().find(|reloc| reloc.at as usize == at) {
        text.push_str(&reloc_mark(reloc.base));
    }
    text
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        push_hex(&mut text, *byte);
        text
    })
}
