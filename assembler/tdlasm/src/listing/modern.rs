//! The modern style: address, bytes, T-states and line beside the source.

use std::fmt::Write;

use super::control::ListedMacros;
use super::rows::{
    ListingOptions, ListingWriter, SourceRow, end_row, pad, push_hex, push_word, walk,
};
use super::statement::{Listing, ListingLine};
use crate::module::RelocValue;
use crate::source::SourceMap;

/// Bytes per line; longer data continues on the next line.
const BYTES_A_LINE: usize = 6;
/// The width of address, bytes and T-states.
const CODE_WIDTH: usize = 26;

/// Lists every line of the files in order, macro texts below their calls with a `+` for each level.
///
/// Columns: address with `'` for `.PROG.`, `*` for `.DATA.` and `"` for `.BLNK.`; bytes, with `'`
/// if they are relocated; T-states, `taken/not taken` if they differ; line; text.
pub(super) fn render(listing: &Listing, sources: &SourceMap) -> String {
    let mut layout = Modern { text: String::with_capacity(listing.statements.len() * 64) };
    walk(listing, sources, &mut layout);
    layout.text
}

struct Modern {
    text: String,
}

impl ListingWriter for Modern {
    fn row(&mut self, row: &SourceRow<'_>, options: &ListingOptions) {
        let Some(line) = &row.line else {
            self.text.push_str(&" ".repeat(CODE_WIDTH));
            return self.source_line(row, 0);
        };
        let is_macro = row.is_macro();
        if is_macro && options.macros == ListedMacros::None {
            return;
        }
        let hidden = row.number == 0 || (is_macro && row.text().trim_ascii().is_empty());
        let mut chunks = line.bytes.chunks(BYTES_A_LINE);
        let first = chunks.next().unwrap_or_default();
        if hidden && first.is_empty() {
            return;
        }
        self.code(Some(line), first, !line.relocs.is_empty());
        if hidden {
            end_row(&mut self.text);
        } else {
            self.source_line(row, line.depth);
        }
        for chunk in chunks {
            self.code(None, chunk, !line.relocs.is_empty());
            end_row(&mut self.text);
        }
    }
}

impl Modern {
    /// Appends address, bytes and T-states.
    fn code(&mut self, line: Option<&ListingLine<'_>>, bytes: &[u8], relocated: bool) {
        let start = self.text.len();
        if let Some(line) = line {
            match line.value.filter(|_| line.bytes.is_empty()) {
                Some(value) => push_word(&mut self.text, value.number),
                None => self.address(line.address),
            }
        }
        pad(&mut self.text, start + 6);
        for byte in bytes {
            push_hex(&mut self.text, *byte);
        }
        if relocated && !bytes.is_empty() {
            self.text.push('\'');
        }
        pad(&mut self.text, start + CODE_WIDTH - 6);
        if let Some(clocks) = line.and_then(|line| line.clocks) {
            self.clocks(clocks.taken, clocks.not_taken);
        }
        pad(&mut self.text, start + CODE_WIDTH);
    }

    fn clocks(&mut self, taken: u8, not_taken: u8) {
        if taken == not_taken {
            right(&mut self.text, u32::from(taken), 5);
        } else {
            let shown = format!("{taken}/{not_taken}");
            let _ = write!(self.text, "{shown:>5}");
        }
    }

    fn address(&mut self, address: RelocValue) {
        push_word(&mut self.text, address.number);
        match address.base {
            0 => {}
            1 => self.text.push('\''),
            2 => self.text.push('*'),
            3 => self.text.push('"'),
            _ => self.text.push(':'),
        }
    }

    /// Appends line number, macro depth and text.
    fn source_line(&mut self, row: &SourceRow<'_>, depth: u32) {
        right(&mut self.text, row.number, 5);
        let start = self.text.len();
        self.text.extend(std::iter::repeat_n('+', depth.min(4) as usize));
        pad(&mut self.text, start + 2);
        match std::str::from_utf8(row.text()) {
            Ok(text) => self.text.push_str(text),
            Err(_) => self.text.push_str(&String::from_utf8_lossy(row.text())),
        }
        end_row(&mut self.text);
    }
}

/// Appends a number, right-aligned.
fn right(text: &mut String, number: u32, width: usize) {
    let mut digits = [b' '; 10];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let start = at.min(digits.len() - width);
    text.extend(digits[start..].iter().map(|digit| char::from(*digit)));
}
