//! The code columns.

use crate::isa::{Slot, decode};

use super::super::ListingLine;
use super::super::rows::{Wishes, push_hex, push_word};
use super::flag;

/// Bytes and words on a row.
const BYTES_A_ROW: usize = 6;
const WORDS_A_ROW: usize = 2;
/// The columns of a word of `.WORD`: digits, what it moves with, a blank.
const WORD_WIDTH: usize = 8;

/// Returns the code of a statement, cut into the rows that it takes.
pub(super) fn rows(line: &ListingLine<'_>, wishes: &Wishes) -> Vec<String> {
    if line.words {
        return words(line, wishes);
    }
    let operand = decode(line.bytes)
        .filter(|found| line.clocks.is_some() && found.form.slots.contains(&Slot::Word));
    if operand.is_some() && line.bytes.len() > 2 {
        let opcode = line.bytes.len() - 2;
        let text = format!("{} {}", digits(&line.bytes[..opcode]), word(line, opcode, wishes));
        return vec![text];
    }
    line.bytes.chunks(BYTES_A_ROW).map(digits).collect()
}

/// Two words a row. A second one is printed with all its columns, which reach over the first two of
/// the source.
fn words(line: &ListingLine<'_>, wishes: &Wishes) -> Vec<String> {
    let count = line.bytes.len() / 2;
    (0..count)
        .step_by(WORDS_A_ROW)
        .map(|first| {
            let shown = WORDS_A_ROW.min(count - first);
            let mut text = word(line, 2 * first, wishes);
            if shown > 1 {
                text = format!("{text:<WORD_WIDTH$}{}", word(line, 2 * first + 2, wishes));
                let width = WORDS_A_ROW * WORD_WIDTH - 1;
                text = format!("{text:<width$}");
            }
            text
        })
        .collect()
}

/// The word at an index of the bytes, and what it moves with.
fn word(line: &ListingLine<'_>, at: usize, wishes: &Wishes) -> String {
    let bytes = [line.bytes[at], line.bytes[at + 1]];
    let mut text = String::new();
    let shown =
        if wishes.low_first { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    push_word(&mut text, shown);
    if let Some(reloc) = line.relocs.iter().find(|reloc| reloc.at as usize == at) {
        text.push_str(&flag(reloc.base));
    }
    text
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        push_hex(&mut text, *byte);
        text
    })
}
