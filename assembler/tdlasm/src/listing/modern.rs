//! The modern style: address, bytes, T-states and line beside the source.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::options::{ListedMacros, ListingControl, ListingOptions};
use super::statement::{Listing, ListingLine};
use crate::module::RelocValue;
use crate::source::{Origin, Source, SourceMap};

/// Bytes per line; longer data continues on the next line.
const BYTES_A_LINE: usize = 6;
/// The width of address, bytes and T-states.
const CODE_WIDTH: usize = 26;

/// Lists every line of the files in order, macro texts below their calls with a `+` for each level.
///
/// Columns: address with `'` for `.PROG.`, `*` for `.DATA.` and `"` for `.BLNK.`; bytes, with `'`
/// if they are relocated; T-states, `taken/not taken` if they differ; line; text.
pub fn render_modern(listing: &Listing, sources: &SourceMap) -> String {
    let text = String::with_capacity(listing.lines.len() * 64);
    let mut writer = Modern { text, sources, next: FxHashMap::default(), current: None };
    let mut options = ListingOptions::default();
    let mut saved = Vec::new();
    let mut controls = listing.controls.iter().peekable();
    for (at, line) in listing.lines().enumerate() {
        let mut before = options;
        while let Some((_, control)) = controls.next_if(|(place, _)| *place as usize <= at) {
            if let ListingControl::Directive(directive) = control {
                options.apply(*directive, &mut saved);
            }
        }
        // The line that turns the listing off is shown under the earlier options.
        before.list &= options.list || !line.control;
        writer.statement(line, &before);
    }
    writer.text
}

struct Modern<'a> {
    text: String,
    sources: &'a SourceMap,
    /// The next line to list of each text that is not the current one, by its base.
    next: FxHashMap<u32, u32>,
    current: Option<(&'a Source, u32)>,
}

impl<'a> Modern<'a> {
    /// Lists a statement, after the lines of its file before it that have none: those that a
    /// conditional skipped, or on which a text continues.
    fn statement(&mut self, line: &ListingLine, options: &ListingOptions) {
        let (source, next) = self.enter(line);
        let number = line_number(source, line.span.start - source.base, next);
        let is_macro = matches!(source.origin, Origin::Macro(_));
        if !is_macro && options.list {
            for skipped in next..number {
                self.text.push_str(&" ".repeat(CODE_WIDTH));
                self.source_line(source, skipped, 0);
            }
        }
        self.current = Some((source, number.max(next - 1) + 1));
        if !options.list || (is_macro && options.macros == ListedMacros::None) {
            return;
        }
        // An earlier statement of the line has shown its text.
        let is_shown = number < next;
        let is_empty = || is_macro && text_of(source, number).trim_ascii().is_empty();
        self.rows(line, source, (!is_shown && !is_empty()).then_some(number));
    }

    /// Returns the text of a statement, and its next line to list.
    fn enter(&mut self, line: &ListingLine) -> (&'a Source, u32) {
        let within = |source: &Source| {
            let end = source.base + source.text.len() as u32;
            (source.base..=end).contains(&line.span.start)
        };
        match self.current {
            Some((source, next)) if within(source) => (source, next),
            other => {
                if let Some((source, next)) = other {
                    self.next.insert(source.base, next);
                }
                let source = self.sources.source_at(line.span.start);
                (source, self.next.get(&source.base).copied().unwrap_or(1))
            }
        }
    }

    /// Appends the rows of a statement, the first with the text of its line if that is shown.
    fn rows(&mut self, line: &ListingLine, source: &Source, number: Option<u32>) {
        let mut chunks = line.bytes.chunks(BYTES_A_LINE);
        let first = chunks.next().unwrap_or_default();
        if number.is_none() && first.is_empty() {
            return;
        }
        self.code(Some(line), first, !line.relocs.is_empty());
        match number {
            Some(number) => self.source_line(source, number, line.depth),
            None => self.end_row(),
        }
        for chunk in chunks {
            self.code(None, chunk, !line.relocs.is_empty());
            self.end_row();
        }
    }

    /// Appends address, bytes and T-states, which have [`CODE_WIDTH`] columns.
    fn code(&mut self, line: Option<&ListingLine>, bytes: &[u8], relocated: bool) {
        let address = line.map_or(String::new(), address);
        let mark = if relocated && !bytes.is_empty() { "'" } else { "" };
        let code = hex::encode_upper(bytes) + mark;
        let clocks = match line.and_then(|line| line.clocks) {
            None => String::new(),
            Some(clocks) if clocks.taken == clocks.not_taken => clocks.taken.to_string(),
            Some(clocks) => format!("{}/{}", clocks.taken, clocks.not_taken),
        };
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{address:<6}{code:<14}{clocks:>5} ");
    }

    /// Appends line number, macro depth and text.
    fn source_line(&mut self, source: &Source, number: u32, depth: u32) {
        let plus = "+".repeat(depth.min(4) as usize);
        let text = String::from_utf8_lossy(text_of(source, number));
        let _ = write!(self.text, "{number:>5}{plus:<2}{text}");
        self.end_row();
    }

    /// Ends a row and removes trailing blanks.
    fn end_row(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
    }
}

/// Returns the value that a statement assigns, or its address.
fn address(line: &ListingLine) -> String {
    if let Some(value) = line.value.filter(|_| line.bytes.is_empty()) {
        return format!("{:04X}", value.number);
    }
    let RelocValue { number, base } = line.address;
    let mark = match base {
        0 => "",
        1 => "'",
        2 => "*",
        3 => "\"",
        _ => ":",
    };
    format!("{number:04X}{mark}")
}

/// Returns the line that contains an offset, which is most often `next`.
fn line_number(source: &Source, offset: u32, next: u32) -> u32 {
    let expected = (source.line_start(next)..source.line_start(next + 1)).contains(&offset);
    if expected { next } else { source.line(offset) }
}

fn text_of(source: &Source, line: u32) -> &[u8] {
    let start = source.line_start(line) as usize;
    let end = (source.line_start(line + 1) as usize).min(source.text.len());
    let text = &source.text[start.min(end)..end];
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}
