//! The original's layout, TDL Z80 assembler 2.21: pages of 66 lines, error letters, `.XALL` and its kin, symbol table.
//!
//! Columns: 0 error letters, 3 address and what it moves with, 11 code, 23 `+` in macro text or `@` in an inserted
//! file, 24 source. Values move with `'` `.PROG.`, `*` `.DATA.`, `:nn` relocation base nn.

use std::fmt::Write;

use crate::diag::Diagnostic;
use crate::isa::{Slot, decode};
use crate::module::{Binding, Module, SectionKind, Symbol, SymbolValue};
use crate::source::{Origin, SourceMap};
use crate::syntax::lex::RADIX40;

use super::rows::{Layout, Row, Wishes, end_row, pad, push_hex, push_word, walk};
use super::{Control, Listed, Listing, ListingLine, Macros};

/// Lines of a page, and how many of them carry the listing.
const PAGE: (usize, usize) = (66, 56);
const WIDTH: usize = 79;
const CODE: usize = 11;
const MARKER: usize = 23;
const SOURCE: usize = 24;
/// Bytes and words on a line.
const BYTES_A_LINE: usize = 6;
const WORDS_A_LINE: usize = 2;

pub(super) fn render(
    listing: &Listing,
    sources: &SourceMap,
    diagnostics: &[Diagnostic],
    modules: &[Module],
) -> String {
    let mut complaints: Vec<Complaint> = diagnostics.iter().filter_map(Complaint::new).collect();
    complaints.sort_unstable_by_key(|one| one.start);
    let count = complaints.len();
    let mut layout = Tdl { complaints, items: Vec::new(), depth: 0 };
    let wishes = walk(listing, sources, &mut layout);
    layout.close_macros(0);
    if wishes.symbols {
        layout.symbols(modules);
    }
    if count > 0 {
        layout.plain(format!("{count} ERRORS WERE DETECTED *****"));
    }
    paginate(&layout.items)
}

/// A message, as the layout shows it.
struct Complaint {
    start: u32,
    end: u32,
    letter: char,
}

impl Complaint {
    fn new(found: &Diagnostic) -> Option<Self> {
        let letter = found.code.letter()?;
        Some(Self { start: found.span.start, end: found.span.end, letter })
    }
}

/// What the pages are made of.
enum Item {
    Row {
        left: String,
        text: String,
    },
    /// A line of its own, from the left edge.
    Plain(String),
    Control(Control),
}

struct Tdl {
    complaints: Vec<Complaint>,
    items: Vec<Item>,
    /// How many macro texts are open in the rows so far.
    depth: u32,
}

impl Layout for Tdl {
    fn row(&mut self, row: &Row<'_>, wishes: &Wishes) {
        let Some(line) = &row.line else {
            let text = String::from_utf8_lossy(row.text()).into_owned();
            return self.push(String::new(), text);
        };
        let complaints = self.complaints_of(line);
        let quiet = line.bytes.is_empty() && complaints.is_empty();
        let unwanted = row.is_macro() && wishes.macros == Macros::None && complaints.is_empty();
        if unwanted || (quiet && makes_no_row(row, line, wishes)) {
            return;
        }
        let text = marked_text(row, &complaints);
        let mut codes = code_rows(line, wishes).into_iter();
        let left = left(line, row, &complaints, &codes.next().unwrap_or_default());
        self.close_macros(line.depth);
        self.open_macro(line.depth, left, text);
        if wishes.image {
            for code in codes {
                self.push(format!("{:CODE$}{code}", ""), String::new());
            }
        }
    }

    fn control(&mut self, control: &Control) {
        self.items.push(Item::Control(control.clone()));
    }
}

impl Tdl {
    fn push(&mut self, left: String, text: String) {
        self.items.push(Item::Row { left, text });
    }

    fn plain(&mut self, text: String) {
        self.items.push(Item::Plain(text));
    }

    /// The letters and places of the messages about a statement.
    fn complaints_of(&self, line: &ListingLine<'_>) -> Vec<(char, u32)> {
        let first = self.complaints.partition_point(|one| one.start < line.span.start);
        let within = self.complaints[first..].iter().take_while(|one| one.start < line.span.end);
        within.map(|one| (one.letter, one.end)).collect()
    }

