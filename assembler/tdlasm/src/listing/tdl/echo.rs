//! Prints the source text in the order in which ZASM reads it.

use std::ops::Range;

use super::super::options::{ListedMacros, ListingControl, ListingDirective, ListingOptions};
use super::super::statement::{Listing, ListingLine, RowBreak};
use super::marks::{Mark, within};
use super::page::Pages;
use super::row::{PrintedRow, code_columns};
use super::symbols;
use crate::module::{Module, RelocValue, SourceOrderModule};
use crate::source::{Origin, Source, SourceMap};

/// Ends and begins the rows among which `.LIMAGE` divides a statement.
const CUT: u8 = b'\\';

/// A text that is being read.
struct Open<'a> {
    source: &'a Source,
    /// The next position, as an offset of the source map.
    next: u32,
    /// The end of what is printed: the rest of the line of a macro call was printed with the call.
    limit: u32,
    /// The end of a macro's own text, before the rest of the calling line.
    body_end: u32,
}

/// Reads the texts again, statement by statement, and prints rows.
pub(super) struct Echo<'a> {
    listing: &'a Listing,
    sources: &'a SourceMap,
    modules: &'a [Module],
    marks: Vec<Mark>,
    /// The options of the command line, with which each module begins.
    initial: ListingOptions,
    options: ListingOptions,
    saved: Vec<ListingOptions>,
    linkage: bool,
    pages: Pages,
    open: Vec<Open<'a>>,
    /// The length of the rest of the calling line, which is at the end of the next macro text and
    /// was printed with the call.
    shown_rest: u32,
    /// The length of the rest of the calling line, even if it is not printed with the call.
    tail: u32,
    /// The number of open macro texts.
    depth: u32,
    row: PrintedRow,
    /// Under `.SALL`: the row of the outermost call, until its line ends or a row has an error.
    call: Option<PrintedRow>,
    /// Whether the bracket after the innermost macro text is in the row already.
    is_closed: bool,
    errors: usize,
}

/// A statement of the source, and where its text ends.
struct EchoedStatement<'l> {
    line: &'l ListingLine,
    /// The end of the statement's own text. The text of a block or macro follows.
    end: u32,
    /// The end of the range in which diagnostics about the statement begin.
    marks_end: u32,
    /// Whether the statement calls a macro.
    calls: bool,
    /// The length of the text after the call on its line, if it is read as a part of the macro text
    /// but printed with the call.
    rest: u32,
    /// The length of that text, printed with the call or not.
    tail: u32,
    breaks: Vec<RowBreak>,
}

impl<'a> Echo<'a> {
    pub(super) fn new(
        listing: &'a Listing,
        sources: &'a SourceMap,
        modules: &'a [Module],
        marks: Vec<Mark>,
        initial: ListingOptions,
        pages: Pages,
    ) -> Self {
        Self {
            listing,
            sources,
            modules,
            marks,
            initial,
            options: initial,
            saved: Vec::new(),
            linkage: true,
            pages,
            open: Vec::new(),
            shown_rest: 0,
            tail: 0,
            depth: 0,
            row: PrintedRow::default(),
            call: None,
            is_closed: false,
            errors: 0,
        }
    }

    pub(super) fn run(mut self) -> String {
        let listing = self.listing;
        let mut controls = listing.controls.iter().peekable();
        let mut breaks = listing.breaks.iter().peekable();
        let mut lines = listing.lines().enumerate().peekable();
        let mut module = 0;
        self.begin_module(module);
        while let Some((at, line)) = lines.next() {
            if line.module != module {
                self.end_module(module);
                module = line.module;
                self.begin_module(module);
            }
            self.enter(line);
            while let Some((_, control)) = controls.next_if(|(place, _)| *place as usize <= at) {
                self.control(control);
            }
            let mut statement = self.echoed_statement(line, lines.peek().map(|(_, next)| *next));
            while let Some(found) = breaks.next_if(|found| found.statement as usize <= at) {
                statement.breaks.push(*found);
            }
            self.echo_statement(&statement);
        }
        self.end_module(module);
        self.pages.finish()
    }

