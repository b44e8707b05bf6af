//! A row while the text is read, its code columns, and the lines printed for it.

use std::ops::Range;

use super::super::options::ListingOptions;
use super::super::statement::{BYTES_A_ROW, ListingLine, WORDS_A_ROW};
use crate::isa::{Slot, decode};
use crate::module::RelocValue;

/// The columns of address, code and marker, and the width of a row.
const ADDRESS: usize = 3;
const CODE: usize = 11;
const MARKER: usize = 23;
const SOURCE: usize = 24;
const WIDTH: usize = 72;
/// The distance of tab stops.
const TAB: usize = 8;
/// Flags on a row; further errors are only counted.
const LETTERS: usize = 2;

#[derive(Debug, Clone, Default)]
pub(super) struct PrintedRow {
    /// The text from the marker on.
    pub(super) text: Vec<u8>,
    /// Whether the marker has been added.
    pub(super) started: bool,
    /// The number of open macro texts at its start.
    pub(super) depth: u32,
    letters: Vec<char>,
    pub(super) address: Option<RelocValue>,
    pub(super) code: Option<String>,
    /// Under `.SALL` and `.LIMAGE`: the rows of the macro text whose code follows that of the call.
    pub(super) more: Vec<PrintedRow>,
    /// Whether it has been printed.
    pub(super) done: bool,
    /// Whether a new page begins after it.
    pub(super) ends_page: bool,
    /// Whether it has a listing directive.
    pub(super) control: bool,
}

impl PrintedRow {
    pub(super) fn start(&mut self, marker: u8, depth: u32) {
        if !self.started {
            self.text.push(marker);
            self.depth = depth;
            self.started = true;
        }
    }

    pub(super) fn push(&mut self, byte: u8) {
        self.text.push(byte);
    }

    /// Marks an error at the current position.
    pub(super) fn mark(&mut self, letter: char) {
        self.text.push(b'?');
        if self.letters.len() < LETTERS {
            self.letters.push(letter);
        }
    }

    pub(super) fn has_error(&self) -> bool {
        !self.letters.is_empty()
    }

    /// Sets address and code, unless they are set.
    pub(super) fn take_code(&mut self, address: Option<RelocValue>, code: Option<String>) {
        self.address = self.address.or(address);
        if self.code.is_none() {
            self.code = code;
        }
    }

    /// Returns the lines. Text beyond the width continues on the next line, in the source column.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.left()];
        let text = String::from_utf8_lossy(&self.text);
        // The second of two words covers the marker and the first two characters of the source.
        let covered = lines[0].len() - MARKER;
        if let (1.., Some(marker @ (b'+' | b'@'))) = (covered, self.text.first()) {
            lines[0][MARKER] = char::from(*marker);
        }
        for letter in text.chars().skip(covered) {
            push(&mut lines, letter);
        }
        let first = &mut lines[0];
        first.resize(first.len().max(SOURCE), ' ');
        lines.extend(self.more.iter().map(Self::left));
        lines.into_iter().map(String::from_iter).collect()
    }

    /// Returns flags, address and code, padded up to the marker.
    fn left(&self) -> Vec<char> {
        let mut left: Vec<char> = self.letters.clone();
        left.resize(ADDRESS, ' ');
        if let Some(RelocValue { number, base }) = self.address {
            left.extend(format!("{number:04X}{}", reloc_mark(base)).chars());
        }
        left.resize(CODE, ' ');
        left.extend(self.code.iter().flat_map(|code| code.chars()));
        left.resize(left.len().max(MARKER), ' ');
        left
    }
}

/// Appends a character, and begins the next line once this one is full. A tab that would fill the
/// line only ends it.
fn push(lines: &mut Vec<Vec<char>>, letter: char) {
    let Some(line) = lines.last_mut() else { return };
    let end = if letter == '\t' { (line.len() + 1).next_multiple_of(TAB) } else { line.len() + 1 };
    match letter {
        '\t' if end >= WIDTH => {}
        '\t' => line.resize(end, ' '),
        _ => line.push(letter),
    }
    if end >= WIDTH {
        lines.push(vec![' '; SOURCE]);
    }
}

/// Returns the relocation mark after a value.
pub(super) fn reloc_mark(base: u32) -> String {
    match base {
        0 => String::new(),
        1 => "'".into(),
        2 => "*".into(),
        other => format!(":{other:02X}"),
    }
}

/// Formats the code of a row, which begins with some bytes of a statement.
pub(super) fn code_columns(
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
        return Some(hex::encode_upper(&shown[..opcode]) + gap(options) + word.trim_end());
    }
    Some(hex::encode_upper(&shown[..shown.len().min(BYTES_A_ROW as usize)]))
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
