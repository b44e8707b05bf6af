//! Iterates over the lines of a listing, with the listing options that apply to each.

use rustc_hash::FxHashMap;

use super::control::{ListedMacros, ListingControl, ListingDirective};
use super::statement::{Listing, ListingLine};
use crate::source::{Origin, Source, SourceMap};

/// The depth to which `.SLIST` can be nested: TDL manual 2.2, "Listing control".
const MAX_SAVED: usize = 4;

/// The listing options, by default those that ZASM starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListingOptions {
    pub(super) list: bool,
    pub(super) macros: ListedMacros,
    pub(super) symbols: bool,
    pub(super) low_first: bool,
    pub(super) image: bool,
    pub(super) controls: bool,
}

impl Default for ListingOptions {
    fn default() -> Self {
        Self {
            list: true,
            macros: ListedMacros::Code,
            symbols: true,
            low_first: false,
            image: false,
            controls: false,
        }
    }
}

/// A line of a text, with its statement.
pub(super) struct SourceRow<'a> {
    /// The statement. `None` if a conditional skipped the line, or a text continues on it.
    pub(super) line: Option<ListingLine<'a>>,
    pub(super) source: &'a Source,
    /// The line number, from 1; 0 if an earlier statement of the line has shown the text.
    pub(super) number: u32,
}

impl SourceRow<'_> {
    pub(super) fn text(&self) -> &[u8] {
        if self.number == 0 { &[] } else { text_of(self.source, self.number) }
    }

    pub(super) fn is_macro(&self) -> bool {
        matches!(self.source.origin, Origin::Macro(_))
    }
}

/// Formats rows in a listing style.
pub(super) trait ListingWriter {
    fn row(&mut self, row: &SourceRow<'_>, options: &ListingOptions);
}

/// Passes all rows of a listing to a writer.
pub(super) fn walk(listing: &Listing, sources: &SourceMap, writer: &mut impl ListingWriter) {
    let mut walker = Walker { next: FxHashMap::default(), current: None };
    let mut options = ListingOptions::default();
    let mut saved = Vec::new();
    let mut controls = listing.controls.iter().peekable();
    for (at, line) in listing.lines().enumerate() {
        let mut before = options;
        while let Some((_, control)) = controls.next_if(|(place, _)| *place as usize <= at) {
            if let ListingControl::Directive(directive) = control {
                apply(*directive, &mut options, &mut saved);
            }
        }
        // The line that turns the listing off is shown under the earlier options.
        before.list &= options.list || !line.control;
        walker.statement(line, sources, &before, writer);
    }
}

/// Applies a directive to the options. New pages are left to the writer.
pub(super) fn apply(
    directive: ListingDirective,
    options: &mut ListingOptions,
    saved: &mut Vec<ListingOptions>,
) {
    match directive {
        ListingDirective::List(on) => options.list = on,
        ListingDirective::Macros(macros) => options.macros = macros,
        ListingDirective::Symbols(on) => options.symbols = on,
        ListingDirective::LowFirst(on) => options.low_first = on,
        ListingDirective::Image(on) => options.image = on,
        ListingDirective::Controls(on) => options.controls = on,
        ListingDirective::Save if saved.len() < MAX_SAVED => saved.push(*options),
        ListingDirective::Save => {}
        ListingDirective::Restore => *options = saved.pop().unwrap_or(*options),
        ListingDirective::Page => {}
    }
}

struct Walker<'a> {
    /// The next line to list of each text that is not the current one, by its base.
    next: FxHashMap<u32, u32>,
    current: Option<(&'a Source, u32)>,
}

impl<'a> Walker<'a> {
    fn statement(
        &mut self,
        line: ListingLine<'a>,
        sources: &'a SourceMap,
        options: &ListingOptions,
        writer: &mut impl ListingWriter,
    ) {
        let (source, next) = self.enter(&line, sources);
        let number = line_number(source, line.span.start - source.base, next);
        if !matches!(source.origin, Origin::Macro(_)) && options.list {
            for skipped in next..number {
                writer.row(&SourceRow { line: None, source, number: skipped }, options);
            }
        }
        self.current = Some((source, number.max(next - 1) + 1));
        if options.list {
            let number = if number < next { 0 } else { number };
            writer.row(&SourceRow { line: Some(line), source, number }, options);
        }
    }

    /// Returns the text of a statement, and its next line to list.
    fn enter(&mut self, line: &ListingLine<'_>, sources: &'a SourceMap) -> (&'a Source, u32) {
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
                let source = sources.source_at(line.span.start);
                (source, self.next.get(&source.base).copied().unwrap_or(1))
            }
        }
    }
}

/// Returns the line that contains an offset, which is most often `next`.
fn line_number(source: &Source, offset: u32, next: u32) -> u32 {
    let expected = (source.line_start(next)..source.line_start(next + 1)).contains(&offset);
    if expected { next } else { source.line(offset) }
}

pub(super) fn text_of(source: &Source, line: u32) -> &[u8] {
    let start = source.line_start(line) as usize;
    let end = (source.line_start(line + 1) as usize).min(source.text.len());
    let text = &source.text[start.min(end)..end];
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

pub(super) fn push_hex(text: &mut String, byte: u8) {
    text.push(char::from(DIGITS[usize::from(byte >> 4)]));
    text.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// Appends a word in hexadecimal, high byte first.
pub(super) fn push_word(text: &mut String, word: u16) {
    word.to_be_bytes().into_iter().for_each(|byte| push_hex(text, byte));
}

pub(super) fn pad(text: &mut String, end: usize) {
    text.extend(std::iter::repeat_n(' ', end.saturating_sub(text.len())));
}

/// Ends a row and removes trailing blanks.
pub(super) fn end_row(text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
    text.push('\n');
}