    /// Ends the module: prints what is left of macro texts and the line, then the symbol table.
    fn end_module(&mut self, module: u32) {
        while self.depth > 0 {
            self.leave();
        }
        if self.row.started || self.call.is_some() {
            self.end_row();
        }
        if self.options.symbols {
            let empty = SourceOrderModule::default();
            let module = self.assembled(module).unwrap_or(&empty);
            symbols::print(module, self.linkage, &mut self.pages);
        }
        if self.errors > 0 {
            self.pages.closing_line(&format!("{} ERRORS WERE DETECTED *****", self.errors));
        }
    }

    fn begin_module(&mut self, module: u32) {
        let ident = self.assembled(module).and_then(|module| module.ident.as_deref());
        self.pages.begin_module(ident);
        // The heading of the first page is that of the end of the first pass.
        self.pages.named = self.assembled(module).is_none_or(|module| module.form.linkage);
        self.errors = 0;
        self.linkage = true;
        self.options = self.initial;
        self.saved.clear();
    }

    /// Moves to the start of a statement: leaves texts that have ended, enters the statement's
    /// text, and prints what is in between.
    fn enter(&mut self, line: &ListingLine) {
        let source = self.sources.source_at(line.span.start);
        while self.open.last().is_some_and(|top| top.source.base != source.base) {
            let is_below = self.open.iter().any(|open| open.source.base == source.base);
            if !is_below && !matches!(source.origin, Origin::File) {
                break;
            }
            self.leave();
        }
        if self.open.last().is_none_or(|top| top.source.base != source.base) {
            self.open(source);
        }
        self.skip_unread(line.span.start);
        self.echo_to(line.span.start);
    }

    /// Skips what follows an `.EXIT` in its macro text, up to `end`.
    fn skip_unread(&mut self, end: u32) {
        let Some(top) = self.open.last_mut() else { return };
        let (base, end) = (top.source.base, end.min(top.limit));
        if matches!(top.source.origin, Origin::Macro(_)) && end > top.next {
            let unread = &top.source.text[(top.next - base) as usize..(end - base) as usize];
            if !unread.trim_ascii().is_empty() {
                top.next = end;
                if unread.contains(&b'\n') {
                    self.end_row();
                }
            }
        }
    }

    fn open(&mut self, source: &'a Source) {
        let mut next = source.base;
        let rest = std::mem::take(&mut self.shown_rest);
        if let Origin::Macro(call) = source.origin {
            next += self.head_length(source, call.start);
            self.call_begins();
            self.depth += 1;
        }
        let length = source.text.len() as u32;
        let limit = source.base + length.saturating_sub(rest);
        let body_end = source.base + length.saturating_sub(std::mem::take(&mut self.tail));
        self.open.push(Open { source, next, limit, body_end });
    }

    /// Returns how much of a macro text repeats the calling statement, for a call in an operand.
    fn head_length(&self, source: &Source, call: u32) -> u32 {
        // Not the current text: a `.PRGEND` in a macro closes it, and calls in it continue.
        let caller = self.sources.source_at(call);
        let line = caller.line_start(caller.line(call - caller.base)) as usize;
        let before = &caller.text[line..(call - caller.base) as usize];
        let is_operator = before.trim_ascii().is_empty() || before.trim_ascii().ends_with(b":");
        let head = if is_operator { &before[..0] } else { before };
        let found = (0..head.len()).find(|from| source.text.starts_with(&head[*from..]));
        found.map_or(0, |from| (head.len() - from) as u32)
    }

    /// Continues the row of a call with the macro text in brackets, unless it is not listed.
    fn call_begins(&mut self) {
        if self.options.macros == ListedMacros::None {
            if self.depth == 0 {
                self.call = Some(std::mem::take(&mut self.row));
            }
        } else {
            self.echo(b'[');
        }
    }

    fn leave(&mut self) {
        let Some(top) = self.open.last() else { return };
        let is_file = matches!(top.source.origin, Origin::File);
        let is_macro = matches!(top.source.origin, Origin::Macro(_));
        let limit = top.limit;
        if !is_file {
            self.skip_unread(limit);
            self.echo_to(limit);
        }
        self.open.pop();
        if !is_macro {
            return;
        }
        self.depth -= 1;
        let is_closed = std::mem::take(&mut self.is_closed);
        if self.options.macros != ListedMacros::None {
            // The bracket belongs to the macro text, and has its marker.
            self.row.start(b'+', self.depth + 1);
            self.row.text.extend((!is_closed).then_some(b']'));
        } else if self.depth == 0 {
            self.end_macro_row();
            self.row = self.call.take().unwrap_or_default();
            // The rest of the calling line has no row of its own if the row of the call is printed.
            self.row.done |= !self.row.started;
        }
    }

