//! The listing as text: address, bytes, T-states and line beside the source.

use rustc_hash::FxHashMap;
use std::fmt::Write;

use crate::module::SectionKind;
use crate::source::{Origin, Source, SourceMap};

use super::ListingLine;

/// Bytes on one line; longer data goes on in the next.
const BYTES_A_LINE: usize = 6;
/// The columns of address, bytes and T-states.
const CODE_WIDTH: usize = 26;

/// The listing of a run: every line of the files in order, macro texts below their calls with a `+` for each level.
///
/// Columns: address with `'` for `.PROG.`, `*` for `.DATA.` and `"` for `.BLNK.`; bytes, with `'` if the linker
/// changes them; T-states, `taken/not taken` if they differ; line; text.
#[must_use]
pub fn render(lines: &[ListingLine], sources: &SourceMap) -> String {
    let mut writer = Writer { text: String::new(), next: FxHashMap::default() };
    for line in lines {
        writer.statement(line, sources);
    }
    writer.text
}

struct Writer {
    text: String,
    /// The next line to show of each text, by its base.
    next: FxHashMap<u32, u32>,
}

impl Writer {
    fn statement(&mut self, line: &ListingLine, sources: &SourceMap) {
        let source = sources.source_at(line.span.start);
        let next = self.next.get(&source.base).copied().unwrap_or(1);
        let number = line_number(source, line.span.start - source.base, next);
        let in_macro = matches!(source.origin, Origin::Macro(_));
        if !in_macro {
            // What no statement covers was skipped by a conditional or belongs to a text of several lines.
            for skipped in next..number {
                self.text.push_str(&" ".repeat(CODE_WIDTH));
                self.source_line(source, skipped, 0);
            }
        }
        self.next.insert(source.base, number.max(next - 1) + 1);
        let hidden = number < next || (in_macro && text_of(source, number).trim_ascii().is_empty());
        let mut chunks = line.bytes.chunks(BYTES_A_LINE);
        let first = chunks.next().unwrap_or_default();
        if !(hidden && first.is_empty()) {
            self.code(Some(line), first, line.relocated);
            if hidden {
                self.end_row();
            } else {
                self.source_line(source, number, line.depth);
            }
        }
        for chunk in chunks {
            self.code(None, chunk, line.relocated);
            self.end_row();
        }
    }

    /// Address, bytes and T-states.
    fn code(&mut self, line: Option<&ListingLine>, bytes: &[u8], relocated: bool) {
        let start = self.text.len();
        if let Some(line) = line {
            self.address(line);
        }
        self.pad(start + 6);
        for byte in bytes {
            self.hex(*byte);
        }
        if relocated && !bytes.is_empty() {
            self.text.push('\'');
        }
        self.pad(start + CODE_WIDTH - 6);
        if let Some(clocks) = line.and_then(|line| line.clocks) {
            let shown = match clocks.taken == clocks.not_taken {
                true => clocks.taken.to_string(),
                false => format!("{}/{}", clocks.taken, clocks.not_taken),
            };
            let _ = write!(self.text, "{shown:>5}");
        }
        self.pad(start + CODE_WIDTH);
    }

    fn address(&mut self, line: &ListingLine) {
        let shown = line.value.filter(|_| line.bytes.is_empty());
        for byte in shown.unwrap_or(line.address).to_be_bytes() {
            self.hex(byte);
        }
        match line.base {
            _ if shown.is_some() => {}
            Some(SectionKind::Absolute) => {}
            Some(SectionKind::Prog) => self.text.push('\''),
            Some(SectionKind::Data) => self.text.push('*'),
            Some(SectionKind::Blank) => self.text.push('"'),
            None => self.text.push(':'),
        }
    }

    fn hex(&mut self, byte: u8) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        self.text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        self.text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }

    /// Line number, macro depth and text.
    fn source_line(&mut self, source: &Source, number: u32, depth: u32) {
        let _ = write!(self.text, "{number:>5}");
        let start = self.text.len();
        self.text.extend(std::iter::repeat_n('+', depth.min(4) as usize));
        self.pad(start + 2);
        self.text.push_str(&String::from_utf8_lossy(text_of(source, number)));
        self.end_row();
    }

    fn pad(&mut self, end: usize) {
        while self.text.len() < end {
            self.text.push(' ');
        }
    }

    fn end_row(&mut self) {
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        self.text.push('\n');
    }
}

/// The line that holds an offset; most often the one that is next.
fn line_number(source: &Source, offset: u32, next: u32) -> u32 {
    let expected = (source.line_start(next)..source.line_start(next + 1)).contains(&offset);
    if expected { next } else { source.line(offset) }
}

fn text_of(source: &Source, line: u32) -> &[u8] {
    let start = source.line_start(line) as usize;
    let rest = &source.text[start.min(source.text.len())..];
    let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    &rest[..end]
}