    /// Puts a row; the first of a macro text goes behind its call, with a bracket between.
    fn open_macro(&mut self, depth: u32, left: String, text: String) {
        let opens = depth > self.depth;
        self.depth = depth;
        match self.items.last_mut() {
            Some(Item::Row { text: call, .. }) if opens => call.push('['),
            _ => {}
        }
        // A body that begins on its own line begins with an empty one.
        if !(opens && text.is_empty() && left.trim() == "+") {
            self.push(left, text);
        }
    }

    /// Puts the brackets behind macro texts that have ended.
    fn close_macros(&mut self, depth: u32) {
        if let (Some(Item::Row { text, .. }), true) = (self.items.last_mut(), depth < self.depth) {
            text.extend(std::iter::repeat_n(']', (self.depth - depth) as usize));
            self.depth = depth;
        }
    }

    /// The table of symbols, three a line, in the order of the 40-character set.
    fn symbols(&mut self, modules: &[Module]) {
        let mut symbols: Vec<&Symbol> =
            modules.iter().flat_map(|module| module.symbols.iter()).collect();
        symbols.sort_by_key(|symbol| radix40_order(&symbol.name));
        if symbols.is_empty() {
            return;
        }
        self.plain(String::new());
        self.plain("+++++ SYMBOL TABLE +++++".into());
        self.plain(String::new());
        for three in symbols.chunks(3) {
            let row: Vec<String> = three.iter().map(|symbol| symbol_entry(symbol)).collect();
            self.plain(row.join("    "));
        }
        self.plain(String::new());
    }
}

fn radix40_order(name: &str) -> Vec<u8> {
    name.bytes().map(|byte| RADIX40[usize::from(byte)]).collect()
}

/// Name, value, what it moves with, class.
fn symbol_entry(symbol: &Symbol) -> String {
    let (value, base) = match symbol.value {
        SymbolValue::Undefined => (0, 0),
        SymbolValue::Common { size } => (size, 0),
        SymbolValue::Absolute(value) => (value, 0),
        SymbolValue::InSection(kind, value) => (value, base_of(kind)),
    };
    let class = match (symbol.value, symbol.binding) {
        (SymbolValue::Undefined | SymbolValue::Common { .. }, _) => 'X',
        (_, Binding::Global) => 'I',
        (_, Binding::Entry) => 'E',
        (_, Binding::Local) => ' ',
    };
    format!("{:<6} {value:04X}{:<3} {class}", symbol.name, flag(base))
}

fn base_of(kind: SectionKind) -> u32 {
    match kind {
        SectionKind::Absolute => 0,
        SectionKind::Prog => 1,
        SectionKind::Data => 2,
        SectionKind::Blank => 3,
    }
}

/// What stands behind a value that moves.
fn flag(base: u32) -> String {
    match base {
        0 => String::new(),
        1 => "'".into(),
        2 => "*".into(),
        other => format!(":{other:02X}"),
    }
}

/// Error letters, address, code and marker: the columns before the source.
fn left(line: &ListingLine<'_>, row: &Row<'_>, complaints: &[(char, u32)], code: &str) -> String {
    let mut left: String = complaints.iter().take(2).map(|(letter, _)| *letter).collect();
    pad(&mut left, 3);
    let address = line.value.or((line.labelled || !line.bytes.is_empty()).then_some(line.address));
    if let Some(Listed { number, base }) = address {
        push_word(&mut left, number);
        left.push_str(&flag(base));
    }
    pad(&mut left, CODE);
    left.push_str(code);
    pad(&mut left, MARKER);
    match row.source.origin {
        Origin::Macro(_) => left.push('+'),
        Origin::Insert(_) => left.push('@'),
        Origin::File => {}
    }
    left
}