    /// Prints the innermost text up to an offset.
    fn echo_to(&mut self, end: u32) {
        let Some(top) = self.open.last_mut() else { return };
        let base = top.source.base;
        let from = (top.next - base) as usize;
        let to = (end.min(top.limit).max(top.next) - base) as usize;
        top.next = base + to as u32;
        let text = &top.source.text[from..to];
        text.iter().for_each(|byte| self.echo(*byte));
    }

    fn echo(&mut self, byte: u8) {
        match byte {
            b'\r' => {}
            b'\n' => self.end_row(),
            0x0C => {
                // A form feed ends the current row and the page.
                if self.row.started {
                    self.end_row();
                }
                self.new_page();
            }
            _ => {
                self.start_row();
                let byte = byte & 0x7F;
                if byte == b'\t' || !byte.is_ascii_control() {
                    self.row.push(byte);
                }
            }
        }
    }

    fn start_row(&mut self) {
        let inserted =
            self.open.last().is_some_and(|top| matches!(top.source.origin, Origin::Insert(_)));
        let marker = if self.depth > 0 {
            b'+'
        } else if inserted {
            b'@'
        } else {
            b' '
        };
        self.row.start(marker, self.depth);
    }

    fn new_page(&mut self) {
        if self.options.list {
            self.pages.new_page();
        }
    }

