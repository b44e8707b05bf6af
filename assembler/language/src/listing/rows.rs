//! The lines of the texts in their order, and the wishes in force there.

use rustc_hash::FxHashMap;

use crate::source::{Origin, Source, SourceMap};

use super::{Control, Listing, ListingLine, Macros, Wish};

/// The depth to which `.SLIST` can be nested: TDL manual 2.2, "Listing control".
const MAX_SAVED: usize = 4;

/// The wishes in force, as the original has them at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wishes {
    pub(super) list: bool,
    pub(super) macros: Macros,
    pub(super) symbols: bool,
    pub(super) low_first: bool,
    pub(super) image: bool,
    pub(super) controls: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            list: true,
            macros: Macros::Code,
            symbols: true,
            low_first: false,
            image: false,
            controls: false,
        }
    }
}

/// One line of a text, with the statement on it.
pub(super) struct Row<'a> {
    /// The statement; none where a conditional skipped the line or a text goes on.
    pub(super) line: Option<ListingLine<'a>>,
    pub(super) source: &'a Source,
    /// The line in its text, from 1; 0 if an earlier statement of the line has shown it.
    pub(super) number: u32,
}

impl Row<'_> {
    pub(super) fn text(&self) -> &[u8] {
        if self.number == 0 { &[] } else { text_of(self.source, self.number) }
    }

    pub(super) fn is_macro(&self) -> bool {
        matches!(self.source.origin, Origin::Macro(_))
    }
}

/// A layout: takes rows and wishes in their order.
pub(super) trait Layout {
    fn row(&mut self, row: &Row<'_>, wishes: &Wishes);
}

/// Runs through a listing.
pub(super) fn walk(listing: &Listing, sources: &SourceMap, layout: &mut impl Layout) {
    let mut walker = Walker { next: FxHashMap::default(), current: None };
    let mut wishes = Wishes::default();
    let mut saved = Vec::new();
    let mut controls = listing.controls.iter().peekable();
    for (at, line) in listing.lines().enumerate() {
        let mut before = wishes;
        while let Some((_, control)) = controls.next_if(|(place, _)| *place as usize <= at) {
            if let Control::Wish(wish) = control {
                apply(*wish, &mut wishes, &mut saved);
            }
        }
        // The line that turns the listing off is shown like those before it, if at all.
        before.list &= wishes.list || !line.control;
        walker.statement(line, sources, &before, layout);
    }
}

/// Changes the wishes in force; a page is the layout's to begin.
pub(super) fn apply(wish: Wish, wishes: &mut Wishes, saved: &mut Vec<Wishes>) {
    match wish {
        Wish::List(on) => wishes.list = on,
        Wish::Macros(macros) => wishes.macros = macros,
        Wish::Symbols(on) => wishes.symbols = on,
        Wish::LowFirst(on) => wishes.low_first = on,
        Wish::Image(on) => wishes.image = on,
        Wish::Controls(on) => wishes.controls = on,
        Wish::Save if saved.len() < MAX_SAVED => saved.push(*wishes),
        Wish::Save => {}
        Wish::Restore => *wishes = saved.pop().unwrap_or(*wishes),
        Wish::Page => {}
    }
}

struct Walker<'a> {
    /// The next line to show of each text that is not the current one, by its base.
    next: FxHashMap<u32, u32>,
    current: Option<(&'a Source, u32)>,
}

impl<'a> Walker<'a> {
    fn statement(
        &mut self,
        line: ListingLine<'a>,
        sources: &'a SourceMap,
        wishes: &Wishes,
        layout: &mut impl Layout,
    ) {
        let (source, next) = self.enter(&line, sources);
        let number = line_number(source, line.span.start - source.base, next);
        if !matches!(source.origin, Origin::Macro(_)) && wishes.list {
            for skipped in next..number {
                layout.row(&Row { line: None, source, number: skipped }, wishes);
            }
        }
        self.current = Some((source, number.max(next - 1) + 1));
        if wishes.list {
            let number = if number < next { 0 } else { number };
            layout.row(&Row { line: Some(line), source, number }, wishes);
        }
    }

    /// The text of a statement, and which of its lines is to be shown next.
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

/// The line that holds an offset; most often the one that is next.
fn line_number(source: &Source, offset: u32, next: u32) -> u32 {
    let expected = (source.line_start(next)..source.line_start(next + 1)).contains(&offset);
    if expected { next } else { source.line(offset) }
}

/// A line without its end.
pub(super) fn text_of(source: &Source, line: u32) -> &[u8] {
    let start = source.line_start(line) as usize;
    let end = (source.line_start(line + 1) as usize).min(source.text.len());
    let text = &source.text[start.min(end)..end];
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// Appends a byte's two digits.
pub(super) fn push_hex(text: &mut String, byte: u8) {
    text.push(char::from(DIGITS[usize::from(byte >> 4)]));
    text.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// Appends a word's four digits, high byte first.
pub(super) fn push_word(text: &mut String, word: u16) {
    word.to_be_bytes().into_iter().for_each(|byte| push_hex(text, byte));
}

/// Appends blanks up to a length.
pub(super) fn pad(text: &mut String, end: usize) {
    text.extend(std::iter::repeat_n(' ', end.saturating_sub(text.len())));
}

/// Ends a row without blanks at its end.
pub(super) fn end_row(text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
    text.push('\n');
}