/// A row's text, with a `?` behind each place that a message is about.
fn marked_text(row: &Row<'_>, complaints: &[(char, u32)]) -> String {
    let bytes = row.text();
    let start = row.source.base + row.source.line_start(row.number);
    let mut places: Vec<usize> = complaints
        .iter()
        .filter_map(|(_, end)| end.checked_sub(start).map(|at| at as usize))
        .filter(|at| *at <= bytes.len())
        .collect();
    places.sort_unstable();
    places.dedup();
    let mut text = bytes.to_vec();
    for place in places.into_iter().rev() {
        text.insert(place, b'?');
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The code of a statement, cut into the rows that it takes.
fn code_rows(line: &ListingLine<'_>, wishes: &Wishes) -> Vec<String> {
    if line.words {
        return chunks(line, 0, 2 * WORDS_A_LINE, |at| word(line, at, wishes));
    }
    let operand = decode(line.bytes)
        .filter(|found| line.clocks.is_some() && found.form.slots.contains(&Slot::Word));
    if operand.is_some() {
        let opcode = line.bytes.len() - 2;
        return vec![format!("{} {}", digits(&line.bytes[..opcode]), word(line, opcode, wishes))];
    }
    line.bytes.chunks(BYTES_A_LINE).map(digits).collect()
}

/// Words, some a row, blanks between them.
fn chunks(
    line: &ListingLine<'_>,
    from: usize,
    step: usize,
    word: impl Fn(usize) -> String,
) -> Vec<String> {
    let row = |start: usize| {
        let end = (start + step).min(line.bytes.len());
        let words: Vec<String> = (start..end.saturating_sub(1)).step_by(2).map(&word).collect();
        words.join(" ")
    };
    (from..line.bytes.len()).step_by(step).map(row).collect()
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

/// Whether a statement without bytes and messages is left out.
fn makes_no_row(row: &Row<'_>, line: &ListingLine<'_>, wishes: &Wishes) -> bool {
    let in_macro = row.is_macro() && wishes.macros == Macros::Code;
    in_macro || row.number == 0 || (line.control && !wishes.controls)
}

/// What stands at the head of the pages, and how far the present one is.
#[derive(Default)]
struct Pages {
    text: String,
    ident: String,
    title: String,
    subtitle: String,
    number: usize,
    /// Lines of the listing on this page; a page begins with its first line.
    used: Option<usize>,
}

fn paginate(items: &[Item]) -> String {
    let mut pages = Pages { ident: ".MAIN.".into(), ..Pages::default() };
    for item in items {
        match item {
            Item::Control(Control::Title(text)) => pages.title.clone_from(text),
            Item::Control(Control::Subtitle(text)) => pages.subtitle.clone_from(text),
            Item::Control(Control::Ident(text)) => pages.ident.clone_from(text),
            Item::Control(_) => pages.end(),
            Item::Plain(text) => pages.line(text),
            Item::Row { left, text } => pages.row(left, text),
        }
    }
    pages.end();
    pages.text
}

impl Pages {
    /// A row; what passes the width goes on below, in the source column.
    fn row(&mut self, left: &str, text: &str) {
        let text = expand_tabs(text);
        let letters: Vec<char> = text.chars().collect();
        let mut parts = letters.chunks(WIDTH - SOURCE);
        let first: String = parts.next().unwrap_or_default().iter().collect();
        self.line(&format!("{left:<SOURCE$}{first}"));
        for part in parts {
            let part: String = part.iter().collect();
            self.line(&format!("{:SOURCE$}{part}", ""));
        }
    }

    fn line(&mut self, text: &str) {
        if self.used.is_none() {
            self.head();
        }
        self.text.push_str(text);
        end_row(&mut self.text);
        self.used = self.used.map(|used| used + 1);
        if self.used == Some(PAGE.1) {
            self.end();
        }
    }

    fn head(&mut self) {
        self.number += 1;
        let name = concat!("TDLASM Z80 ASSEMBLER VERSION ", env!("CARGO_PKG_VERSION"));
        let _ = writeln!(self.text, "\n\n\n{name:<64}PAGE {}", self.number);
        let _ = write!(self.text, "{:<6} - {}", self.ident, self.title);
        end_row(&mut self.text);
        let _ = writeln!(self.text, "{}\n", self.subtitle);
        self.used = Some(0);
    }

    /// Fills the page up.
    fn end(&mut self) {
        if let Some(used) = self.used.take() {
            let rest = PAGE.0 - PAGE.1 - 7 + (PAGE.1 - used);
            self.text.extend(std::iter::repeat_n('\n', rest));
        }
    }
}

/// Tabs as blanks up to the next column that is a multiple of eight, as on paper.
fn expand_tabs(text: &str) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut column = 0;
    for letter in text.chars() {
        let count = if letter == '\t' { 8 - column % 8 } else { 1 };
        expanded.extend(std::iter::repeat_n(if letter == '\t' { ' ' } else { letter }, count));
        column += count;
    }
    expanded
}