    /// Returns the statement with the end of its own text.
    fn echoed_statement<'l>(
        &self,
        line: &'l ListingLine,
        next: Option<&ListingLine>,
    ) -> EchoedStatement<'l> {
        let span = line.span;
        let mut end = span.end;
        let mut marks_end = span.end.max(span.start + 1);
        let mut calls = false;
        let (mut rest, mut tail) = (0, 0);
        if let Some(next) = next {
            let source = self.sources.source_at(next.span.start);
            match source.origin {
                _ if (span.start + 1..span.end).contains(&next.span.start) => {
                    end = next.span.start;
                    marks_end = end;
                }
                Origin::Macro(call) if (span.start..span.end).contains(&call.start) => {
                    calls = next.depth > line.depth;
                    tail = if calls { end.saturating_sub(call.end) } else { 0 };
                    if calls && self.options.macros != ListedMacros::None {
                        (end, rest) = (self.sources.rest_of_line(call.end).end, tail);
                    }
                }
                _ => {}
            }
        }
        if calls {
            end = self.text_end(end);
        }
        EchoedStatement { line, end, marks_end, calls, rest, tail, breaks: Vec::new() }
    }

    /// Returns the offset of the line end that closes a range.
    fn text_end(&self, end: u32) -> u32 {
        let Some(top) = self.open.last() else { return end };
        let text =
            &top.source.text[..((end - top.source.base) as usize).min(top.source.text.len())];
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        top.source.base + text.len() as u32
    }

    /// Prints a statement with its question marks. Its code goes to the row on which it ends, but
    /// the bytes of a text go to the rows of its lines.
    fn echo_statement(&mut self, statement: &EchoedStatement<'_>) {
        let line = statement.line;
        (self.shown_rest, self.tail) = (statement.rest, statement.tail);
        let last = if statement.calls { statement.end } else { self.text_end(statement.end) };
        let mut breaks = statement.breaks.iter().peekable();
        let mut from = 0;
        let mut coded = false;
        for mark in within(&self.marks, line.span.start, statement.marks_end) {
            while let Some(found) = breaks.next_if(|found| found.offset < mark.place) {
                from = self.row_break(found, line, from);
            }
            let beyond = mark.place > last;
            self.echo_to(if beyond && !coded { mark.place } else { mark.place.min(last) });
            if !beyond && !mark.before_row {
                self.start_row();
            }
            self.close_before(mark.place);
            self.row.mark(mark.letter);
            self.errors += 1;
            if beyond && !coded {
                // Found after the line end, so that the code is written while the next row is
                // current.
                self.put_code(line, from..line.bytes.len());
                coded = true;
            }
        }
        for found in breaks {
            from = self.row_break(found, line, from);
            coded |= !found.is_full && from == line.bytes.len();
        }
        self.echo_to(last);
        if !coded {
            self.put_code(line, from..line.bytes.len());
        }
        // Earlier lines of a title are listed, since the directive is recognised only at its end.
        self.row.control |= line.control;
        self.echo_to(statement.end);
    }

    /// Prints the bracket after a macro text that ends at the place of an error: ZASM has read it
    /// when it finds the error.
    fn close_before(&mut self, place: u32) {
        let ends = |top: &Open<'_>| {
            let text = &top.source.text[..(top.body_end - top.source.base) as usize];
            let is_macro = matches!(top.source.origin, Origin::Macro(_));
            is_macro && place == top.body_end && text.last().is_some_and(|byte| *byte != b'\n')
        };
        if self.open.last().is_some_and(ends) && !self.is_closed {
            self.row.push(b']');
            self.is_closed = true;
        }
    }

    /// Ends a row of code within a statement. Returns the first byte of the next row.
    fn row_break(&mut self, found: &RowBreak, line: &ListingLine, from: usize) -> usize {
        if found.is_full && !self.options.image {
            return from;
        }
        self.echo_to(found.offset);
        let to = (found.bytes as usize).clamp(from, line.bytes.len());
        self.put_code(line, from..to);
        if found.is_full {
            self.echo(CUT);
            self.end_row();
            self.echo(CUT);
        }
        to
    }

    /// Gives the current row some bytes of a statement.
    fn put_code(&mut self, line: &ListingLine, bytes: Range<usize>) {
        let number = line.address.number.wrapping_add(bytes.start as u16);
        let address = RelocValue { number, ..line.address };
        let start = self.assembled(line.module).filter(|_| line.start).map(|module| module.start);
        let label = line.labelled.then_some(address);
        let place = (!bytes.is_empty()).then_some(address);
        let code = code_columns(line, bytes, &self.options);
        self.row.take_code(label.or(start).or(line.value).or(place), code);
    }

    fn assembled(&self, module: u32) -> Option<&'a SourceOrderModule> {
        self.modules.get(module as usize)?.source_order.as_deref()
    }

    fn control(&mut self, control: &ListingControl) {
        match control {
            ListingControl::Title(text) => self.pages.title.clone_from(text),
            ListingControl::Ident(text) => self.pages.set_ident(text),
            ListingControl::Subtitle(text) => self.pages.subtitle.clone_from(text),
            ListingControl::Linkage(on) => {
                self.linkage = *on;
                self.pages.named = *on;
            }
            ListingControl::Directive(ListingDirective::Page) => self.row.ends_page = true,
            ListingControl::Directive(directive) => {
                self.options.apply(*directive, &mut self.saved);
            }
        }
    }

    fn end_row(&mut self) {
        if self.call.is_some() && self.depth > 0 {
            return self.end_macro_row();
        }
        self.start_row();
        let row = std::mem::take(&mut self.row);
        if !row.done {
            self.print(&row);
        }
        if row.ends_page {
            self.new_page();
        }
    }

    /// Under `.SALL` a row of macro text is printed only for its errors; the call's has its code.
    fn end_macro_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        if row.ends_page {
            self.new_page();
        }
        if row.has_error() {
            if let Some(call) = self.call.as_mut().filter(|call| call.started) {
                let call = std::mem::take(call);
                self.print(&call);
            }
            self.print(&row);
        } else if let Some(call) = self.call.as_mut().filter(|call| call.started) {
            if self.options.image && call.code.is_some() && row.code.is_some() {
                call.more.push(row);
            } else {
                call.take_code(row.address, row.code);
            }
        }
    }

    fn print(&mut self, row: &PrintedRow) {
        if row.has_error() || self.is_wanted(row) {
            row.lines().iter().for_each(|line| self.pages.row(line));
        }
    }

    fn is_wanted(&self, row: &PrintedRow) -> bool {
        if !self.options.list || (row.control && !self.options.controls) {
            return false;
        }
        // The row of a call begins outside of the macro text, and that of its last bracket ends
        // outside.
        let in_macro = row.depth.min(self.depth) > 0;
        match self.options.macros {
            _ if !in_macro => true,
            ListedMacros::All => true,
            ListedMacros::Code => row.code.is_some(),
            ListedMacros::None => false,
        }
    }
}
